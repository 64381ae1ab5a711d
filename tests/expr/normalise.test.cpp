// SPDX-License-Identifier: Apache-2.0
//
// Softmax and its relatives, and row programs of the user's own, against naive loops: along the last axis and others, of
// strided and broadcast operands, of 16-bit floats, of nothing. What runs as one kernel is asserted by its form.

#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

using namespace twill;
using expr::Form;
using twill::test::largest_difference;
using twill::test::numbers;

namespace {
using Row = std::vector<double>;

/// A function of each row along an axis of row-major values.
template <class F> Row by_rows(const Row& values, const Dims& shape, int axis, F function) {
  const Dims strides = contiguous_strides(shape);
  Row result = values;
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    if (i / strides[axis] % shape[axis] != 0) continue;
    Row row;
    for (std::int64_t k = 0; k < shape[axis]; ++k)
      row.push_back(values[static_cast<std::size_t>(i + k * strides[axis])]);
    row = function(row);
    for (std::int64_t k = 0; k < shape[axis]; ++k)
      result[static_cast<std::size_t>(i + k * strides[axis])] = row[static_cast<std::size_t>(k)];
  }
  return result;
}
double total(const Row& row) {
  double sum = 0;
  for (const double x : row) sum += x;
  return sum;
}
template <class F> Row each(Row row, F function) {
  for (double& x : row) x = function(x);
  return row;
}
double power_sum(const Row& row) {
  return total(each(row, [](double x) { return x * x; }));
}

Row naive_softmax(const Row& row) {
  const double sum = total(each(row, [](double x) { return std::exp(x); }));
  return each(row, [=](double x) { return std::exp(x) / sum; });
}
Row naive_log_softmax(const Row& row) {
  return each(naive_softmax(row), [](double x) { return std::log(x); });
}
Row naive_layer_norm(const Row& row) {
  const double n = static_cast<double>(row.size());
  const double mean = total(row) / n;
  const Row centred = each(row, [=](double x) { return x - mean; });
  return each(centred, [=](double x) { return x / std::sqrt(power_sum(centred) / n + 1e-5); });
}
Row naive_rms_norm(const Row& row) {
  const double n = static_cast<double>(row.size());
  return each(row, [&](double x) { return x / std::sqrt(power_sum(row) / n + 1e-5); });
}
Row naive_normalize(const Row& row) {
  return each(row, [&](double x) { return x / std::sqrt(power_sum(row)); });
}

template <class E, class F>
void check(const E& expression, const Row& values, const Dims& shape, int axis, F naive, double tolerance = 1e-12) {
  CHECK(largest_difference(numbers(eval(E(expression))), by_rows(values, shape, axis, naive)) < tolerance);
}
template <class E> constexpr Form form(const E&) { return expr::form_of<std::remove_const_t<E>>(); }
} // namespace

TEST_CASE("normalisations agree with loops along the last axis", "[expr]") {
  const auto x = randn<double, Shape<dyn, dyn>>(Dims(7, 19));
  check(lazy(softmax(x)), numbers(x), x.shape(), 1, naive_softmax);
  check(lazy(log_softmax(x)), numbers(x), x.shape(), 1, naive_log_softmax);
  check(lazy(layer_norm(x)), numbers(x), x.shape(), 1, naive_layer_norm);
  check(lazy(rms_norm(x)), numbers(x), x.shape(), 1, naive_rms_norm);
  check(lazy(normalize(x)), numbers(x), x.shape(), 1, naive_normalize);
  CHECK(form(lazy(softmax(x))) == Form::rows);
  const auto weight = randn<double, Shape<dyn>>(Dims(19));
  const auto affine = lazy(layer_norm(x * 2) * weight + weight);
  CHECK(form(affine) == Form::rows);
  const Tensor plain = layer_norm(eval(x * 2));
  CHECK(largest_difference(numbers(eval(affine)), numbers(eval(plain * weight + weight))) < 1e-12);
  const auto total_entropy = lazy(sum<1>(softmax(x) * log_softmax(x)));
  CHECK(form(total_entropy) == Form::totals);
}

TEST_CASE("normalisations agree with loops along other axes, of any view", "[expr]") {
  const auto x = randn<double, Shape<5, 6, 13>>();
  check(lazy(softmax<0>(x)), numbers(x), x.shape(), 0, naive_softmax);
  check(lazy(softmax<1>(x + 1)), numbers(eval(x + 1)), x.shape(), 1, naive_softmax);
  check(lazy(layer_norm<1>(x)), numbers(x), x.shape(), 1, naive_layer_norm);
  CHECK(form(lazy(softmax<1>(x))) == Form::permuted);
  const auto view = x.permute<2, 0, 1>()(slice{.step = -2});
  check(lazy(softmax(view)), numbers(view), view.shape(), 2, naive_softmax);
  check(lazy(softmax<0>(view)), numbers(view), view.shape(), 0, naive_softmax);
  // over several axes, they are one row
  const auto flat = x.reshape<Shape<5, 78>>();
  check(lazy(layer_norm<1, 2>(x)), numbers(x), flat.shape(), 1, naive_layer_norm);
  auto target = zeros<double, Shape<13, 6, 5>>();
  target.transpose() = layer_norm<1, 2>(x);
  CHECK(largest_difference(numbers(target.transpose()), by_rows(numbers(x), flat.shape(), 1, naive_layer_norm)) <
        1e-12);
  const Tensor outer = layer_norm<0, 2>(x);
  const Tensor turned = layer_norm<1, 2>(eval(x.permute<1, 0, 2>() * 1));
  CHECK(largest_difference(numbers(outer.permute<1, 0, 2>()), numbers(turned)) < 1e-12);
}

TEST_CASE("cross entropy and cosine similarity give one number for each row", "[expr]") {
  const auto logits = randn<double, Shape<6, 11>>();
  const auto labels = tensor({3, 0, 10, 5, 5, 1});
  const auto rows = numbers(eval(log_softmax(logits)));
  Row expected;
  for (int i = 0; i < 6; ++i) expected.push_back(-rows[static_cast<std::size_t>(i * 11 + labels[i].item())]);
  CHECK(largest_difference(numbers(eval(cross_entropy(logits, labels))), expected) < 1e-12);
  CHECK(form(lazy(cross_entropy(logits, labels))) == Form::totals);
  const auto turned = eval(logits.transpose() * 1);
  CHECK(largest_difference(numbers(eval(cross_entropy<0>(turned, labels.to<std::uint8_t>()))), expected) < 1e-12);
  CHECK(mean(cross_entropy(logits, labels)).item() == Approx(total(expected) / 6));
  CHECK(std::isinf(eval(cross_entropy(logits, tensor({11, 0, 0, 0, 0, 0})))[0].item()));

  // of probabilities: the expectation of that of each class
  const Tensor p = eval(softmax(randn<double, Shape<6, 11>>()));
  const Tensor by_class = eval(-sum<1>(p * log_softmax(logits)));
  CHECK(largest_difference(numbers(eval(cross_entropy(logits, p))), numbers(by_class)) < 1e-12);
  CHECK(form(lazy(cross_entropy(logits, p))) == Form::totals);
  CHECK(largest_difference(numbers(eval(cross_entropy<0>(turned, eval(p.transpose() * 1)))), numbers(by_class)) <
        1e-12);
  const double never = -std::numeric_limits<double>::infinity();
  CHECK(eval(cross_entropy(tensor({{never, 0.0}}), tensor({{0.0F, 1.0F}})))[0].item() == 0);
  CHECK(std::isinf(eval(cross_entropy(tensor({{never, 0.0}}), tensor({{0.5, 0.5}})))[0].item()));

  const auto a = randn<double, Shape<5, 17>>();
  const auto b = randn<double, Shape<17>>();
  Row cosines;
  for (int i = 0; i < 5; ++i) {
    const Row one = numbers(a[i]), other = numbers(b);
    double dot = 0;
    for (std::size_t k = 0; k < one.size(); ++k) dot += one[k] * other[k];
    cosines.push_back(dot / std::sqrt(power_sum(one) * power_sum(other)));
  }
  CHECK(largest_difference(numbers(eval(cosine_similarity(a, b))), cosines) < 1e-12);
  CHECK(largest_difference(numbers(eval(cosine_similarity<0>(a.transpose(), b(all, newaxis)))), cosines) < 1e-12);
  CHECK(eval(cosine_similarity(zeros<float, Shape<3>>(), ones<float, Shape<3>>())).item() == 0);
}

TEMPLATE_TEST_CASE("normalisations compute in float and keep the element type", "[expr]", half, bfloat16) {
  const auto x = randn<float, Shape<3, 21>>().template to<TestType>();
  static_assert(std::is_same_v<typename decltype(eval(softmax(x)))::value_type, TestType>);
  static_assert(std::is_same_v<typename decltype(eval(layer_norm(x)))::value_type, TestType>);
  const double tolerance = std::is_same_v<TestType, half> ? 2e-3 : 2e-2;
  check(lazy(softmax(x)), numbers(x), x.shape(), 1, naive_softmax, tolerance);
  check(lazy(layer_norm(x)), numbers(x), x.shape(), 1, naive_layer_norm, tolerance);
  CHECK(numbers(eval(normalize(zeros<TestType, Shape<3>>()))) == Row{0, 0, 0});
}

TEST_CASE("normalisations of nothing, of one element and of integers", "[expr]") {
  CHECK(eval(softmax(zeros<float, Shape<3, 0>>())).elements() == 0);
  CHECK(eval(softmax<0>(zeros<float, Shape<3, 0>>())).elements() == 0);
  CHECK(eval(softmax(ones<float, Shape<3, 1>>()))(2, 0).item() == 1);
  static_assert(std::is_same_v<decltype(eval(softmax(tensor({1, 2}))))::value_type, float>);
  CHECK(eval(softmax(tensor({1, 1})))[0].item() == 0.5F);
  CHECK(std::isnan(eval(softmax(tensor({1.F, std::numeric_limits<float>::quiet_NaN()})))[0].item()));
  CHECK(eval(softmax(tensor({1000.F, 1000.F})))[0].item() == 0.5F);
}

TEST_CASE("row programs of one's own read each operand once and are one kernel", "[expr]") {
  const auto x = randn<double, Shape<4, 23>>();
  const auto y = randn<double, Shape<23>>();
  const auto standard = lazy(rowwise(
      [](auto a, auto b) {
        const auto weighted = a * b;
        return (weighted - mean(weighted)) / (max(weighted) - min(weighted));
      },
      x, y));
  CHECK(form(standard) == Form::rows);
  check(standard, numbers(eval(x * y)), x.shape(), 1, [](const Row& row) {
    double least = row[0], greatest = row[0];
    for (const double v : row) least = std::min(least, v), greatest = std::max(greatest, v);
    return each(row, [&](double v) { return (v - total(row) / 23) / (greatest - least); });
  });
  const auto position = numbers(eval(per_row([](auto a) { return sum(where(a > 0, row_index(a), 0)); }, x)));
  double expected = 0;
  for (int k = 0; k < 23; ++k) expected += x(2, k).item() > 0 ? k : 0;
  CHECK(position[2] == expected);
  CHECK(eval(per_row<0>([](auto a, auto b) { return max(a) / (b + row_length(a)); }, keepdims, x, 2.0)).shape() ==
        Dims(1, 23));
}
