// SPDX-License-Identifier: Apache-2.0
//
// Gathered leaves beside the reference: offsets that vary along the row or not, with every movement of the strides, at sizes
// around a pack. The memory holds exactly what may be read, so a sanitizer would see any lane beyond the end of a row.

#include "harness.hpp"

#include <catch2/catch.hpp>

using namespace kernel_test;

namespace {

using enum twill::kernel::Primitive;
using Offsets = Along<std::int64_t>;
using SharedOffset = Shared<std::int64_t>;

template <class T> using Varying = Program<Offsets, Gather<T, 0>, Out<T, 1>>;
template <class T>
using Scaled = Program<Offsets, Immediate<std::int64_t>, Step<multiply, 0, 1>, Gather<T, 2, Access::contiguous>,
                       Along<T>, Step<add, 3, 4>, Out<T, 5>>;
template <class T> using RowOf = Program<SharedOffset, Gather<T, 0, Access::contiguous>, Out<T, 1>>;
template <class T> using Both = Program<SharedOffset, Gather<T, 0>, Along<T>, Step<multiply, 1, 2>, Out<T, 3>>;
template <class T> using Apart1 = Program<Apart<std::int64_t>, Gather<T, 0, Access::strided>, Out<T, 1>>;
template <class T> using ApartRow = Program<SharedOffset, Gather<T, 0, Access::strided>, Out<T, 1>>;
using SoftmaxOfRow =
    Program<SharedOffset, Gather<float, 0, Access::contiguous>, Reduce<Reduction::max, 1>, Step<subtract, 1, 2>,
            Step<exp, 3>, Reduce<Reduction::sum, 4>, Step<divide, 4, 5>, Out<float, 6>>;
using SumOfGathered = Program<Offsets, Gather<float, 0>, Reduce<Reduction::sum, 1>, Out<float, 2>>;
using MaxOfGathered = Program<Offsets, Gather<float, 0>, Reduce<Reduction::max, 1>, Out<float, 2>>;
using ColumnSums = Program<SharedOffset, Gather<float, 0, Access::contiguous>, ReduceColumns<Reduction::sum, 1>,
                           Out<float, 2>, Out<float, 1>>;

/// Runs the program and the reference over a grid of rows. The gathered memory has `places` places in each direction that
/// the offsets choose, and as many elements behind each as the strides reach.
template <class P> bool equals_reference(std::int64_t rows, std::int64_t n, int threads = 1) {
  std::mt19937 random{static_cast<unsigned>(rows * 1000 + n)};
  constexpr std::int64_t places = 5;
  const auto& lines = summary_of<P>.lines;
  std::vector<Memory> memory;
  std::vector<Operand> operands;
  std::vector<std::size_t> outputs[2];
  Access access = Access::uniform;
  for (const Line& line : lines)
    if (line.kind == LineKind::gather) access = line.access;
  const std::int64_t step = access == Access::strided ? 2 : 1;
  const std::int64_t reach = access == Access::uniform ? 1 : n > 0 ? (n - 1) * step + 1 : 0;
  std::int64_t scale = reach;
  for (const Line& line : lines) {
    if (line.operand < 0) continue;
    Operand operand{};
    if (line.kind == LineKind::immediate) {
      operand.bits = static_cast<std::uint64_t>(reach);
      scale = 1; // the program scales the offsets itself
    } else if (line.kind == LineKind::gather) {
      memory.emplace_back(line.type, places * reach, random);
      operand.data = memory.back().data();
      operand.strides = {0, access == Access::uniform ? 0 : step};
    } else if (line.type == DType::int64 && line.kind == LineKind::input) {
      const bool varies = line.access != Access::uniform;
      const std::int64_t width = varies ? n * (line.access == Access::strided ? 3 : 1) : 1;
      memory.emplace_back(line.type, rows * width, random);
      operand.data = memory.back().data();
      operand.strides = {width, varies ? (line.access == Access::strided ? 3 : 1) : 0};
      auto* offsets = static_cast<std::int64_t*>(operand.data);
      for (std::int64_t i = 0; i < rows * width; ++i) offsets[i] = static_cast<std::int64_t>(random() % places);
    } else {
      const bool is_shared = (line.uniform && summary_of<P>.shape == KernelShape::row) || line.column;
      const bool is_total = line.column;
      memory.emplace_back(line.type, is_total ? n : is_shared ? rows : rows * n, random);
      operand.data = memory.back().data();
      operand.strides = {is_total ? 0 : is_shared ? 1 : n, is_shared && !is_total ? 0 : 1};
      if (line.kind == LineKind::output) outputs[0].push_back(memory.size() - 1);
    }
    operands.push_back(operand);
  }
  if (scale != 1)
    for (std::size_t o = 0; o < operands.size(); ++o)
      for (const Line& line : lines)
        if (line.operand == static_cast<int>(o) && line.kind == LineKind::input && line.type == DType::int64) {
          auto* offsets = static_cast<std::int64_t*>(operands[o].data);
          const std::int64_t count = rows * operands[o].strides[0];
          for (std::int64_t i = 0; i < count; ++i) offsets[i] *= scale;
        }
  const Grid grid = Dims(rows, n);
  run(P{}, Threads{threads}, grid, operands.data());
  std::vector<std::vector<std::byte>> ours;
  for (const std::size_t o : outputs[0]) ours.emplace_back(memory[o].data(), memory[o].data() + memory[o].bytes());
  reference::run(P{}, grid, operands.data());
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const Memory& theirs = memory[outputs[0][k]];
    for (std::size_t b = 0; b < theirs.bytes(); b += 4) {
      if (std::memcmp(ours[k].data() + b, theirs.data() + b, std::min<std::size_t>(4, theirs.bytes() - b)) == 0)
        continue;
      if (summary_of<P>.reductions == 0) return false;
      const double mine = as_double(DType::float32, ours[k].data() + b);
      const double expected = as_double(DType::float32, theirs.data() + b);
      if (!(std::abs(mine - expected) <= 1e-5 * std::max(1.0, std::abs(expected)))) return false;
    }
  }
  return true;
}

const std::int64_t sizes[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 65, 127, 1009};

} // namespace

TEMPLATE_TEST_CASE("elements are read at offsets that vary along the row", "[kernel]", bool, std::uint8_t, std::int64_t,
                   half, float, double) {
  for (const std::int64_t n : sizes) {
    CAPTURE(n);
    CHECK(equals_reference<Varying<TestType>>(1, n));
    CHECK(equals_reference<Varying<TestType>>(3, n, 2));
    CHECK(equals_reference<RowOf<TestType>>(3, n));
  }
}

TEST_CASE("gathered rows move along or stay, contiguous or apart", "[kernel]") {
  for (const std::int64_t n : sizes)
    for (const std::int64_t rows : {1, 4}) {
      CAPTURE(n, rows);
      CHECK(equals_reference<Scaled<float>>(rows, n));
      CHECK(equals_reference<Both<double>>(rows, n));
      CHECK(equals_reference<Apart1<float>>(rows, n));
      CHECK(equals_reference<ApartRow<float>>(rows, n));
    }
}

TEST_CASE("gathered elements are reduced in the same pass", "[kernel]") {
  for (const std::int64_t n : sizes)
    for (const std::int64_t rows : {1, 5}) {
      CAPTURE(n, rows);
      CHECK(equals_reference<SoftmaxOfRow>(rows, n));
      CHECK(equals_reference<SumOfGathered>(rows, n));
      CHECK(equals_reference<ColumnSums>(rows, n));
    }
  CHECK(equals_reference<MaxOfGathered>(1, 400003, 3));
}

TEST_CASE("a gathered line takes an int64 value and prints", "[kernel]") {
  static_assert(describe(Program<Along<float>, Gather<float, 0>, Out<float, 1>>{}).fault == 1);
  static_assert(describe(RowOf<float>{}).fault < 0);
  static_assert(summary_of<Both<float>>.lines[1].uniform && !summary_of<RowOf<float>>.lines[1].uniform);
}
