// SPDX-License-Identifier: Apache-2.0
//
// Every set of axes of tensors of one to five dimensions is reduced rightly, whether the type knows the extents or not,
// with extents of nothing and of one among them, of views in any order, with the axes dropped or kept.

#include "tests/support/axis_groups.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

using namespace twill;
using twill::test::axis_groups;
using twill::test::numbers;
using twill::test::reduced_by;

namespace {
double total(const std::vector<double>& group) {
  double result = 0;
  for (const double x : group) result += x;
  return result;
}
double greatest(const std::vector<double>& group) { return *std::max_element(group.begin(), group.end()); }
double spread(const std::vector<double>& group) {
  const double mean = total(group) / static_cast<double>(group.size());
  double result = 0;
  for (const double x : group) result += (x - mean) * (x - mean);
  return result / static_cast<double>(group.size());
}

void check_equal(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).margin(1e-12));
}

/// Op(x, mask) over the axes of a mask: `Reduced` as the functions make it.
template <class Op, unsigned Mask, class X> auto over(const X& x) {
  using A = expr::operand_t<DType::float32, const X&>;
  return expr::Reduced<Op, Mask, expr::Rest::dropped, A>(expr::operand<DType::float32>(x));
}
template <class Op, unsigned Mask, class X> auto over_kept(const X& x) {
  using A = expr::operand_t<DType::float32, const X&>;
  return expr::Reduced<Op, Mask, expr::Rest::kept, A>(expr::operand<DType::float32>(x));
}

using Sum = expr::Combine<kernel::Reduction::sum>;
using Max = expr::Combine<kernel::Reduction::max>;

template <unsigned Mask, class X> void check_mask(const X& x) {
  INFO("shape " << to_string(x.shape()) << ", strides " << to_string(x.strides()) << ", axes " << Mask);
  const auto groups = axis_groups(x, Mask);
  const auto sums = reduced_by(groups, total);
  check_equal(numbers(eval(over<Sum, Mask>(x))), sums);
  const auto kept = eval(over_kept<Sum, Mask>(x));
  CHECK(kept.shape() == expr::reduced_dims(x.shape(), Mask, expr::Rest::kept));
  check_equal(numbers(kept), sums);
}
template <class X> void check_all(const X& x) {
  [&]<unsigned... M>(std::integer_sequence<unsigned, M...>) { (check_mask<M + 1>(x), ...); }
  (std::make_integer_sequence<unsigned, (1U << X::rank) - 1>{});
}
/// Those that take several looks at a row, and those that need elements.
template <unsigned Mask, class X> void check_others(const X& x) {
  INFO("shape " << to_string(x.shape()) << ", strides " << to_string(x.strides()) << ", axes " << Mask);
  const auto groups = axis_groups(x, Mask);
  check_equal(numbers(eval(over<Max, Mask>(x))), reduced_by(groups, greatest));
  check_equal(numbers(eval(over<expr::Variance<0>, Mask>(x))), reduced_by(groups, spread));
}

template <class S> auto random(const Dims& extents) { return randn<double, S>(extents); }
} // namespace

TEST_CASE("every set of axes is reduced where the extents are known at run time", "[expr]") {
  check_all(random<Shape<dyn>>(Dims(19)));
  check_all(random<Shape<dyn, dyn>>(Dims(5, 17)));
  check_all(random<Shape<dyn, dyn>>(Dims(17, 1)));
  check_all(random<Shape<dyn, dyn>>(Dims(0, 3)));
  check_all(random<Shape<dyn, dyn>>(Dims(3, 0)));
  const auto block = random<Shape<dyn, dyn, dyn>>(Dims(4, 5, 9));
  check_all(block);
  check_all(block.permute<1, 2, 0>());
  check_all(block.permute<2, 0, 1>());
  check_all(block(all, slice{.step = -2}, slice{1, 8, 3}));
  check_all(random<Shape<dyn, dyn, dyn>>(Dims(3, 1, 4)));
  check_all(random<Shape<dyn, dyn, dyn>>(Dims(1, 1, 1)));
  check_all(random<Shape<dyn, dyn, dyn>>(Dims(2, 0, 3)));
  check_all(random<Shape<dyn, dyn, dyn>>(Dims(2, 3, 0)));
}

TEST_CASE("every set of four axes is reduced, in any order of memory", "[expr]") {
  const auto x = random<Shape<dyn, dyn, dyn, dyn>>(Dims(3, 2, 5, 4));
  check_all(x);
  check_all(x.permute<3, 1, 0, 2>());
  check_all(random<Shape<dyn, dyn, dyn, dyn>>(Dims(1, 3, 1, 9)));
}

TEST_CASE("sets of axes are reduced where the type knows the extents", "[expr]") {
  check_all(randn<double, Shape<4, 1, 9>>());
  check_all(randn<double, Shape<2, 3, 0>>());
}

TEST_CASE("sets of five axes are reduced", "[expr]") {
  const auto x = random<Shape<dyn, dyn, dyn, dyn, dyn>>(Dims(2, 3, 2, 3, 4));
  const auto check = [](const auto& view) {
    check_mask<0b10101>(view);
    check_mask<0b01010>(view);
    check_mask<0b00110>(view);
    check_mask<0b11000>(view);
    check_mask<0b11111>(view);
  };
  check(x);
  check(x.permute<4, 2, 0, 3, 1>());
}

TEST_CASE("extremes and variances are right over every set of axes", "[expr]") {
  const auto x = random<Shape<dyn, dyn, dyn>>(Dims(3, 7, 5));
  const auto check = [](const auto& view) {
    check_others<1>(view);
    check_others<2>(view);
    check_others<3>(view);
    check_others<4>(view);
    check_others<5>(view);
    check_others<6>(view);
    check_others<7>(view);
  };
  check(x);
  check(x.permute<2, 0, 1>());
}
