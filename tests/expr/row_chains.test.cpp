// SPDX-License-Identifier: Apache-2.0
//
// Formulas nobody has a name for, written as plain expressions: each is one kernel, which brings every element of a row from
// memory once and writes it once, as a counting build shows, and agrees with a naive loop. All take the inverse hyperbolic
// sine of float tensors, so that no other test of this executable has the same programs: counting code must not meet other
// code.

#define TWILL_COUNT_ACCESS ::twill::test::CountAccess
#include "tests/support/traffic.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include "tests/support/numbers.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

using namespace twill;
using twill::test::largest_difference;
using twill::test::memory_traffic;
using twill::test::numbers;
using twill::test::Traffic;

namespace {
using Row = std::vector<double>;

constexpr std::int64_t rows = 6;
constexpr std::int64_t columns = 37;
using Matrix = Tensor<float, Cpu, Shape<dyn, dyn>>;
Matrix draws() { return randn<float, Shape<dyn, dyn>>(Dims(rows, columns)); }

Row row_of(const Matrix& x, std::int64_t row) {
  Row result;
  for (std::int64_t k = 0; k < columns; ++k) result.push_back(std::asinh(static_cast<double>(x(row, k).item())));
  return result;
}
template <class F> Row each(const Row& row, F f) {
  Row result;
  for (const double x : row) result.push_back(f(x));
  return result;
}
template <class F> Row both(const Row& a, const Row& b, F f) {
  Row result;
  for (std::size_t i = 0; i < a.size(); ++i) result.push_back(f(a[i], b[i]));
  return result;
}
double total(const Row& row) {
  double sum = 0;
  for (const double x : row) sum += x;
  return sum;
}
double average(const Row& row) { return total(row) / static_cast<double>(row.size()); }
double greatest(const Row& row) { return *std::max_element(row.begin(), row.end()); }
double least(const Row& row) { return *std::min_element(row.begin(), row.end()); }
Row exponentials(const Row& row) {
  return each(row, [](double x) { return std::exp(x); });
}

/// Evaluates, counts, and compares every row with a naive one.
template <class E, class F> void check(const E& expression, Traffic expected, F naive) {
  CHECK(plan(E(expression)).kernels == 1);
  Row found;
  CHECK(memory_traffic([&] { found = numbers(eval(E(expression))); }) == expected);
  Row reference;
  for (std::int64_t row = 0; row < rows; ++row)
    for (const double x : naive(row)) reference.push_back(x);
  CHECK(largest_difference(found, reference) < 2e-4);
}

constexpr Traffic one_pass{rows * columns, rows* columns};
constexpr Traffic two_inputs{2 * rows * columns, rows* columns};
} // namespace

TEST_CASE("formulas of one tensor read and write each row once", "[expr]") {
  const Matrix x = draws();
  // the greatest of all exponentials is used twice, computed and read once
  check(lazy(exp(asinh(x) - max<1>(asinh(x), keepdims)) / sum<1>(exp(asinh(x) - max<1>(asinh(x), keepdims)), keepdims)),
        one_pass, [&](std::int64_t i) {
          const Row e = exponentials(row_of(x, i));
          return each(e, [&](double v) { return v / total(e); });
        });
  check(lazy((asinh(x) - mean<1>(asinh(x), keepdims)) * rsqrt(var<1>(asinh(x), keepdims, correction<0>) + 0.5)),
        one_pass, [&](std::int64_t i) {
          const Row r = row_of(x, i);
          const Row c = each(r, [&](double v) { return v - average(r); });
          return each(c, [&](double v) { return v / std::sqrt(average(both(c, c, std::multiplies<>{})) + 0.5); });
        });
  // three reductions, each of what the one before it gave
  check(lazy(exp(abs(asinh(x) - mean<1>(asinh(x), keepdims)) /
                 sum<1>(abs(asinh(x) - mean<1>(asinh(x), keepdims)), keepdims)) -
             max<1>(exp(abs(asinh(x) - mean<1>(asinh(x), keepdims)) /
                        sum<1>(abs(asinh(x) - mean<1>(asinh(x), keepdims)), keepdims)),
                    keepdims)),
        one_pass, [&](std::int64_t i) {
          const Row r = row_of(x, i);
          const Row a = each(r, [&](double v) { return std::abs(v - average(r)); });
          const Row e = each(a, [&](double v) { return std::exp(v / total(a)); });
          return each(e, [&](double v) { return v - greatest(e); });
        });
  check(lazy((asinh(x) - min<1>(asinh(x), keepdims)) / (max<1>(asinh(x), keepdims) - min<1>(asinh(x), keepdims))),
        one_pass, [&](std::int64_t i) {
          const Row r = row_of(x, i);
          return each(r, [&](double v) { return (v - least(r)) / (greatest(r) - least(r)); });
        });
  check(lazy(sigmoid(mean<1>(asinh(x), keepdims)) * tanh(asinh(x)) + asinh(x)), one_pass, [&](std::int64_t i) {
    const Row r = row_of(x, i);
    return each(r, [&](double v) { return std::tanh(v) / (1 + std::exp(-average(r))) + v; });
  });
}

TEST_CASE("formulas that end in one number for each row write only that", "[expr]") {
  const Matrix x = draws();
  const Traffic expected{rows * columns, rows};
  check(lazy(sum<1>(exp(asinh(x) - max<1>(asinh(x), keepdims)) * (asinh(x) - max<1>(asinh(x), keepdims)))), expected,
        [&](std::int64_t i) {
          const Row r = row_of(x, i);
          return Row{total(each(r, [&](double v) { return std::exp(v - greatest(r)) * (v - greatest(r)); }))};
        });
  check(lazy(log(sum<1>(square(asinh(x)))) * max<1>(asinh(x)) - mean<1>(asinh(x))), expected, [&](std::int64_t i) {
    const Row r = row_of(x, i);
    return Row{std::log(total(both(r, r, std::multiplies<>{}))) * greatest(r) - average(r)};
  });
}

TEST_CASE("formulas of several tensors read each of them once", "[expr]") {
  const Matrix x = draws();
  const Matrix y = draws();
  const auto scale = randn<float, Shape<dyn>>(Dims(columns));
  const auto column = randn<float, Shape<dyn, 1>>(Dims(rows, 1));
  check(lazy(rowwise(
            [](auto a, auto b) {
              const auto z = asinh(a) * asinh(b);
              const auto e = exp(z - max(z));
              return e / sum(e) * asinh(b);
            },
            x, y)),
        two_inputs, [&](std::int64_t i) {
          const Row b = row_of(y, i);
          const Row e = exponentials(both(row_of(x, i), b, std::multiplies<>{}));
          return both(e, b, [&](double v, double w) { return v / total(e) * w; });
        });
  // masked softmax: what the second tensor does not let through counts for nothing
  check(lazy(softmax(where(asinh(y) > 0, asinh(x), -1e9))), two_inputs, [&](std::int64_t i) {
    const Row e = both(row_of(x, i), row_of(y, i), [](double v, double m) { return m > 0 ? std::exp(v) : 0.0; });
    return each(e, [&](double v) { return v / total(e); });
  });
  check(lazy(sum<1>(asinh(x), keepdims) * asinh(y) - mean<1>(asinh(y), keepdims)), two_inputs, [&](std::int64_t i) {
    const Row a = row_of(x, i), b = row_of(y, i);
    return each(b, [&](double v) { return total(a) * v - average(b); });
  });
  // a row vector and a column of numbers beside the rows: they are read once for each row
  check(lazy(layer_norm(asinh(x)) * scale + column), two_inputs, [&](std::int64_t i) {
    const Row r = row_of(x, i);
    const Row c = each(r, [&](double v) { return v - average(r); });
    Row result;
    for (std::size_t k = 0; k < c.size(); ++k)
      result.push_back(c[k] / std::sqrt(average(both(c, c, std::multiplies<>{})) + 1e-5) *
                           static_cast<double>(scale[static_cast<std::int64_t>(k)].item()) +
                       static_cast<double>(column(i, 0).item()));
    return result;
  });
  check(lazy(cosine_similarity(asinh(x), asinh(y))), {2 * rows * columns, rows}, [&](std::int64_t i) {
    const Row a = row_of(x, i), b = row_of(y, i);
    const auto dot = [](const Row& p, const Row& q) { return total(both(p, q, std::multiplies<>{})); };
    return Row{dot(a, b) / std::sqrt(dot(a, a) * dot(b, b))};
  });
}

TEST_CASE("a tensor named twice is one operand, and other tensors of its type are not", "[expr]") {
  const Matrix x = draws();
  const Matrix y = draws();
  const auto mixed = [](const Matrix& a, const Matrix& b) {
    return numbers(eval(cosh(asinh(a)) - mean<1>(cosh(asinh(b)), keepdims)));
  };
  const auto operands_read = [] {
    const auto& loads = twill::test::access_counts().loads;
    return std::count_if(loads.begin(), loads.end(), [](const auto& count) { return count > 0; });
  };
  Row same, other;
  CHECK(memory_traffic([&] { same = mixed(x, x); }).loads == rows * columns);
  CHECK(operands_read() == 1);
  CHECK(memory_traffic([&] { other = mixed(x, y); }).loads == 2 * rows * columns);
  CHECK(operands_read() == 2);
  const Matrix copy = x.clone();
  CHECK(largest_difference(mixed(x, copy), same) < 1e-6);
  CHECK(other != same);
}
