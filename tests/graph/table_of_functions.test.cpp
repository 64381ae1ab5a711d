// SPDX-License-Identifier: Apache-2.0
//
// The table of elementwise functions of traced values: beside the standard library's in every element type they take, on
// operands that broadcast, single elements, none, rank 0 and odd shapes; derivatives beside finite differences. Formulas are
// rounded to the element type after each node, as unfused programs round. Vector kernels of the primitives:
// tests/kernel/primitives.test.cpp; compiled derivatives: tests/support/gradient_table.hpp.

#include "tests/support/operation_table.hpp"
#include "tests/support/refusal.hpp"

#include <twill/graph/functions.hpp>

#include <algorithm>
#include <numeric>

using namespace twill;
using namespace twill::test;

namespace {

const std::vector<std::vector<Dims>> singles{{Dims(2, 3)}, {Dims(1)}, {Dims{}}, {Dims(0, 3)}, {Dims(7, 17)}};
const std::vector<std::vector<Dims>> pairs{{Dims(2, 3), Dims(3)}, {Dims(2, 1), Dims(1, 3)}, {Dims{}, Dims(2, 2)},
                                           {Dims(0, 3), Dims(3)}, {Dims(1), Dims(1)},       {Dims(7, 17), Dims(7, 17)}};

std::int64_t whole(double x) { return static_cast<std::int64_t>(x); }
/// The argument between -8 and 8 at which a growing function has a value.
double inverse_of(double (*f)(double), double value) {
  double low = -8, high = 8;
  for (int k = 0; k < 80; ++k) ((f((low + high) / 2) < value) ? low : high) = (low + high) / 2;
  return low;
}
Value number(Value truth) { return graph::cast(truth, DType::float32); }

// clang-format off
const OperationRow functions[]{
    {"exp", singles, [](const Value* x) { return graph::exp(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::exp(x[0]); }},
    {"expm1", singles, [](const Value* x) { return graph::expm1(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::expm1(x[0]); }},
    {"exp2", singles, [](const Value* x) { return graph::exp2(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::exp2(x[0]); }},
    {"sin", singles, [](const Value* x) { return graph::sin(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::sin(x[0]); }},
    {"cos", singles, [](const Value* x) { return graph::cos(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::cos(x[0]); }},
    {"tanh", singles, [](const Value* x) { return graph::tanh(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::tanh(x[0]); }},
    {"sinh", singles, [](const Value* x) { return graph::sinh(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::sinh(x[0]); }},
    {"cosh", singles, [](const Value* x) { return graph::cosh(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::cosh(x[0]); }},
    {"atan", singles, [](const Value* x) { return graph::atan(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::atan(x[0]); }},
    {"asinh", singles, [](const Value* x) { return graph::asinh(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::asinh(x[0]); }},
    {"erf", singles, [](const Value* x) { return graph::erf(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::erf(x[0]); }},
    {"erfc", singles, [](const Value* x) { return graph::erfc(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::erfc(x[0]); }},
    {"erf_accurate", singles, [](const Value* x) { return graph::erf_accurate(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::erf(x[0]); }},
    {"tanh_accurate", singles, [](const Value* x) { return graph::tanh_accurate(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::tanh(x[0]); }},
    {"cbrt", singles, [](const Value* x) { return graph::cbrt(x[0]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return std::cbrt(x[0]); }},
    {"log", singles, [](const Value* x) { return graph::log(x[0]); }, nullptr, RowTypes::numbers, {0.3, 3}, true, [](const double* x) { return std::log(x[0]); }},
    {"log2", singles, [](const Value* x) { return graph::log2(x[0]); }, nullptr, RowTypes::numbers, {0.3, 3}, true, [](const double* x) { return std::log2(x[0]); }},
    {"log10", singles, [](const Value* x) { return graph::log10(x[0]); }, nullptr, RowTypes::numbers, {0.3, 3}, true, [](const double* x) { return std::log10(x[0]); }},
    {"log1p", singles, [](const Value* x) { return graph::log1p(x[0]); }, nullptr, RowTypes::numbers, {0.3, 3}, true, [](const double* x) { return std::log1p(x[0]); }},
    {"sqrt", singles, [](const Value* x) { return graph::sqrt(x[0]); }, nullptr, RowTypes::numbers, {0.3, 3}, true, [](const double* x) { return std::sqrt(x[0]); }},
    {"rsqrt", singles, [](const Value* x) { return graph::rsqrt(x[0]); }, nullptr, RowTypes::numbers, {0.3, 3}, true, [](const double* x) { return 1 / std::sqrt(x[0]); }},
    {"lgamma", singles, [](const Value* x) { return graph::lgamma(x[0]); }, nullptr, RowTypes::numbers, {0.3, 3}, true, [](const double* x) { return std::lgamma(x[0]); }},
    {"acosh", singles, [](const Value* x) { return graph::acosh(x[0]); }, nullptr, RowTypes::numbers, {1.1, 2}, true, [](const double* x) { return std::acosh(x[0]); }},
    {"tan", singles, [](const Value* x) { return graph::tan(x[0]); }, nullptr, RowTypes::numbers, {-1, 1}, true, [](const double* x) { return std::tan(x[0]); }},
    {"asin", singles, [](const Value* x) { return graph::asin(x[0]); }, nullptr, RowTypes::numbers, {-0.8, 0.8}, true, [](const double* x) { return std::asin(x[0]); }},
    {"acos", singles, [](const Value* x) { return graph::acos(x[0]); }, nullptr, RowTypes::numbers, {-0.8, 0.8}, true, [](const double* x) { return std::acos(x[0]); }},
    {"atanh", singles, [](const Value* x) { return graph::atanh(x[0]); }, nullptr, RowTypes::numbers, {-0.8, 0.8}, true, [](const double* x) { return std::atanh(x[0]); }},
    {"arcsin", singles, [](const Value* x) { return graph::arcsin(x[0]); }, nullptr, RowTypes::numbers, {-0.8, 0.8}, true, [](const double* x) { return std::asin(x[0]); }},
    {"arccos", singles, [](const Value* x) { return graph::arccos(x[0]); }, nullptr, RowTypes::numbers, {-0.8, 0.8}, true, [](const double* x) { return std::acos(x[0]); }},
    {"arctanh", singles, [](const Value* x) { return graph::arctanh(x[0]); }, nullptr, RowTypes::numbers, {-0.8, 0.8}, true, [](const double* x) { return std::atanh(x[0]); }},
    {"arctan", singles, [](const Value* x) { return graph::arctan(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::atan(x[0]); }},
    {"arcsinh", singles, [](const Value* x) { return graph::arcsinh(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::asinh(x[0]); }},
    {"arccosh", singles, [](const Value* x) { return graph::arccosh(x[0]); }, nullptr, RowTypes::numbers, {1.1, 2}, true, [](const double* x) { return std::acosh(x[0]); }},
    {"digamma", singles, [](const Value* x) { return graph::digamma(x[0]); }, nullptr, RowTypes::narrow, {0.5, 4}, false, [](const double* x) { return (std::lgamma(x[0] + 1e-5) - std::lgamma(x[0] - 1e-5)) / 2e-5; }},
    {"erfinv", singles, [](const Value* x) { return graph::erfinv(x[0]); }, nullptr, RowTypes::floating, {-0.9, 0.9}, true, [](const double* x) { return inverse_of(+[](double y) { return std::erf(y); }, x[0]); }},
    {"ndtri", singles, [](const Value* x) { return graph::ndtri(x[0]); }, nullptr, RowTypes::floating, {0.05, 0.95}, true, [](const double* x) { return inverse_of(+[](double y) { return 0.5 * std::erfc(-y / std::sqrt(2.0)); }, x[0]); }},
    {"ndtr", singles, [](const Value* x) { return graph::ndtr(x[0]); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return 0.5 * std::erfc(-x[0] / std::sqrt(2.0)); }},
    {"i0", singles, [](const Value* x) { return graph::i0(x[0]); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return std::cyl_bessel_i(0, std::fabs(x[0])); }},
    {"i0e", singles, [](const Value* x) { return graph::i0e(x[0]); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return std::cyl_bessel_i(0, std::fabs(x[0])) * std::exp(-std::fabs(x[0])); }},
    {"i1", singles, [](const Value* x) { return graph::i1(x[0]); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return std::copysign(std::cyl_bessel_i(1, std::fabs(x[0])), x[0]); }},
    {"i1e", singles, [](const Value* x) { return graph::i1e(x[0]); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return std::copysign(std::cyl_bessel_i(1, std::fabs(x[0])), x[0]) * std::exp(-std::fabs(x[0])); }},
    {"bessel_j0", singles, [](const Value* x) { return graph::bessel_j0(x[0]); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return std::cyl_bessel_j(0, std::fabs(x[0])); }},
    {"bessel_j1", singles, [](const Value* x) { return graph::bessel_j1(x[0]); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return std::copysign(std::cyl_bessel_j(1, std::fabs(x[0])), x[0]); }},
    {"gammainc", singles, [](const Value* x) { return graph::gammainc(2, x[0]); }, nullptr, RowTypes::floating, {0.3, 3}, true, [](const double* x) { return 1 - std::exp(-x[0]) * (1 + x[0]); }},
    {"gammaincc", singles, [](const Value* x) { return graph::gammaincc(2, x[0]); }, nullptr, RowTypes::floating, {0.3, 3}, true, [](const double* x) { return std::exp(-x[0]) * (1 + x[0]); }},
    {"betainc", singles, [](const Value* x) { return graph::betainc(2, 3, x[0]); }, nullptr, RowTypes::floating, {0.2, 0.8}, true, [](const double* x) { return x[0] * x[0] * (6 - 8 * x[0] + 3 * x[0] * x[0]); }},
    {"full_like", singles, [](const Value* x) { return graph::full_like(x[0], 3) * x[0]; }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return 3 * x[0]; }},
    {"zeros_like", singles, [](const Value* x) { return graph::zeros_like(x[0]) + x[0]; }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return x[0]; }},
    {"ones_like", singles, [](const Value* x) { return graph::ones_like(x[0]) + x[0]; }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return 1 + x[0]; }},
    {"abs", singles, [](const Value* x) { return graph::abs(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::fabs(x[0]); }},
    {"absolute", singles, [](const Value* x) { return graph::absolute(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::fabs(x[0]); }},
    {"fabs", singles, [](const Value* x) { return graph::fabs(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::fabs(x[0]); }},
    {"sign", singles, [](const Value* x) { return graph::sign(x[0]) * x[0]; }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::fabs(x[0]); }},
    {"square", singles, [](const Value* x) { return graph::square(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return x[0] * x[0]; }},
    {"reciprocal", singles, [](const Value* x) { return graph::reciprocal(x[0]); }, nullptr, RowTypes::floating, {0.3, 3}, true, [](const double* x) { return 1 / x[0]; }},
    {"negative", singles, [](const Value* x) { return graph::negative(x[0]); }, nullptr, RowTypes::signed_ones, {}, true, [](const double* x) { return -x[0]; }},
    {"positive", singles, [](const Value* x) { return graph::positive(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return x[0]; }},
    {"floor", singles, [](const Value* x) { return graph::floor(x[0]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return std::floor(x[0]); }},
    {"ceil", singles, [](const Value* x) { return graph::ceil(x[0]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return std::ceil(x[0]); }},
    {"round", singles, [](const Value* x) { return graph::round(x[0]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return std::nearbyint(x[0]); }},
    {"rint", singles, [](const Value* x) { return graph::rint(x[0]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return std::nearbyint(x[0]); }},
    {"trunc", singles, [](const Value* x) { return graph::trunc(x[0]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return std::trunc(x[0]); }},
    {"fix", singles, [](const Value* x) { return graph::fix(x[0]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return std::trunc(x[0]); }},
    {"signbit", singles, [](const Value* x) { return graph::signbit(x[0]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return std::signbit(x[0]) ? 1.0 : 0.0; }},
    {"isnan", singles, [](const Value* x) { return graph::isnan(x[0]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return std::isnan(x[0]) ? 1.0 : 0.0; }},
    {"isinf", singles, [](const Value* x) { return graph::isinf(x[0]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return std::isinf(x[0]) ? 1.0 : 0.0; }},
    {"isfinite", singles, [](const Value* x) { return graph::isfinite(x[0]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return std::isfinite(x[0]) ? 1.0 : 0.0; }},
    {"isposinf", singles, [](const Value* x) { return graph::isposinf(x[0]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return x[0] == HUGE_VAL ? 1.0 : 0.0; }},
    {"isneginf", singles, [](const Value* x) { return graph::isneginf(x[0]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return x[0] == -HUGE_VAL ? 1.0 : 0.0; }},
    {"logical_not", singles, [](const Value* x) { return graph::logical_not(x[0]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return x[0] == 0 ? 1.0 : 0.0; }},
    {"deg2rad", singles, [](const Value* x) { return graph::deg2rad(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return x[0] * std::acos(-1.0) / 180; }},
    {"radians", singles, [](const Value* x) { return graph::radians(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return x[0] * std::acos(-1.0) / 180; }},
    {"rad2deg", singles, [](const Value* x) { return graph::rad2deg(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return x[0] * 180 / std::acos(-1.0); }},
    {"degrees", singles, [](const Value* x) { return graph::degrees(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return x[0] * 180 / std::acos(-1.0); }},
    {"sinc", singles, [](const Value* x) { return graph::sinc(x[0]); }, nullptr, RowTypes::floating, {0.3, 1.5}, true, [](const double* x) { return x[0] == 0 ? 1.0 : std::sin(std::acos(-1.0) * x[0]) / (std::acos(-1.0) * x[0]); }},
    {"hardswish", singles, [](const Value* x) { return graph::hardswish(x[0]); }, nullptr, RowTypes::floating, {-1.5, 1.5}, true, [](const double* x) { return x[0] * std::min(std::max(x[0] + 3, 0.0), 6.0) / 6; }},
    {"invert", singles, [](const Value* x) { return graph::invert(x[0]); }, nullptr, RowTypes::integers_only, {}, false, [](const double* x) { return -x[0] - 1; }},
    {"bitwise_not", singles, [](const Value* x) { return graph::bitwise_not(x[0]); }, nullptr, RowTypes::integers_only, {}, false, [](const double* x) { return -x[0] - 1; }},
    {"add", pairs, [](const Value* x) { return graph::add(x[0], x[1]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return x[0] + x[1]; }},
    {"subtract", pairs, [](const Value* x) { return graph::subtract(x[0], x[1]); }, nullptr, RowTypes::signed_ones, {}, true, [](const double* x) { return x[0] - x[1]; }},
    {"multiply", pairs, [](const Value* x) { return graph::multiply(x[0], x[1]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return x[0] * x[1]; }},
    {"divide", pairs, [](const Value* x) { return graph::divide(x[0], x[1]); }, nullptr, RowTypes::numbers, {0.4, 2}, true, [](const double* x) { return x[0] / x[1]; }},
    {"true_divide", pairs, [](const Value* x) { return graph::true_divide(x[0], x[1]); }, nullptr, RowTypes::numbers, {0.4, 2}, true, [](const double* x) { return x[0] / x[1]; }},
    {"floor_divide", pairs, [](const Value* x) { return graph::floor_divide(x[0], x[1]); }, nullptr, RowTypes::floating, {0.4, 2}, false, [](const double* x) { return std::floor(x[0] / x[1]); }},
    {"floor_divide of integers", pairs, [](const Value* x) { return graph::floor_divide(x[0], x[1] * 2 + 1); }, nullptr, RowTypes::integers_only, {}, false, [](const double* x) { return std::floor(x[0] / (2 * x[1] + 1)); }},
    {"remainder", pairs, [](const Value* x) { return graph::remainder(x[0], x[1]); }, nullptr, RowTypes::floating, {0.4, 2}, false, [](const double* x) { return x[0] - std::floor(x[0] / x[1]) * x[1]; }},
    {"remainder of integers", pairs, [](const Value* x) { return graph::remainder(x[0], x[1] * 2 + 1); }, nullptr, RowTypes::integers_only, {}, false, [](const double* x) { return x[0] - std::floor(x[0] / (2 * x[1] + 1)) * (2 * x[1] + 1); }},
    {"mod", pairs, [](const Value* x) { return graph::mod(x[0], x[1]); }, nullptr, RowTypes::floating, {0.4, 2}, false, [](const double* x) { return x[0] - std::floor(x[0] / x[1]) * x[1]; }},
    {"mod of integers", pairs, [](const Value* x) { return graph::mod(x[0], x[1] * 2 + 1); }, nullptr, RowTypes::integers_only, {}, false, [](const double* x) { return x[0] - std::floor(x[0] / (2 * x[1] + 1)) * (2 * x[1] + 1); }},
    {"fmod", pairs, [](const Value* x) { return graph::fmod(x[0], x[1]); }, nullptr, RowTypes::floating, {0.4, 2}, false, [](const double* x) { return std::fmod(x[0], x[1]); }},
    {"fmod of integers", pairs, [](const Value* x) { return graph::fmod(x[0], x[1] * 2 + 1); }, nullptr, RowTypes::integers_only, {}, false, [](const double* x) { return std::fmod(x[0], 2 * x[1] + 1); }},
    {"power", pairs, [](const Value* x) { return graph::power(x[0], x[1]); }, nullptr, RowTypes::floating, {0.3, 2}, true, [](const double* x) { return std::pow(x[0], x[1]); }},
    {"pow", pairs, [](const Value* x) { return graph::pow(x[0], x[1]); }, nullptr, RowTypes::floating, {0.3, 2}, true, [](const double* x) { return std::pow(x[0], x[1]); }},
    {"power of integers", pairs, [](const Value* x) { return graph::power(x[0], graph::abs(x[1])); }, nullptr, RowTypes::integers_only, {}, false, [](const double* x) { return std::pow(x[0], std::fabs(x[1])); }},
    {"float_power", pairs, [](const Value* x) { return graph::float_power(x[0], x[1]); }, nullptr, RowTypes::numbers, {0.3, 2}, true, [](const double* x) { return std::pow(x[0], x[1]); }},
    {"maximum", pairs, [](const Value* x) { return graph::maximum(x[0], x[1]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::max(x[0], x[1]); }},
    {"minimum", pairs, [](const Value* x) { return graph::minimum(x[0], x[1]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::min(x[0], x[1]); }},
    {"fmax", pairs, [](const Value* x) { return graph::fmax(x[0], x[1]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::max(x[0], x[1]); }},
    {"fmin", pairs, [](const Value* x) { return graph::fmin(x[0], x[1]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::min(x[0], x[1]); }},
    {"atan2", pairs, [](const Value* x) { return graph::atan2(x[0], x[1]); }, nullptr, RowTypes::numbers, {0.3, 2}, true, [](const double* x) { return std::atan2(x[0], x[1]); }},
    {"arctan2", pairs, [](const Value* x) { return graph::arctan2(x[0], x[1]); }, nullptr, RowTypes::numbers, {0.3, 2}, true, [](const double* x) { return std::atan2(x[0], x[1]); }},
    {"hypot", pairs, [](const Value* x) { return graph::hypot(x[0], x[1]); }, nullptr, RowTypes::numbers, {0.3, 2}, true, [](const double* x) { return std::hypot(x[0], x[1]); }},
    {"copysign", pairs, [](const Value* x) { return graph::copysign(x[0], x[1]); }, nullptr, RowTypes::signed_ones, {0.3, 2}, true, [](const double* x) { return std::copysign(x[0], x[1]); }},
    {"nextafter", pairs, [](const Value* x) { return graph::nextafter(x[0], x[1]); }, nullptr, RowTypes::wide, {}, false, [](const double* x) { return std::nextafter(x[0], x[1]); }},
    {"spacing", singles, [](const Value* x) { return graph::spacing(x[0]); }, nullptr, RowTypes::wide, {}, false, [](const double* x) { return std::nextafter(std::fabs(x[0]), HUGE_VAL) - std::fabs(x[0]); }},
    {"heaviside", pairs, [](const Value* x) { return graph::heaviside(x[0], x[1]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return x[0] < 0 ? 0.0 : x[0] > 0 ? 1.0 : x[1]; }},
    {"ldexp", pairs, [](const Value* x) { return graph::ldexp(x[0], graph::round(x[1])) + x[1]; }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return std::ldexp(x[0], static_cast<int>(std::nearbyint(x[1]))) + x[1]; }},
    {"polygamma", singles, [](const Value* x) { return graph::polygamma(1, x[0]); }, nullptr, RowTypes::narrow, {0.8, 4}, false, [](const double* x) { return (std::lgamma(x[0] + 1e-3) - 2 * std::lgamma(x[0]) + std::lgamma(x[0] - 1e-3)) / 1e-6; }},
    {"equal", pairs, [](const Value* x) { return graph::equal(x[0], x[1]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return x[0] == x[1] ? 1.0 : 0.0; }},
    {"not_equal", pairs, [](const Value* x) { return graph::not_equal(x[0], x[1]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return x[0] != x[1] ? 1.0 : 0.0; }},
    {"less", pairs, [](const Value* x) { return graph::less(x[0], x[1]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return x[0] < x[1] ? 1.0 : 0.0; }},
    {"less_equal", pairs, [](const Value* x) { return graph::less_equal(x[0], x[1]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return x[0] <= x[1] ? 1.0 : 0.0; }},
    {"greater", pairs, [](const Value* x) { return graph::greater(x[0], x[1]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return x[0] > x[1] ? 1.0 : 0.0; }},
    {"greater_equal", pairs, [](const Value* x) { return graph::greater_equal(x[0], x[1]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return x[0] >= x[1] ? 1.0 : 0.0; }},
    {"logical_and", pairs, [](const Value* x) { return graph::logical_and(x[0], x[1]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return x[0] != 0 && x[1] != 0 ? 1.0 : 0.0; }},
    {"logical_or", pairs, [](const Value* x) { return graph::logical_or(x[0], x[1]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return x[0] != 0 || x[1] != 0 ? 1.0 : 0.0; }},
    {"logical_xor", pairs, [](const Value* x) { return graph::logical_xor(x[0], x[1]); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return (x[0] != 0) != (x[1] != 0) ? 1.0 : 0.0; }},
    {"bitwise_and", pairs, [](const Value* x) { return graph::bitwise_and(x[0], x[1]); }, nullptr, RowTypes::integers_only, {}, false, [](const double* x) { return static_cast<double>(whole(x[0]) & whole(x[1])); }},
    {"bitwise_or", pairs, [](const Value* x) { return graph::bitwise_or(x[0], x[1]); }, nullptr, RowTypes::integers_only, {}, false, [](const double* x) { return static_cast<double>(whole(x[0]) | whole(x[1])); }},
    {"bitwise_xor", pairs, [](const Value* x) { return graph::bitwise_xor(x[0], x[1]); }, nullptr, RowTypes::integers_only, {}, false, [](const double* x) { return static_cast<double>(whole(x[0]) ^ whole(x[1])); }},
    {"left_shift", pairs, [](const Value* x) { return graph::left_shift(x[0], graph::abs(x[1])); }, nullptr, RowTypes::integers_only, {}, false, [](const double* x) { return x[0] * std::exp2(std::fabs(x[1])); }},
    {"right_shift", pairs, [](const Value* x) { return graph::right_shift(x[0] * 9, graph::abs(x[1])); }, nullptr, RowTypes::integers_only, {}, false, [](const double* x) { return std::floor(9 * x[0] / std::exp2(std::fabs(x[1]))); }},
    {"gcd", pairs, [](const Value* x) { return graph::gcd(x[0], x[1]); }, nullptr, RowTypes::integers_only, {}, false, [](const double* x) { return static_cast<double>(std::gcd(whole(x[0]), whole(x[1]))); }},
    {"lcm", pairs, [](const Value* x) { return graph::lcm(x[0], x[1]); }, nullptr, RowTypes::integers_only, {}, false, [](const double* x) { return static_cast<double>(std::lcm(whole(x[0]), whole(x[1]))); }},
    {"logaddexp", pairs, [](const Value* x) { return graph::logaddexp(x[0], x[1]); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return std::log(std::exp(x[0]) + std::exp(x[1])); }},
    {"logaddexp2", pairs, [](const Value* x) { return graph::logaddexp2(x[0], x[1]); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return std::log2(std::exp2(x[0]) + std::exp2(x[1])); }},
    {"xlogy", pairs, [](const Value* x) { return graph::xlogy(x[0], x[1]); }, nullptr, RowTypes::floating, {0.3, 2}, true, [](const double* x) { return x[0] == 0 ? 0.0 : x[0] * std::log(x[1]); }},
    {"lerp", pairs, [](const Value* x) { return graph::lerp(x[0], x[1], 0.3); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return x[0] + 0.3 * (x[1] - x[0]); }},
    {"clamp", singles, [](const Value* x) { return graph::clamp(x[0], -1, 1); }, nullptr, RowTypes::signed_ones, {}, true, [](const double* x) { return std::min(std::max(x[0], -1.0), 1.0); }},
    {"clip", singles, [](const Value* x) { return graph::clip(x[0], -1, 1); }, nullptr, RowTypes::signed_ones, {}, true, [](const double* x) { return std::min(std::max(x[0], -1.0), 1.0); }},
    {"clamp_min", singles, [](const Value* x) { return graph::clamp_min(x[0], 1); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::max(x[0], 1.0); }},
    {"clamp_max", singles, [](const Value* x) { return graph::clamp_max(x[0], 1); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::min(x[0], 1.0); }},
    {"where", pairs, [](const Value* x) { return graph::where(x[0] < x[1], x[0] * 2, x[1]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return x[0] < x[1] ? x[0] * 2 : x[1]; }},
    {"cast", singles, [](const Value* x) { return graph::cast(graph::cast(x[0], DType::float64) + 1, DType::float32); }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return x[0] + 1; }},
    {"widened", singles, [](const Value* x) { return graph::widened(x[0]) * x[0]; }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return x[0] * x[0]; }},
    {"operators", pairs, [](const Value* x) { return (+x[0] + x[1] - -x[0] * x[1]) / (x[1] + 3); }, nullptr, RowTypes::floating, {-2, 2}, true, [](const double* x) { return (x[0] + x[1] - (-x[0]) * x[1]) / (x[1] + 3); }},
    {"operators of comparison", pairs, [](const Value* x) { return number(x[0] < x[1]) + number(x[0] <= x[1]) * 2 + number(x[0] > x[1]) * 4 + number(x[0] >= x[1]) * 8 +
           number(x[0] == x[1]) * 16 + number(x[0] != x[1]) * 32 + number(!(x[0] < x[1])) * 64; }, nullptr, RowTypes::numbers, {}, false, [](const double* x) { return (x[0] < x[1]) + 2.0 * (x[0] <= x[1]) + 4.0 * (x[0] > x[1]) + 8.0 * (x[0] >= x[1]) + 16.0 * (x[0] == x[1]) + 32.0 * (x[0] != x[1]) + 64.0 * !(x[0] < x[1]); }},
    {"operators of integers", pairs, [](const Value* x) { return ((x[0] & x[1]) | (x[0] ^ 5)) + ~x[1] + (x[0] << 2) - (x[1] >> 1) + x[0] % 3; }, nullptr, RowTypes::integers_only, {}, false, [](const double* x) { return static_cast<double>(((whole(x[0]) & whole(x[1])) | (whole(x[0]) ^ 5)) + ~whole(x[1]) + (whole(x[0]) << 2) - (whole(x[1]) >> 1)) + (x[0] - std::floor(x[0] / 3) * 3); }},
};
// clang-format on

/// The line that a refusal of operands of 4 and 5 elements names.
template <class F> constexpr int refused_line(F f) {
  graph::Graph graph{};
  use(f(in(graph, {4}), in(graph, {5})));
  return graph.fault.line;
}
constexpr int maximum_line = refused_line([](Value x, Value y) { return graph::maximum(x, y); });
static_assert(maximum_line == __LINE__ - 1);
constexpr int where_line = refused_line([](Value x, Value y) { return graph::where(x > 0, x, y); });
static_assert(where_line == __LINE__ - 1);
constexpr int clamp_line = refused_line([](Value x, Value y) { return graph::clamp(x, y, 2); });
static_assert(clamp_line == __LINE__ - 1);

} // namespace

TEST_CASE("elementwise functions are those of the standard library in every element type", "[graph][TRAIN-1]") {
  for (const OperationRow& row : functions) check_forward(row);
}

TEST_CASE("derivatives of elementwise functions agree with finite differences on operands that broadcast",
          "[graph][gradient][TRAIN-1]") {
  for (const OperationRow& row : functions) check_both_derivatives(row);
}
