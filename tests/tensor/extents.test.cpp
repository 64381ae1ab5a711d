// SPDX-License-Identifier: Apache-2.0
//
// Extents that no memory can have: whatever makes a tensor refuses them and names the shape, before anything is written.

#include <tests/support/message_of.hpp>

#include <twill/core/shape.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/tensor/borrowed.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/tensor.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

constexpr std::int64_t large = std::int64_t{1} << 62;

/// Extents around the powers of two at which products overflow.
std::int64_t drawn_extent(std::mt19937_64& random) {
  const auto power = static_cast<int>(random() % 64);
  const auto near = static_cast<std::int64_t>(random() % 3) - 1;
  return power == 63 ? -near - 1 : (std::int64_t{1} << power) - 1 + near;
}

/// The bytes in wide arithmetic, -1 where they are none.
std::int64_t bytes_by_hand(const Dims& dims, std::size_t element_bytes) {
  __extension__ using Wide = __int128;
  Wide bytes = static_cast<Wide>(element_bytes);
  bool is_empty = false;
  for (int axis = 0; axis < dims.rank; ++axis) {
    if (dims[axis] < 0) return -1;
    is_empty = is_empty || dims[axis] == 0;
    if (dims[axis] > 0) bytes *= dims[axis];
    if (bytes > INT64_MAX) return -1;
  }
  return is_empty ? 0 : static_cast<std::int64_t>(bytes);
}

} // namespace

TEST_CASE("the bytes of a shape are counted in 64 bits or not at all", "[tensor]") {
  std::mt19937_64 random{11};
  int counted = 0;
  for (int i = 0; i < 20'000; ++i) {
    Dims dims{};
    dims.rank = 1 + static_cast<int>(random() % 4);
    for (int axis = 0; axis < dims.rank; ++axis) dims[axis] = drawn_extent(random);
    const std::size_t element_bytes = std::size_t{1} << random() % 4;
    INFO(to_string(dims) << " of " << element_bytes << " bytes");
    const std::int64_t bytes = bytes_by_hand(dims, element_bytes);
    REQUIRE(counted_bytes(dims, element_bytes) == bytes);
    counted += bytes > 0;
  }
  CHECK(counted > 1000);
}

TEST_CASE("a tensor of more bytes than 64 bits can count is refused on every path", "[tensor]") {
  const auto before = memory_allocated(Cpu{0});
  CHECK(message_of([] { static_cast<void>(zeros<float, Shape<dyn, 4>>(Dims(large, 4), Cpu{0})); }) ==
        "tensor: shape (4611686018427387904, 4) with 4 bytes an element takes more bytes than 64 bits can count");
  CHECK_THROWS_AS((empty<float, Shape<dyn, dyn>>(Dims(large, 2), Cpu{0})), ShapeError);
  CHECK_THROWS_AS((full<double, Shape<dyn>>(Dims(large), 1.0, Cpu{0})), ShapeError);
  CHECK_THROWS_AS((ones<bool, Shape<dyn, dyn>>(Dims(large, 4), Cpu{0})), ShapeError);
  CHECK_THROWS_AS((empty<float, Shape<dyn, dyn, dyn>>(Dims(0, large, 4), Cpu{0})), ShapeError); // strides as well
  std::vector<float> some(8);
  CHECK_THROWS_AS((tensor_over<Shape<dyn, dyn>>(some.data(), Dims(large, 4), Cpu{0})), ShapeError);
  CHECK_THROWS_AS((from_values<Shape<dyn, dyn>>(std::vector<float>{}, Dims(large, 4), Cpu{0})), ShapeError);
  const auto row = arange(4.F).reshape<Shape<4>>();
  CHECK_THROWS_AS((row.expand<Shape<dyn, dyn, 4>>(Dims(large, 4, 4))), ShapeError);
  const auto none = empty<float, Shape<0>>(Cpu{0});
  CHECK_THROWS_AS((none.reshape<Shape<dyn, dyn>>(Dims(std::int64_t{1} << 32, std::int64_t{1} << 32))), ShapeError);
  CHECK(memory_allocated(Cpu{0}) == before + static_cast<std::int64_t>(512)); // the row's
}

TEST_CASE("a negative extent is refused by name", "[tensor]") {
  CHECK(message_of([] { static_cast<void>(zeros<float, Shape<3, dyn>>(Dims(3, -2), Cpu{0})); }) ==
        "tensor: shape (3, -2) has a negative extent at axis 1; extents are at least 0");
  const auto six = arange(6.F);
  CHECK_THROWS_AS((six.reshape<Shape<dyn, dyn>>(Dims(-2, -3))), ShapeError);
  std::vector<float> some(8);
  CHECK_THROWS_AS((tensor_over<Shape<dyn>>(some.data(), Dims(-8), Cpu{0})), ShapeError);
}
