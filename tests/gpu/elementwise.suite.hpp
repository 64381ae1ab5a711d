#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Elementwise statements on a GPU beside a host device: bits where arithmetic is exact to the last place, else a few of it;
// every element type, views that lie in any way, results over their own operands, and the same random numbers.

#include <tests/support/same_values.hpp>
#include <tests/support/suite.hpp>

#include <twill/device/generator.hpp>
#include <twill/expr/complex_functions.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/functions.hpp>
#include <twill/expr/operators.hpp>
#include <twill/expr/plan.hpp>
#include <twill/expr/planned.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/tensor/complex_views.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>
#include <twill/tensor/views.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace elementwise_suite { namespace {

using namespace twill;
using test::Case;
using test::require_near;
using test::require_same;
using test::TestedDevice;

/// Numbers between -4 and 4.
template <class S> Tensor<float, Cpu, S> some_floats(const Dims& extents) {
  return eval(rand<float, S>(extents) * 8.0F - 4.0F);
}
using Vector = Shape<dyn>;
using Matrix = Shape<dyn, dyn>;
template <class X> auto there(const X& x) { return x.to(TestedDevice{0}); }

/// The same statement on both devices, to the bit.
template <class F, class... X> void same_on_both(const F& f, const X&... x) {
  const Tensor here = f(x...);
  const Tensor away = f(there(x)...);
  require_same(away, here);
}
/// The same, but for the last places: 6 of each of the host's fast functions and as many of the device's.
template <class F, class... X> void near_on_both(const F& f, const X&... x) {
  const Tensor here = f(x...);
  const Tensor away = f(there(x)...);
  require_near(away, here, 3e-6, 1e-7);
}

void arithmetic_has_the_same_bits() {
  for (const std::int64_t full : {0, 1, 3, 4, 5, 127, 1009, 100'003}) {
    const std::int64_t n = test::sized(full);
    const auto a = some_floats<Vector>(Dims(n)), b = some_floats<Vector>(Dims(n)), c = some_floats<Vector>(Dims(n));
    same_on_both([](const auto& x, const auto& y, const auto& z) { return x * y + z; }, a, b, c); // two roundings
    same_on_both([](const auto& x, const auto& y, const auto& z) { return sqrt(abs(x)) / y - minimum(z, x) * 0.5F; }, a,
                 b, c);
    same_on_both([](const auto& x, const auto& y) { return where(x < y, floor(x), maximum(y, -x)); }, a, b);
  }
}

/// Arguments of every size: powers of ten with both signs, and zero.
Tensor<float, Cpu, Vector> every_magnitude() {
  std::vector<float> values{0.0F};
  for (int exponent = -44; exponent <= 38; ++exponent)
    for (const float digits : {1.0F, -1.0F, 2.718F, -3.142F}) values.push_back(digits * std::pow(10.0F, exponent));
  return from_values<Vector>(values);
}

void functions_are_close() {
  const auto some = some_floats<Vector>(Dims(10'007));
  const auto every = every_magnitude();
  for (const auto& a : {some, every}) {
    const auto b = eval(abs(a) + 0.01F);
    // products: relative errors add up, and nothing cancels
    near_on_both([](const auto& x) { return tanh(x) * exp(x); }, a);
    near_on_both([](const auto& x) { return erf(x) * cbrt(x); }, a);
    near_on_both([](const auto& x) { return log(x) * log1p(x); }, b);
    near_on_both([](const auto& x) { return sin(x) * expm1(x); }, a);
    near_on_both([](const auto& x) { return cos(x) * power(abs(x), 1.5F); }, a);
    near_on_both([](const auto& x, const auto& y) { return atan2(x, y) * lgamma(y + 2.5F); }, a, b);
  }
}

void every_type_is_computed() {
  const auto a = some_floats<Vector>(Dims(2053)), b = some_floats<Vector>(Dims(2053));
  const auto sum = [](const auto& x, const auto& y) { return x + y * x; };
  same_on_both(sum, a.to<twill::half>(), b.to<twill::half>());
  same_on_both(sum, a.to<bfloat16>(), b.to<bfloat16>());
  same_on_both(sum, a.to<double>(), b.to<double>());
  same_on_both(sum, a.to<std::int64_t>(), b.to<std::int64_t>());
  const auto truth = [](const auto& x, const auto& y) { return (x > y) ^ (x > 0.0F); };
  same_on_both(truth, a, b);
  same_on_both([](const auto& x, const auto& y) { return where(x != y, x, y) % 3; }, eval(abs(a)).to<std::uint8_t>(),
               eval(abs(b)).to<std::uint8_t>());
  same_on_both([](const auto& x) { return cast<twill::half>(x); }, a);
  same_on_both([](const auto& x) { return cast<bfloat16>(x * 3.7F); }, a);
  // halfway between two numbers of 16 bits, and next to it by less than a float can tell
  const auto halfway = eval(a.to<twill::half>().to<double>() * (1 + 0x1p-11));
  for (const double more : {0.0, 0x1p-40, -0x1p-40}) {
    const auto near = eval(halfway * (1 + more));
    same_on_both([](const auto& x) { return cast<twill::half>(x); }, near);
    same_on_both([](const auto& x) { return cast<twill::half>(x * 0x1p-20); }, near);
    same_on_both([](const auto& x) { return cast<bfloat16>(x); }, near);
  }
}

void views_lie_in_any_way() {
  const auto twice = [](const auto& x, const auto& y) { return x * 2.0F + y; };
  for (const Dims& extents : {Dims(64, 96), Dims(61, 97), Dims(1000, 3), Dims(3, 4099), Dims(1, 7)}) {
    const auto x = some_floats<Matrix>(extents), y = some_floats<Matrix>(extents);
    const auto across = some_floats<Shape<dyn>>(Dims(extents[1]));
    const auto down = some_floats<Shape<dyn, 1>>(Dims(extents[0], 1));
    same_on_both(twice, x, y);
    same_on_both(twice, x, across);
    same_on_both(twice, x, down);
    require_same(eval(twice(there(x).transpose(), there(y).transpose())), eval(twice(x.transpose(), y.transpose())));
    require_same(eval(twice(flip<1>(there(x)), there(y))), eval(twice(flip<1>(x), y)));
    const slice rest{.begin = 1}, odd{.begin = 1, .step = 2};
    const Tensor moved = twice(there(x)(twill::all, rest), there(y)(twill::all, rest)); // rows start anywhere
    require_same(moved, eval(twice(x(twill::all, rest), y(twill::all, rest))));
    const Tensor sparse = twice(there(x)(odd, odd), there(y)(odd, odd));
    require_same(sparse, eval(twice(x(odd, odd), y(odd, odd))));
  }
}

void results_may_lie_over_operands() {
  auto x = some_floats<Vector>(Dims(5003));
  const auto y = some_floats<Vector>(Dims(5003));
  auto away = there(x);
  const auto y_away = there(y);
  x += y * 0.5F;
  away += y_away * 0.5F;
  x = maximum(x, 0.0F) * y;
  away = maximum(away, 0.0F) * y_away;
  require_same(away, x);
  auto part = x[slice{3, 4001}];
  auto part_away = away[slice{3, 4001}];
  part = part * part - 1.0F;
  part_away = part_away * part_away - 1.0F;
  require_same(away, x);
}

void random_numbers_are_the_same() {
  for (const std::int64_t n : {1, 5, 4096, 10'001}) {
    manual_seed(Cpu{0}, 2026);
    manual_seed(TestedDevice{0}, 2026);
    const auto here = rand<float, Vector>(Dims(n), Cpu{0});
    const auto away = rand<float, Vector>(Dims(n), TestedDevice{0});
    require_same(away, here);
    const auto doubles = rand<double, Vector>(Dims(n), Cpu{0});
    const auto doubles_away = rand<double, Vector>(Dims(n), TestedDevice{0});
    require_same(doubles_away, doubles);
    const auto normal = randn<float, Vector>(Dims(n), Cpu{0});
    const auto normal_away = randn<float, Vector>(Dims(n), TestedDevice{0});
    require_near(normal_away, normal, 2e-6, 2e-6);
  }
}

/// Inverse functions, whose parts are precise, and a statement that is cut into several kernels.
void functions_of_complex_numbers_are_close() {
  const auto re = some_floats<Vector>(Dims(test::sized(1009))), im = some_floats<Vector>(Dims(test::sized(1009)));
  const auto of_parts = [&](const auto& f) {
    const auto parts = [&](const auto& x, const auto& y) {
      const Tensor z = complex(x, y);
      return view_as_real(eval(f(z)));
    };
    near_on_both(parts, re, im);
  };
  of_parts([](const auto& z) { return asin(z); });
  of_parts([](const auto& z) { return acosh(z); });
  of_parts([](const auto& z) { return atanh(z); });
  of_parts([](const auto& z) { return sqrt(z); });
  of_parts([](const auto& z) { return sign(z); });
  of_parts([](const auto& z) { return abs(expm1(log1p(z)) + z) * complex64{1, 0}; });
}

void counters_count() {
  require_same(arange<std::int64_t>(3, 10'000, 7, TestedDevice{0}), arange<std::int64_t>(3, 10'000, 7, Cpu{0}));
  require_same(linspace<float>(0.0F, 1.0F, 1001, TestedDevice{0}), linspace<float>(0.0F, 1.0F, 1001, Cpu{0}));
}

void plans_tell_of_the_device() {
  const auto x = there(some_floats<Matrix>(Dims(64, 100)));
  const auto narrow = x.to<bfloat16>();
  static_assert(plan<decltype(tanh(x * x + x) * x - 0.5F * x)>().kernels == 1);
  static_assert(plan<decltype(tanh(x * x))>().vector_width == 4); // 16 bytes
  static_assert(plan<decltype(narrow + narrow)>().vector_width == 8);
  const ExpressionPlan chain = plan(tanh(x * x + x) * x);
  test::require(chain.kernels == 1 && chain.vector_width == 4 && chain.is_fast());
  test::require_equal(chain.bytes_read, std::int64_t{64 * 100 * 4}); // x is named four times and read once
  test::require_equal(plan(narrow + narrow).vector_width, 8);
  test::require_equal(plan(x.to<double>() * 2.0).vector_width, 2);
}

const Case plans_case{"plans tell how many kernels there are and how wide their accesses", &plans_tell_of_the_device};
const Case arithmetic_case{"arithmetic has the host's bits at every size", &arithmetic_has_the_same_bits};
const Case functions_case{"functions are as close to the host's as they are to the truth", &functions_are_close};
const Case complex_case{"functions of complex numbers are close to the host's",
                        &functions_of_complex_numbers_are_close};
const Case types_case{"every element type is computed as on the host", &every_type_is_computed};
const Case views_case{"views may lie in any way", &views_lie_in_any_way};
const Case aliases_case{"results may lie over their operands", &results_may_lie_over_operands};
const Case random_case{"equal seeds give the host's random numbers", &random_numbers_are_the_same};
const Case counters_case{"counters count as on the host", &counters_count};

}} // namespace elementwise_suite
