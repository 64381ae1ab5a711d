#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The table of everything that has a derivative. A primitive or reduction with a rule in graph/derivatives.hpp that no row
// uses makes tests/graph/gradient.test.cpp fail to compile, so a new one has to appear here. Rows stand in groups, because
// each group is compiled in a file of its own.

#include "tests/support/gradient_check.hpp"

#include <twill/nn/activations.hpp>
#include <twill/nn/losses.hpp>
#include <twill/ops/axes.hpp>
#include <twill/ops/matmul.hpp>

#include <tuple>

namespace twill::test {

using graph::KeepDims;
using graph::Value;

namespace detail {

inline constexpr std::array<Dims, 1> one_operand[]{{Dims(2, 3)}, {Dims(1)}, {Dims{}}, {Dims(0, 3)}, {Dims(7)}};
inline constexpr std::array<Dims, 2> two_operands[]{{Dims(2, 3), Dims(2, 3)}, {Dims(2, 3), Dims(3)},
                                                    {Dims(2, 1), Dims(1, 3)}, {Dims(1), Dims(1)},
                                                    {Dims{}, Dims(2, 2)},     {Dims(0, 3), Dims(3)}};
inline constexpr std::array<Dims, 3> three_operands[]{
    {Dims(2, 3), Dims(2, 3), Dims(2, 3)}, {Dims(2, 3), Dims(3), Dims(2, 1)}, {Dims{}, Dims(1), Dims(0)}};
inline constexpr std::array<Dims, 1> matrices[]{{Dims(3, 4)}, {Dims(1, 1)}, {Dims(5, 1)}, {Dims(1, 5)}, {Dims(2, 17)}};
inline constexpr std::array<Dims, 1> long_rows[]{{Dims(3, 4)}, {Dims(1, 5)}, {Dims(2, 17)}}; // whose elements differ
inline constexpr std::array<Dims, 1> blocks[]{{Dims(2, 3, 4)}, {Dims(1, 3, 1)}, {Dims(1, 1, 1)}};
inline constexpr std::array<Dims, 2> products[]{{Dims(2, 3), Dims(3, 4)},
                                                {Dims(1, 1), Dims(1, 1)},
                                                {Dims(5, 1), Dims(1, 2)},
                                                {Dims(0, 3), Dims(3, 2)},
                                                {Dims(2, 0), Dims(0, 3)}};
inline constexpr std::array<Dims, 2> right_transposed[]{{Dims(2, 3), Dims(4, 3)}, {Dims(1, 2), Dims(1, 2)}};
inline constexpr std::array<Dims, 2> left_transposed[]{{Dims(3, 2), Dims(3, 4)}, {Dims(2, 1), Dims(2, 1)}};
inline constexpr std::array<Dims, 2> batched[]{{Dims(2, 2, 3), Dims(2, 3, 2)}, {Dims(1, 1, 2), Dims(1, 2, 3)}};
inline constexpr std::array<Dims, 2> pairs[]{{Dims(3, 4), Dims(3, 4)}, {Dims(1, 1), Dims(1, 1)}, {Dims(5), Dims(5)}};

using One = Value (*)(Value);
using Two = Value (*)(Value, Value);
using Three = Value (*)(Value, Value, Value);

constexpr Row<1> row(std::string_view name, Range range, One f, double (*reference)(const double*) = nullptr) {
  return {name, {range}, f, one_operand, reference};
}
constexpr Row<2> row(std::string_view name, Range a, Range b, Two f, double (*reference)(const double*) = nullptr) {
  return {name, {a, b}, f, two_operands, reference};
}
constexpr Row<3> row(std::string_view name, Range a, Range b, Range c, Three f,
                     double (*reference)(const double*) = nullptr) {
  return {name, {a, b, c}, f, three_operands, reference};
}
template <std::size_t N, std::size_t Count>
constexpr Row<N> row_on(std::string_view name, const std::array<Dims, N> (&shapes)[Count], decltype(Row<N>::function) f,
                        Range range = {}) {
  Row<N> made{name, {}, f, shapes, nullptr};
  for (Range& each : made.ranges) each = range;
  return made;
}
template <std::size_t N> constexpr Row<N> with_step(Row<N> row, double step) {
  row.step = step;
  return row;
}

constexpr Value primitive(kernel::Primitive primitive, Value a, Value b) {
  return graph::detail::binary(primitive, a, b);
}

/// Labels 0, 1, 2, … for the rows of a batch, and again from 0 after the last class.
constexpr Value labels_for(Value logits) {
  graph::Extents rows{};
  rows.append(logits.shape()[0]);
  return graph::iota(logits.graph(), rows) % logits.size(-1);
}

/// A weight for each class.
constexpr Value weights_for(Value logits) {
  graph::Extents classes{};
  classes.append(logits.shape()[1]);
  return graph::iota(logits.graph(), classes) * 0.5 + 0.75;
}

} // namespace detail

// clang-format off
inline constexpr std::tuple arithmetic_rows{
    detail::row("negate", {}, [](Value x) { return -x; }, [](const double* x) { return -x[0]; }),
    detail::row("abs", {}, [](Value x) { return graph::abs(x); }, [](const double* x) { return std::fabs(x[0]); }),
    detail::row("square", {}, [](Value x) { return graph::square(x); }, [](const double* x) { return x[0] * x[0]; }),
    detail::row("sqrt", {0.2, 3}, [](Value x) { return graph::sqrt(x); }, [](const double* x) { return std::sqrt(x[0]); }),
    detail::row("rsqrt", {0.2, 3}, [](Value x) { return graph::rsqrt(x); }, [](const double* x) { return 1 / std::sqrt(x[0]); }),
    detail::row("reciprocal", {0.3, 3}, [](Value x) { return graph::reciprocal(x); }, [](const double* x) { return 1 / x[0]; }),
    detail::row("floor", {0.1, 0.9}, [](Value x) { return graph::floor(x) * x; }, [](const double* x) { return std::floor(x[0]) * x[0]; }),
    detail::row("sign", {}, [](Value x) { return graph::sign(x) * x; }, [](const double* x) { return std::fabs(x[0]); }),
    detail::row("add", {}, {}, [](Value a, Value b) { return a + b; }, [](const double* x) { return x[0] + x[1]; }),
    detail::row("subtract", {}, {}, [](Value a, Value b) { return a - b; }, [](const double* x) { return x[0] - x[1]; }),
    detail::row("multiply", {}, {}, [](Value a, Value b) { return a * b; }, [](const double* x) { return x[0] * x[1]; }),
    detail::row("divide", {}, {0.4, 2}, [](Value a, Value b) { return a / b; }, [](const double* x) { return x[0] / x[1]; }),
    detail::row("remainder", {2.1, 2.4}, {1.3, 1.9}, [](Value a, Value b) { return detail::primitive(kernel::Primitive::remainder, a, b); }, [](const double* x) { return std::fmod(x[0], x[1]); }),
    detail::row("remainder of a negative number", {-2.4, -2.1}, {1.3, 1.9}, [](Value a, Value b) { return detail::primitive(kernel::Primitive::remainder, a, b); }, [](const double* x) { return x[0] + 2 * x[1]; }),
    detail::row("power", {0.3, 2}, {-2, 2}, [](Value a, Value b) { return graph::power(a, b); }, [](const double* x) { return std::pow(x[0], x[1]); }),
    detail::row("power with a plain exponent", {-2, 2}, [](Value x) { return graph::power(x, 3); }, [](const double* x) { return x[0] * x[0] * x[0]; }),
    detail::row("maximum", {}, {}, [](Value a, Value b) { return graph::maximum(a, b); }, [](const double* x) { return std::max(x[0], x[1]); }),
    detail::row("minimum", {}, {}, [](Value a, Value b) { return graph::minimum(a, b); }, [](const double* x) { return std::min(x[0], x[1]); }),
    detail::row("where", {}, {}, [](Value a, Value b) { return graph::where(a < b, a * a, b * a); }, [](const double* x) { return x[0] < x[1] ? x[0] * x[0] : x[0] * x[1]; }),
    detail::row("where of three", {}, {}, {}, [](Value a, Value b, Value c) { return graph::where(a > 0.25, b * c, b * b); }, [](const double* x) { return x[0] > 0.25 ? x[1] * x[2] : x[1] * x[1]; }),
    detail::row("fma", {}, {}, {}, [](Value a, Value b, Value c) {
      const graph::Extents shape = graph::broadcast_shape(a.graph(), graph::broadcast_shape(a.graph(), a.shape(), b.shape(), {}), c.shape(), {});
      return graph::detail::apply(kernel::Primitive::fma, DType::float64, {graph::broadcast_to(a, shape), graph::broadcast_to(b, shape), graph::broadcast_to(c, shape)});
    }, [](const double* x) { return x[0] * x[1] + x[2]; }),
};

inline constexpr std::tuple transcendental_rows{
    detail::row("exp", {}, [](Value x) { return graph::exp(x); }, [](const double* x) { return std::exp(x[0]); }),
    detail::row("expm1", {}, [](Value x) { return graph::expm1(x); }, [](const double* x) { return std::expm1(x[0]); }),
    detail::row("log", {0.2, 3}, [](Value x) { return graph::log(x); }, [](const double* x) { return std::log(x[0]); }),
    detail::row("log1p", {-0.7, 3}, [](Value x) { return graph::log1p(x); }, [](const double* x) { return std::log1p(x[0]); }),
    detail::row("sin", {}, [](Value x) { return graph::sin(x); }, [](const double* x) { return std::sin(x[0]); }),
    detail::row("cos", {}, [](Value x) { return graph::cos(x); }, [](const double* x) { return std::cos(x[0]); }),
    detail::row("tan", {-1, 1}, [](Value x) { return graph::tan(x); }, [](const double* x) { return std::tan(x[0]); }),
    detail::row("asin", {-0.8, 0.8}, [](Value x) { return graph::asin(x); }, [](const double* x) { return std::asin(x[0]); }),
    detail::row("acos", {-0.8, 0.8}, [](Value x) { return graph::acos(x); }, [](const double* x) { return std::acos(x[0]); }),
    detail::row("atan", {}, [](Value x) { return graph::atan(x); }, [](const double* x) { return std::atan(x[0]); }),
    detail::row("sinh", {}, [](Value x) { return graph::sinh(x); }, [](const double* x) { return std::sinh(x[0]); }),
    detail::row("cosh", {}, [](Value x) { return graph::cosh(x); }, [](const double* x) { return std::cosh(x[0]); }),
    detail::row("tanh", {}, [](Value x) { return graph::tanh(x); }, [](const double* x) { return std::tanh(x[0]); }),
    detail::row("erf", {}, [](Value x) { return graph::erf(x); }, [](const double* x) { return std::erf(x[0]); }),
    detail::row("atan2", {0.3, 2}, {-2, 2}, [](Value a, Value b) { return graph::atan2(a, b); }, [](const double* x) { return std::atan2(x[0], x[1]); }),
};

// Those above fill a file; these are compiled in one of their own.
inline constexpr std::tuple special_rows{
    detail::row("exp2", {}, [](Value x) { return graph::exp2(x); }, [](const double* x) { return std::exp2(x[0]); }),
    detail::row("log2", {0.2, 3}, [](Value x) { return graph::log2(x); }, [](const double* x) { return std::log2(x[0]); }),
    detail::row("log10", {0.2, 3}, [](Value x) { return graph::log10(x); }, [](const double* x) { return std::log10(x[0]); }),
    detail::row("cbrt", {0.2, 3}, [](Value x) { return graph::cbrt(x); }, [](const double* x) { return std::cbrt(x[0]); }),
    detail::row("asinh", {}, [](Value x) { return graph::asinh(x); }, [](const double* x) { return std::asinh(x[0]); }),
    detail::row("acosh", {1.3, 4}, [](Value x) { return graph::acosh(x); }, [](const double* x) { return std::acosh(x[0]); }),
    detail::row("atanh", {-0.8, 0.8}, [](Value x) { return graph::atanh(x); }, [](const double* x) { return std::atanh(x[0]); }),
    detail::row("erfc", {}, [](Value x) { return graph::erfc(x); }, [](const double* x) { return std::erfc(x[0]); }),
    detail::row("erf_accurate", {}, [](Value x) { return graph::erf_accurate(x); }, [](const double* x) { return std::erf(x[0]); }),
    detail::row("tanh_accurate", {}, [](Value x) { return graph::tanh_accurate(x); }, [](const double* x) { return std::tanh(x[0]); }),
    detail::row("lgamma", {0.4, 4}, [](Value x) { return graph::lgamma(x); }, [](const double* x) { return std::lgamma(x[0]); }),
    detail::row("lgamma left of zero", {-1.8, -1.2}, [](Value x) { return graph::lgamma(x); }, [](const double* x) { return std::lgamma(x[0]); }),
    detail::row("digamma", {0.4, 4}, [](Value x) { return graph::digamma(x); }),
    detail::row("polygamma", {0.6, 4}, [](Value x) { return graph::polygamma(2, x); }),
    detail::row("erfinv", {-0.9, 0.9}, [](Value x) { return graph::erfinv(x); }),
    detail::row("ndtri", {0.05, 0.95}, [](Value x) { return graph::ndtri(x); }),
    detail::row("ndtr", {}, [](Value x) { return graph::ndtr(x); }, [](const double* x) { return 0.5 * std::erfc(-x[0] / std::sqrt(2.0)); }),
    detail::row("i0", {}, [](Value x) { return graph::i0(x); }, [](const double* x) { return std::cyl_bessel_i(0, std::fabs(x[0])); }),
    detail::row("i0e", {0.3, 2}, [](Value x) { return graph::i0e(x); }, [](const double* x) { return std::cyl_bessel_i(0, x[0]) * std::exp(-x[0]); }),
    detail::row("i1", {0.3, 2}, [](Value x) { return graph::i1(x); }, [](const double* x) { return std::cyl_bessel_i(1, x[0]); }),
    detail::row("i1e", {-2, -0.3}, [](Value x) { return graph::i1e(x); }, [](const double* x) { return -std::cyl_bessel_i(1, -x[0]) * std::exp(x[0]); }),
    detail::row("bessel_j0", {0.3, 2}, [](Value x) { return graph::bessel_j0(x); }, [](const double* x) { return std::cyl_bessel_j(0, x[0]); }),
    detail::row("bessel_j1", {0.3, 2}, [](Value x) { return graph::bessel_j1(x); }, [](const double* x) { return std::cyl_bessel_j(1, x[0]); }),
    detail::row("gammainc", {0.3, 3}, [](Value x) { return graph::gammainc(2, x); }, [](const double* x) { return 1 - std::exp(-x[0]) * (1 + x[0]); }),
    detail::row("gammaincc", {0.3, 3}, [](Value x) { return graph::gammaincc(2, x); }, [](const double* x) { return std::exp(-x[0]) * (1 + x[0]); }),
    detail::row("betainc", {0.2, 0.8}, [](Value x) { return graph::betainc(2, 3, x); }, [](const double* x) { return x[0] * x[0] * (6 - 8 * x[0] + 3 * x[0] * x[0]); }),
    detail::row("sinc", {0.3, 2}, [](Value x) { return graph::sinc(x); }, [](const double* x) { return std::sin(std::acos(-1.0) * x[0]) / (std::acos(-1.0) * x[0]); }),
    detail::row("hypot", {0.3, 2}, {-2, 2}, [](Value a, Value b) { return graph::hypot(a, b); }, [](const double* x) { return std::hypot(x[0], x[1]); }),
    detail::row("copysign", {0.3, 2}, {0.3, 2}, [](Value a, Value b) { return graph::copysign(a, b * -1); }, [](const double* x) { return -x[0]; }),
    detail::row("ldexp", {}, {0.6, 1.4}, [](Value a, Value b) { return graph::ldexp(a, graph::round(b)) * b; }, [](const double* x) { return 2 * x[0] * x[1]; }),
    detail::row("nextafter", {0.3, 2}, {3, 4}, [](Value a, Value b) { return graph::nextafter(a, b) * b; }, [](const double* x) { return x[0] * x[1]; }),
    detail::row("fmod", {2.1, 2.4}, {1.3, 1.9}, [](Value a, Value b) { return graph::fmod(a, b); }, [](const double* x) { return std::fmod(x[0], x[1]); }),
    detail::row("fmax", {}, {}, [](Value a, Value b) { return graph::fmax(a, b); }, [](const double* x) { return std::max(x[0], x[1]); }),
    detail::row("fmin", {}, {}, [](Value a, Value b) { return graph::fmin(a, b); }, [](const double* x) { return std::min(x[0], x[1]); }),
    detail::row("logaddexp", {}, {}, [](Value a, Value b) { return graph::logaddexp(a, b); }, [](const double* x) { return std::log(std::exp(x[0]) + std::exp(x[1])); }),
    detail::row("logaddexp2", {}, {}, [](Value a, Value b) { return graph::logaddexp2(a, b); }, [](const double* x) { return std::log2(std::exp2(x[0]) + std::exp2(x[1])); }),
    detail::row("xlogy", {}, {0.3, 2}, [](Value a, Value b) { return graph::xlogy(a, b); }, [](const double* x) { return x[0] * std::log(x[1]); }),
    detail::row("lerp", {}, {}, [](Value a, Value b) { return graph::lerp(a, b, 0.3); }, [](const double* x) { return x[0] + 0.3 * (x[1] - x[0]); }),
    detail::row("gelu_accurate", {}, [](Value x) { return graph::gelu_accurate(x); }, [](const double* x) { return 0.5 * x[0] * std::erfc(-x[0] / std::sqrt(2.0)); }),
};

inline constexpr std::tuple activation_rows{
    detail::row("relu", {}, [](Value x) { return graph::relu(x) * x; }, [](const double* x) { return x[0] > 0 ? x[0] * x[0] : 0; }),
    detail::row("leaky_relu", {}, [](Value x) { return graph::leaky_relu(x, 0.2); }, [](const double* x) { return x[0] > 0 ? x[0] : 0.2 * x[0]; }),
    detail::row("sigmoid", {-4, 4}, [](Value x) { return graph::sigmoid(x); }, [](const double* x) { return 1 / (1 + std::exp(-x[0])); }),
    detail::row("silu", {}, [](Value x) { return graph::silu(x); }, [](const double* x) { return x[0] / (1 + std::exp(-x[0])); }),
    detail::row("gelu", {}, [](Value x) { return graph::gelu(x); }, [](const double* x) { return 0.5 * x[0] * std::erfc(-x[0] / std::sqrt(2.0)); }),
    detail::row("gelu_tanh", {}, [](Value x) { return graph::gelu_tanh(x); }, [](const double* x) { return 0.5 * x[0] * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x[0] + 0.044715 * x[0] * x[0] * x[0]))); }),
    detail::row("softplus", {}, [](Value x) { return graph::softplus(x); }, [](const double* x) { return std::log(1 + std::exp(x[0])); }),
    detail::row("softsign", {}, [](Value x) { return graph::softsign(x); }, [](const double* x) { return x[0] / (1 + std::fabs(x[0])); }),
    detail::row("elu", {}, [](Value x) { return graph::elu(x, 1.5); }, [](const double* x) { return x[0] > 0 ? x[0] : 1.5 * std::expm1(x[0]); }),
    detail::row("logsigmoid", {}, [](Value x) { return graph::logsigmoid(x); }, [](const double* x) { return -std::log1p(std::exp(-x[0])); }),
    detail::row("mish", {}, [](Value x) { return graph::mish(x); }, [](const double* x) { return x[0] * std::tanh(std::log1p(std::exp(x[0]))); }),
    detail::row("celu", {}, [](Value x) { return graph::celu(x, 1.5); }, [](const double* x) { return x[0] > 0 ? x[0] : 1.5 * std::expm1(x[0] / 1.5); }),
    detail::row("selu", {}, [](Value x) { return graph::selu(x); }, [](const double* x) { return 1.0507009873554805 * (x[0] > 0 ? x[0] : 1.6732632423543772 * std::expm1(x[0])); }),
    detail::row("clamp", {}, [](Value x) { return graph::clamp(x, -1, 0.5) * x; }, [](const double* x) { return std::min(std::max(x[0], -1.0), 0.5) * x[0]; }),
};

inline constexpr std::tuple reduction_rows{
    detail::row_on("sum over 0", detail::matrices, [](Value x) { return graph::square(graph::sum(x * x, {0})); }),
    detail::row_on("sum over 1", detail::matrices, [](Value x) { return graph::square(graph::sum(x * x, {1}, KeepDims::yes)); }),
    detail::row_on("sum", detail::matrices, [](Value x) { return graph::square(graph::sum(x * x)); }),
    detail::row_on("sum over the middle", detail::blocks, [](Value x) { return graph::square(graph::sum(x * x, {1})); }),
    detail::row_on("sum over two axes", detail::blocks, [](Value x) { return graph::square(graph::sum(x * x, {0, -1})); }),
    detail::row_on("mean over 0", detail::matrices, [](Value x) { return graph::exp(graph::mean(x * x, {0}, KeepDims::yes)); }),
    detail::row_on("mean over -1", detail::matrices, [](Value x) { return graph::exp(graph::mean(x * x, {-1})); }),
    detail::row_on("mean", detail::matrices, [](Value x) { return graph::exp(graph::mean(x * x)); }),
    detail::row_on("max over 0", detail::matrices, [](Value x) { return graph::square(graph::max(x, {0})); }),
    detail::row_on("max over -1", detail::matrices, [](Value x) { return graph::square(graph::max(x, {-1}, KeepDims::yes)) * x; }),
    detail::row_on("max", detail::matrices, [](Value x) { return graph::square(graph::max(x)); }),
    detail::row_on("min over 0", detail::matrices, [](Value x) { return graph::square(graph::min(x, {0}, KeepDims::yes)); }),
    detail::row_on("min over 1", detail::matrices, [](Value x) { return graph::square(graph::min(x, {1})); }),
    detail::row_on("min", detail::matrices, [](Value x) { return graph::square(graph::min(x)); }),
    detail::row_on("prod over 0", detail::matrices, [](Value x) { return graph::prod(x, {0}); }, {0.4, 1.6}),
    detail::row_on("prod over -1", detail::matrices, [](Value x) { return graph::prod(x, {-1}, KeepDims::yes) * x; }, {0.4, 1.6}),
    detail::row_on("var over 0", detail::matrices, [](Value x) { return graph::square(graph::var(x, {0})); }),
    detail::row_on("stddev", detail::long_rows, [](Value x) { return graph::stddev<1>(x, correction<1>); }),
    detail::row_on("ptp", detail::matrices, [](Value x) { return graph::ptp<1>(x) * graph::sum<1>(x); }),
    detail::row_on("squeeze", detail::matrices, [](Value x) { return graph::squeeze(graph::expand_dims<0>(graph::square(x)), 0); }),
    detail::row_on("swapaxes", detail::matrices, [](Value x) { return graph::swapaxes<0, 1>(graph::square(x)); }),
    detail::row_on("var over -1", detail::matrices, [](Value x) { return x * graph::var(x, {-1}, 0, KeepDims::yes); }),
};

inline constexpr std::tuple shape_rows{
    detail::row_on("broadcast", detail::matrices, [](Value x) {
      graph::Extents shape{};
      shape.append({2, 0});
      shape.append(x.shape()[0]);
      shape.append(x.shape()[1]);
      return graph::square(graph::broadcast_to(x, shape));
    }),
    detail::row_on("reshape", detail::blocks, [](Value x) { return graph::square(graph::sum(graph::flatten(x * x, 0), {0}, KeepDims::yes)); }),
    detail::row_on("flatten", detail::blocks, [](Value x) { return graph::square(graph::sum(graph::flatten(x * x), {1})); }),
    detail::row_on("transpose", detail::matrices, [](Value x) { return graph::square(graph::sum(graph::transpose(x * x), {0})) * graph::sum(x); }),
    detail::row_on("transpose of three axes", detail::blocks, [](Value x) { return graph::square(graph::sum(graph::transpose(x * x, {2, 0, 1}), {-1})); }),
    detail::row_on("unsqueeze", detail::matrices, [](Value x) { return graph::unsqueeze(x, 1) * graph::unsqueeze(x, 0); }),
    detail::with_step(detail::row_on("cast", detail::matrices, [](Value x) { return graph::square(graph::cast(x, DType::float32)); }), 1e-2),
    detail::row_on("matmul", detail::products, [](Value a, Value b) { return graph::square(graph::matmul(a, b)); }),
    detail::row_on("matmul by a transposed right side", detail::right_transposed, [](Value a, Value b) { return graph::square(graph::matmul(a, graph::transpose(b))); }),
    detail::row_on("matmul of a transposed left side", detail::left_transposed, [](Value a, Value b) { return graph::square(graph::matmul(graph::transpose(a), b)); }),
    detail::row_on("batched matmul", detail::batched, [](Value a, Value b) { return graph::square(graph::matmul(a, b)); }),
    detail::row_on("a matrix by its own transpose", detail::matrices, [](Value x) { return graph::tanh(graph::matmul(x, graph::transpose(x)) * 0.1); }),
};

inline constexpr std::tuple loss_rows{
    detail::row_on("softmax over -1", detail::matrices, [](Value x) { return graph::softmax(x) * x; }),
    detail::row_on("softmax over 0", detail::matrices, [](Value x) { return graph::softmax(x, 0); }),
    detail::row_on("log_softmax over -1", detail::matrices, [](Value x) { return graph::square(graph::log_softmax(x)); }),
    detail::row_on("log_softmax over 0", detail::matrices, [](Value x) { return graph::square(graph::log_softmax(x, 0)); }),
    detail::row_on("logsumexp", detail::matrices, [](Value x) { return graph::square(graph::logsumexp(x)); }),
    detail::row_on("cross_entropy", detail::matrices, [](Value x) { return nn::cross_entropy(x, detail::labels_for(x)); }),
    detail::row_on("cross_entropy of smoothed labels and weighted classes", detail::matrices, [](Value x) { return nn::cross_entropy(x, detail::labels_for(x), {.label_smoothing = 0.2, .ignore_index = 2, .weight = detail::weights_for(x)}); }),
    detail::row_on("cross_entropy of classes on the first axis", detail::matrices, [](Value x) { return nn::cross_entropy(x, detail::labels_for(graph::transpose(x)), {.axis = 0, .reduce = nn::Reduce::sum}); }),
    detail::row_on("nll", detail::matrices, [](Value x) { return nn::nll(graph::square(x), detail::labels_for(x), {.weight = detail::weights_for(x)}); }),
    detail::row_on("huber", detail::pairs, [](Value a, Value b) { return nn::huber(a * 2, b, {.delta = 0.7}); }),
    detail::row_on("smooth_l1", detail::pairs, [](Value a, Value b) { return nn::smooth_l1(a * 2, b, {.beta = 0.7, .reduce = nn::Reduce::sum}); }),
    detail::row_on("bce_with_logits of weighted positives", detail::pairs, [](Value a, Value b) { return nn::bce_with_logits(a, graph::sigmoid(b), {.pos_weight = 2.5, .weight = graph::square(b)}); }),
    detail::row_on("bce", detail::pairs, [](Value a, Value b) { return nn::bce(graph::sigmoid(a), graph::sigmoid(b)); }),
    detail::row_on("kl_divergence", detail::pairs, [](Value a, Value b) { return nn::kl_divergence(a, graph::sigmoid(b), {.reduce = nn::KlReduce::batch_mean}); }),
    detail::row_on("mse", detail::pairs, [](Value a, Value b) { return nn::mse(a, b); }),
    detail::row_on("l1", detail::pairs, [](Value a, Value b) { return nn::l1(a, b * b); }),
    detail::row_on("bce_with_logits", detail::pairs, [](Value a, Value b) { return nn::bce_with_logits(a, graph::sigmoid(b)); }),
};
// clang-format on

inline constexpr std::tuple all_rows = std::tuple_cat(arithmetic_rows, transcendental_rows, special_rows,
                                                      activation_rows, reduction_rows, shape_rows, loss_rows);

} // namespace twill::test
