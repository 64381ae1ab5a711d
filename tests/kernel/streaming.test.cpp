// SPDX-License-Identifier: Apache-2.0
//
// Which outputs bypass the caches: large ones that the program does not read as well. And whether they do or not, what is
// stored is right.

#include "harness.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cstddef>
#include <vector>

using namespace kernel_test;

namespace {

using enum twill::kernel::Primitive;
namespace detail = twill::kernel::vector_detail;

// y = a * x + z, which is an update in place where z is y
using Axpy =
    Program<Along<float>, Immediate<float>, Step<multiply, 0, 1>, Along<float>, Step<add, 2, 3>, Out<float, 4>>;
// p = p - g, m = g
using Two = Program<Along<float>, Along<float>, Step<subtract, 0, 1>, Out<float, 2>, Out<float, 1>>;
using Narrowed = Program<Along<double>, Cast<float, 0>, Out<float, 1>>;

constexpr std::int64_t few = detail::worth_streaming / 4 - 16;
constexpr std::int64_t many = detail::worth_streaming / 4;

template <class P, std::size_t Count>
bool streams(const Grid& grid, const std::array<Operand, Count>& bound, std::size_t output) {
  std::array<StoreMode, Count> mode{};
  const bool any = detail::choose_streams(table_of<P>, grid, bound.data(), mode.data());
  bool found = false;
  for (const StoreMode each : mode) found = found || each == StoreMode::stream;
  CHECK(any == found);
  return mode[output] == StoreMode::stream;
}

template <int Rank> Operand operand(void* data, const std::int64_t (&strides)[Rank]) {
  Operand made{.data = data};
  for (int axis = 0; axis < Rank; ++axis) made.strides[static_cast<std::size_t>(axis)] = strides[axis];
  return made;
}

// addresses only: nothing is read here
alignas(64) float x[64], y[64], z[64];

} // namespace

TEST_CASE("a large output that is not read bypasses the caches, a small one does not", "[kernel]") {
  const std::array bound{operand(x, {1}), Operand{}, operand(z, {1}), operand(y, {1})};
  CHECK(streams<Axpy>(Dims(many), bound, 3));
  CHECK_FALSE(streams<Axpy>(Dims(few), bound, 3));
}

TEST_CASE("an update in place does not bypass the caches", "[kernel]") {
  const std::array bound{operand(x, {1}), Operand{}, operand(y, {1}), operand(y, {1})};
  CHECK_FALSE(streams<Axpy>(Dims(many), bound, 3));
  CHECK_FALSE(streams<Axpy>(Dims(10 * many), bound, 3));
  const std::array rows{operand(x, {0, 1}), Operand{}, operand(y, {2048, 1}), operand(y, {2048, 1})};
  CHECK_FALSE(streams<Axpy>(Dims(many / 1024, 1024), rows, 3));
}

TEST_CASE("outputs of one program are decided one by one", "[kernel]") {
  const std::array bound{operand(x, {1}), operand(y, {1}), operand(x, {1}), operand(z, {1})};
  CHECK_FALSE(streams<Two>(Dims(many), bound, 2));
  CHECK(streams<Two>(Dims(many), bound, 3));
}

TEST_CASE("what begins where the output does, but is walked otherwise, is no update", "[kernel]") {
  const std::array row{operand(x, {1024, 1}), Operand{}, operand(y, {0, 1}), operand(y, {1024, 1})};
  CHECK(streams<Axpy>(Dims(many / 1024, 1024), row, 3));
  const std::array wider{operand(y, {1}), operand(y, {1})};
  CHECK(streams<Narrowed>(Dims(many), wider, 1));
  // the stride of an axis of one element says nothing
  const std::array single{operand(x, {7, 1}), Operand{}, operand(y, {0, 1}), operand(y, {1024, 1})};
  CHECK_FALSE(streams<Axpy>(Dims(1, many), single, 3));
}

TEST_CASE("updates in place and new outputs have the same elements at sizes that no cache keeps", "[kernel]") {
  const std::int64_t n = many + 37;
  const auto size = static_cast<std::size_t>(n);
  std::vector<float> from(size), updated(size), made(size + 16);
  for (std::size_t i = 0; i < size; ++i) {
    from[i] = static_cast<float>(i % 1009) - 504.F;
    updated[i] = static_cast<float>(i % 251);
  }
  const std::vector<float> before = updated;
  Operand factor{};
  const float a = 0.5F;
  std::memcpy(&factor.bits, &a, sizeof(a));
  for (const int threads : {1, 3}) {
    updated = before;
    const std::array in_place{operand(from.data(), {1}), factor, operand(updated.data(), {1}),
                              operand(updated.data(), {1})};
    run(Axpy{}, Threads{threads}, Dims(n), in_place.data());
    for (const std::size_t offset : {std::size_t{0}, std::size_t{3}}) {
      const std::array apart{operand(from.data(), {1}), factor, operand(const_cast<float*>(before.data()), {1}),
                             operand(made.data() + offset, {1})};
      run(Axpy{}, Threads{threads}, Dims(n), apart.data());
      bool same = true;
      for (std::size_t i = 0; i < size; ++i) {
        same = same && made[offset + i] == updated[i];
        same = same && updated[i] == 0.5F * from[i] + before[i];
      }
      CHECK(same);
    }
  }
}
