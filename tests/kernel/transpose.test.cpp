// SPDX-License-Identifier: Apache-2.0
//
// Copies between orders of axes, in tiles: every element arrives, nothing else is written, for all element types, any rank,
// sizes around a tile, gaps and offsets on both sides, one thread and several.

#include "harness.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

using namespace kernel_test;

namespace {

template <class T> using Copy = Program<Along<T>, Out<T, 0>>;
template <class T> using Strided = Program<Apart<T>, Out<T, 0>>;

/// One side of a copy: how a grid lies in memory, in elements.
struct Side {
  std::array<std::int64_t, 6> strides{};
  std::int64_t offset = 0;
  std::int64_t elements = 0;
};

/// Axes of these extents in an order of memory, the last of which lies side by side, with gaps behind some rows.
Side side(const Dims& extents, const std::vector<int>& order, std::int64_t gap, std::int64_t offset) {
  Side made{.offset = offset};
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    made.strides[static_cast<std::size_t>(order[i])] = stride;
    stride = stride * extents[order[i]] + gap;
  }
  made.elements = stride + offset;
  return made;
}

template <class T> std::vector<unsigned char> random_bytes(std::int64_t elements, std::mt19937& random) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(elements) * sizeof(T));
  // one bit of a truth value, any pattern that is a number of the others
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(std::is_same_v<T, bool> ? random() % 2 : random() % 112);
  return bytes;
}

/// Whether a copy over the extents leaves in the destination what a loop over all indices leaves there.
template <class P, class T>
bool is_right(const Dims& extents, const Side& from, const Side& to, int threads, std::mt19937& random) {
  const std::vector<unsigned char> source = random_bytes<T>(from.elements, random);
  std::vector<unsigned char> expected = random_bytes<T>(to.elements, random);
  std::vector<unsigned char> found = expected;
  Operand operands[2]{};
  operands[0].data = const_cast<unsigned char*>(source.data()) + static_cast<std::size_t>(from.offset) * sizeof(T);
  operands[1].data = found.data() + static_cast<std::size_t>(to.offset) * sizeof(T);
  for (int axis = 0; axis < extents.rank; ++axis) {
    operands[0].strides[static_cast<std::size_t>(axis)] = from.strides[static_cast<std::size_t>(axis)];
    operands[1].strides[static_cast<std::size_t>(axis)] = to.strides[static_cast<std::size_t>(axis)];
  }
  run(P{}, Threads{threads}, extents, operands);
  for (std::int64_t number = 0; number < extents.elements(); ++number) {
    std::int64_t rest = number;
    std::int64_t read = from.offset;
    std::int64_t written = to.offset;
    for (int axis = extents.rank - 1; axis >= 0; --axis) {
      const std::int64_t index = rest % extents[axis];
      rest /= extents[axis];
      read += index * from.strides[static_cast<std::size_t>(axis)];
      written += index * to.strides[static_cast<std::size_t>(axis)];
    }
    std::memcpy(expected.data() + static_cast<std::size_t>(written) * sizeof(T),
                source.data() + static_cast<std::size_t>(read) * sizeof(T), sizeof(T));
  }
  return found == expected;
}

template <class P> bool goes_in_tiles(const Dims& extents, const Side& from, const Side& to) {
  std::vector<std::int64_t> source(static_cast<std::size_t>(from.elements)),
      target(static_cast<std::size_t>(to.elements));
  Operand operands[2]{};
  operands[0].data = source.data() + from.offset;
  operands[1].data = target.data() + to.offset;
  for (int axis = 0; axis < extents.rank; ++axis) {
    operands[0].strides[static_cast<std::size_t>(axis)] = from.strides[static_cast<std::size_t>(axis)];
    operands[1].strides[static_cast<std::size_t>(axis)] = to.strides[static_cast<std::size_t>(axis)];
  }
  return table_of<P>.transposed(table_of<P>, AnyTeam{}, extents, operands);
}

template <class T> void check_matrices() {
  std::mt19937 random{7};
  for (const std::int64_t m : {1, 2, 7, 8, 15, 16, 17, 31, 64, 67, 131})
    for (const std::int64_t n : {1, 3, 8, 16, 19, 33, 64, 97, 257}) {
      const Dims extents(m, n);
      for (const std::int64_t gap : {0, 5}) {
        INFO(m << " x " << n << ", gap " << gap);
        const Side rows = side(extents, {0, 1}, gap, 3);
        const Side columns = side(extents, {1, 0}, 0, 1);
        CHECK(is_right<Copy<T>, T>(extents, columns, rows, 1, random));
        CHECK(is_right<Strided<T>, T>(extents, rows, columns, 1, random));
      }
    }
  // enough for a team to share, and rows that a block does not divide
  const Dims large(1031, 523);
  CHECK(is_right<Copy<T>, T>(large, side(large, {1, 0}, 0, 1), side(large, {0, 1}, 2, 0), 3, random));
}

template <class T> void check_permutations() {
  std::mt19937 random{11};
  for (int rank = 2; rank <= 5; ++rank) {
    for (int trial = 0; trial < 40; ++trial) {
      Dims extents{};
      extents.rank = rank;
      for (int axis = 0; axis < rank; ++axis) extents[axis] = static_cast<std::int64_t>(1 + random() % 5);
      for (int large = 0; large < 2; ++large)
        extents[static_cast<int>(random() % static_cast<unsigned>(rank))] =
            static_cast<std::int64_t>(8 + random() % 50);
      std::vector<int> from(static_cast<std::size_t>(rank));
      std::iota(from.begin(), from.end(), 0);
      std::vector<int> to = from;
      std::shuffle(from.begin(), from.end(), random);
      std::shuffle(to.begin(), to.end(), random);
      INFO("rank " << rank << ", trial " << trial);
      CHECK(is_right<Copy<T>, T>(extents, side(extents, from, trial % 3, trial % 5), side(extents, to, trial % 2, 0),
                                 1 + trial % 2, random));
    }
  }
}

} // namespace

TEMPLATE_TEST_CASE("a transposed copy has every element in its place", "[kernel]", bool, std::uint8_t, std::int32_t,
                   std::int64_t, half, bfloat16, float, double) {
  check_matrices<TestType>();
}

TEMPLATE_TEST_CASE("a copy between any two orders of axes has every element in its place", "[kernel]", bool,
                   std::uint8_t, std::int32_t, std::int64_t, half, bfloat16, float, double) {
  check_permutations<TestType>();
}

TEST_CASE("a transposed copy that no cache keeps is right where rows are aligned and where they are not", "[kernel]") {
  std::mt19937 random{13};
  for (const std::int64_t width : {1536, 1523}) {
    const Dims extents(1600, width);
    CHECK(is_right<Copy<float>, float>(extents, side(extents, {1, 0}, 0, 0), side(extents, {0, 1}, 0, 0), 2, random));
    CHECK(is_right<Copy<double>, double>(extents, side(extents, {1, 0}, 0, 1), side(extents, {0, 1}, 0, 1), 1, random));
  }
}

TEST_CASE("copies go in tiles where both sides lie side by side along different, long axes", "[kernel]") {
  const Dims square(64, 64);
  const Side rows = side(square, {0, 1}, 0, 0);
  const Side columns = side(square, {1, 0}, 0, 0);
  CHECK(goes_in_tiles<Copy<float>>(square, columns, rows));
  CHECK(goes_in_tiles<Strided<double>>(square, rows, columns));
  CHECK_FALSE(goes_in_tiles<Copy<float>>(square, rows, rows));
  CHECK_FALSE(goes_in_tiles<Copy<float>>(square, columns, columns));
  const Dims narrow(1, 64);
  CHECK_FALSE(goes_in_tiles<Copy<float>>(narrow, side(narrow, {1, 0}, 0, 0), side(narrow, {0, 1}, 0, 0)));
  // windows over one row overlap, and the rows of the destination are read side by side
  Side windows = columns;
  windows.strides = {1, 1};
  CHECK_FALSE(goes_in_tiles<Copy<float>>(square, windows, rows));
  Side every_second = columns;
  every_second.strides = {2, 64};
  CHECK_FALSE(goes_in_tiles<Copy<float>>(square, every_second, rows));
}

TEST_CASE("only programs that copy elements as they are go in tiles", "[kernel]") {
  using Converted = Program<Along<float>, Cast<double, 0>, Out<double, 1>>;
  using Negated = Program<Along<float>, Step<Primitive::negate, 0>, Out<float, 1>>;
  using Repeated = Program<Shared<float>, Out<float, 0>>;
  CHECK(table_of<Copy<float>>.transposed != nullptr);
  CHECK(table_of<Converted>.transposed == nullptr);
  CHECK(table_of<Negated>.transposed == nullptr);
  CHECK(table_of<Repeated>.transposed == nullptr);
}
