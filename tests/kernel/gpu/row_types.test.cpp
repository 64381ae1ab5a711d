// SPDX-License-Identifier: Apache-2.0
//
// Reductions along rows on a GPU: every kind over every element type, and what propagates through them.

#include <tests/kernel/gpu/row_queue.hpp>

using namespace kernel_test;

namespace {

template <class T, Reduction R> using Reduced = Program<Along<T>, Reduce<R, 0>, Out<T, 1>>;

template <class T, Reduction R> double worst() {
  double result = 0;
  unsigned seed = 1;
  for (const std::int64_t length : {0, 1, 2, 31, 33, 128, 1001, 4096, 20'000})
    for (const std::int64_t rows : {1, 37}) {
      if (rows * length > 40'000) continue;
      result = std::max(result, row_difference<Reduced<T, R>>(Dims(rows, length), {}, ++seed));
    }
  return result;
}

template <class T> void check_order() {
  CHECK(worst<T, Reduction::max>() == 0);
  CHECK(worst<T, Reduction::min>() == 0);
  CHECK(worst<T, Reduction::any>() == 0);
  CHECK(worst<T, Reduction::all>() == 0);
}
template <class T> void check_sums(double tolerance) {
  CHECK(worst<T, Reduction::sum>() <= tolerance);
  CHECK(worst<T, Reduction::product>() <= tolerance);
}

template <class T> T reduced(Reduction reduction, const std::vector<T>& values) {
  T result{};
  Operand operands[2];
  operands[0].data = const_cast<T*>(values.data());
  operands[0].strides = {1};
  operands[1].data = &result;
  const Grid grid{static_cast<std::int64_t>(values.size())};
  if (reduction == Reduction::max)
    run_rows_on<Reduced<T, Reduction::max>>(RowQueue{}, grid, operands);
  else if (reduction == Reduction::min)
    run_rows_on<Reduced<T, Reduction::min>>(RowQueue{}, grid, operands);
  else
    run_rows_on<Reduced<T, Reduction::sum>>(RowQueue{}, grid, operands);
  return result;
}

} // namespace

TEST_CASE("rows of integers and truth values are reduced exactly on a GPU", "[kernel][gpu]") {
  check_order<bool>();
  check_sums<bool>(0);
  check_order<std::uint8_t>();
  check_sums<std::uint8_t>(0);
  check_order<std::int32_t>();
  check_sums<std::int32_t>(0);
  check_order<std::int64_t>();
  check_sums<std::int64_t>(0);
}

TEST_CASE("rows of floating types are reduced on a GPU", "[kernel][gpu]") {
  check_order<half>();
  check_sums<half>(2e-3); // rounded to 11 bits once, on either side of a tie
  check_order<bfloat16>();
  check_sums<bfloat16>(1e-2);
  check_order<float>();
  check_sums<float>(1e-4);
  check_order<double>();
  check_sums<double>(1e-12);
}

TEST_CASE("a NaN anywhere in a row reaches maxima, minima and sums on a GPU", "[kernel][gpu]") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::size_t length : {1U, 7U, 64U, 1001U, 20'000U})
    for (const std::size_t place : {std::size_t{0}, length / 2, length - 1}) {
      std::vector<float> values(length, 1.0F);
      values[place] = nan;
      CAPTURE(length, place);
      CHECK(std::isnan(reduced(Reduction::max, values)));
      CHECK(std::isnan(reduced(Reduction::min, values)));
      CHECK(std::isnan(reduced(Reduction::sum, values)));
    }
}

TEST_CASE("infinities are maxima and minima like other numbers on a GPU", "[kernel][gpu]") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> low(100, -infinity), high(100, infinity);
  CHECK(reduced(Reduction::max, low) == -infinity);
  CHECK(reduced(Reduction::min, high) == infinity);
  CHECK(reduced(Reduction::max, std::vector<float>{}) == -infinity);
  CHECK(reduced(Reduction::min, std::vector<std::int32_t>{}) == std::numeric_limits<std::int32_t>::max());
}
