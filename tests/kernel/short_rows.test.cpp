// SPDX-License-Identifier: Apache-2.0
//
// Rows that do not fill packs take paths of their own: several at once where they lie one behind another, last elements
// twice where nothing is overwritten. None of them changes a bit or touches anything else, which the heap buffers of exact
// size and AddressSanitizer prove.

#include "harness.hpp"

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

using namespace kernel_test;

namespace {

using enum twill::kernel::Primitive;

/// tanh(x * (1 + row)) + row_scalar + index, and the same halved.
using Rows = Program<Along<float>, Along<float>, Shared<float>, Iota, Immediate<float>, Step<add, 1, 4>,
                     Step<multiply, 0, 5>, Step<tanh, 6>, Step<add, 7, 2>, Cast<float, 3>, Step<add, 8, 9>,
                     Out<float, 10>, Step<multiply, 10, 4>, Out<float, 12>>;

struct Case {
  std::int64_t rows;
  std::int64_t n;
  std::int64_t repeated_row;  ///< the stride of operand 1 from row to row: 0, or n
  std::int64_t scalar_stride; ///< of operand 2: 0, or 1
  std::int64_t gap;           ///< between the rows of the first output
};

std::vector<float> random_values(std::int64_t count, std::uint32_t seed) {
  std::mt19937 random{seed};
  std::uniform_real_distribution<float> real{-2, 2};
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = real(random);
  return values;
}

/// Both outputs, one behind the other, all rows in one call or each in its own.
std::vector<float> run_case(const Case& c, bool each_row_alone) {
  auto x = random_values(c.rows * c.n, 1);
  auto row = random_values(c.repeated_row == 0 ? c.n : c.rows * c.n, 2);
  auto scalar = random_values(c.scalar_stride == 0 ? 1 : c.rows, 3);
  const std::int64_t first_elements = (c.rows - 1) * (c.n + c.gap) + c.n;
  std::vector<float> first(static_cast<std::size_t>(first_elements), -77.0F);
  std::vector<float> second(static_cast<std::size_t>(c.rows * c.n), -77.0F);
  const std::uint64_t half = __builtin_bit_cast(std::uint32_t, 0.5F);
  const auto operands = [&](std::int64_t r) {
    return std::vector<Operand>{{x.data() + r * c.n, 0, {c.n, 1}},
                                {row.data() + r * c.repeated_row, 0, {c.repeated_row, 1}},
                                {scalar.data() + r * c.scalar_stride, 0, {c.scalar_stride, 0}},
                                {nullptr, static_cast<std::uint64_t>(100 + r * c.n), {c.n, 1}},
                                {nullptr, half, {}},
                                {first.data() + r * (c.n + c.gap), 0, {c.n + c.gap, 1}},
                                {second.data() + r * c.n, 0, {c.n, 1}}};
  };
  if (each_row_alone)
    for (std::int64_t r = 0; r < c.rows; ++r) run(Rows{}, Threads{1}, Dims(1, c.n), operands(r).data());
  else
    run(Rows{}, Threads{1}, Dims(c.rows, c.n), operands(0).data());
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// y = x * 3 - z
using InPlace =
    Program<Along<float>, Along<float>, Immediate<float>, Step<multiply, 0, 2>, Step<subtract, 3, 1>, Out<float, 4>>;

} // namespace

TEST_CASE("many short rows give the bits of each row alone", "[kernel]") {
  for (const std::int64_t rows : {2, 3, 4, 7, 65, 300})
    for (const std::int64_t n : {1, 2, 7, 8, 9, 10, 15, 16, 17, 33, 100, 255, 256})
      for (const bool is_repeated : {true, false})
        for (const std::int64_t scalar_stride : {0, 1})
          for (const std::int64_t gap : {0, 3}) {
            const Case c{rows, n, is_repeated ? 0 : n, scalar_stride, gap};
            CAPTURE(rows, n, is_repeated, scalar_stride, gap);
            const bool is_same = run_case(c, false) == run_case(c, true); // thousands of numbers tell nothing
            CHECK(is_same);
          }
}

TEST_CASE("an output that lies over an input, or beside it, gets the bits of one that lies elsewhere", "[kernel]") {
  for (std::int64_t n = 1; n <= 100; ++n) {
    // operand 1 follows operand 0 directly, and so does an output behind both
    for (const std::int64_t at : {std::int64_t{0}, n, 2 * n}) {
      CAPTURE(n, at);
      auto values = random_values(3 * n, static_cast<std::uint32_t>(n));
      auto elsewhere = values;
      const std::uint64_t three = __builtin_bit_cast(std::uint32_t, 3.0F);
      std::vector<float> expected(static_cast<std::size_t>(n));
      const Operand apart[] = {
          {elsewhere.data(), 0, {1}}, {elsewhere.data() + n, 0, {1}}, {nullptr, three, {}}, {expected.data(), 0, {1}}};
      run(InPlace{}, Threads{1}, Dims(n), apart);
      const Operand over[] = {
          {values.data(), 0, {1}}, {values.data() + n, 0, {1}}, {nullptr, three, {}}, {values.data() + at, 0, {1}}};
      run(InPlace{}, Threads{1}, Dims(n), over);
      for (std::int64_t i = 0; i < 3 * n; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const bool is_output = i >= at && i < at + n;
        REQUIRE(values[k] == (is_output ? expected[static_cast<std::size_t>(i - at)] : elsewhere[k]));
      }
    }
  }
}
