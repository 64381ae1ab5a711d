#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Elementwise arithmetic on traced values: operators, named functions and casts. Operands broadcast and promote as
// core/promotion.hpp says; plain numbers take the type of the other operand. Read next: graph/functions.hpp.

#include <twill/core/config.hpp>
#include <twill/core/promotion.hpp>
#include <twill/graph/shape_functions.hpp>

namespace twill::inline v0::graph {

/// The same elements as another type.
[[nodiscard]] TWILL_CONSTEXPR Value cast(Value value, DType dtype) {
  const Node& source = value.node();
  if (source.dtype == dtype) return value;
  Node node{};
  node.kind = Kind::cast;
  node.dtype = dtype;
  node.shape = source.shape;
  node.arity = 1;
  node.inputs[0] = value.id();
  return {value.graph(), value.graph().add(node)};
}

/// The value for computing in float32 at least.
[[nodiscard]] TWILL_CONSTEXPR Value widened(Value value) {
  return value.dtype() == DType::float64 ? value : cast(value, DType::float32);
}

namespace detail {

/// An operand of a matrix product or convolution, which mixed precision computes in a narrow type.
[[nodiscard]] TWILL_CONSTEXPR Value autocast_to_narrow(Value value) {
  const DType narrow = value.graph().autocast;
  return narrow != DType::float32 && value.dtype() == DType::float32 ? cast(value, narrow) : value;
}

/// An operand of what mixed precision computes in float32: exponentials, logarithms, powers, sums.
[[nodiscard]] TWILL_CONSTEXPR Value autocast_to_wide(Value value) {
  return value.graph().autocast != DType::float32 && is_floating(value.dtype()) ? widened(value) : value;
}

[[nodiscard]] TWILL_CONSTEXPR bool is_wide_in_autocast(Primitive primitive) {
  switch (primitive) {
  case Primitive::exp:
  case Primitive::expm1:
  case Primitive::exp2:
  case Primitive::log:
  case Primitive::log1p:
  case Primitive::log2:
  case Primitive::log10:
  case Primitive::power:
  case Primitive::rsqrt:
  case Primitive::reciprocal:
    return true;
  default:
    return false;
  }
}

} // namespace detail

/// A scalar of the graph.
[[nodiscard]] TWILL_CONSTEXPR Value constant(Graph& graph, DType dtype, double number, Extent over = {}) {
  return {graph, graph.add_constant(dtype, number, over)};
}

namespace detail {

[[nodiscard]] TWILL_CONSTEXPR Value apply(Primitive primitive, DType dtype, std::initializer_list<Value> operands) {
  Node node{};
  node.kind = Kind::primitive;
  node.primitive = primitive;
  node.dtype = dtype;
  for (const Value& operand : operands) node.inputs[node.arity++] = operand.id();
  Graph& graph = operands.begin()->graph();
  node.shape = operands.begin()->node().shape;
  return {graph, graph.add(node)};
}

[[nodiscard]] TWILL_CONSTEXPR DType common_dtype(const Term& left, const Term& right) {
  if (left.is_number)
    return is_floating(right.value.dtype()) || !left.is_floating_number ? right.value.dtype() : DType::float32;
  if (right.is_number)
    return is_floating(left.value.dtype()) || !right.is_floating_number ? left.value.dtype() : DType::float32;
  return promote(left.value.dtype(), right.value.dtype());
}

[[nodiscard]] TWILL_CONSTEXPR Value materialise(Graph& graph, const Term& term, DType dtype) {
  return term.is_number ? constant(graph, dtype, term.number) : cast(term.value, dtype);
}

struct Pair {
  Value left{};
  Value right{};
};

/// Both operands in one type and one shape.
[[nodiscard]] TWILL_CONSTEXPR Pair aligned(const Term& left, const Term& right, DType dtype) {
  Graph& graph = left.is_number ? right.value.graph() : left.value.graph();
  if (!left.is_number && !right.is_number && &left.value.graph() != &right.value.graph()) {
    graph.refuse(Problem::values_of_different_graphs, left.value.id(), right.value.id(), left.line);
    return {left.value, left.value};
  }
  const Value a = materialise(graph, left, dtype);
  const Value b = materialise(graph, right, dtype);
  graph.require_one_slot(a.id(), b.id(), left.line);
  const Extents shape = broadcast_shape(graph, a.node().shape, b.node().shape, left.line);
  return {broadcast_to(a, shape), broadcast_to(b, shape)};
}

[[nodiscard]] TWILL_CONSTEXPR Value binary(Primitive primitive, const Term& left, const Term& right) {
  DType dtype = common_dtype(left, right);
  const Graph& graph = left.is_number ? right.value.graph() : left.value.graph();
  if (graph.autocast != DType::float32 && is_wide_in_autocast(primitive) && is_floating(dtype))
    dtype = promote(dtype, DType::float32);
  const kernel::Family family = info(primitive).family;
  if (family == kernel::Family::floating) dtype = floating_type(dtype);
  if (family == kernel::Family::logical) dtype = DType::boolean;
  const Pair operands = aligned(left, right, dtype);
  return apply(primitive, info(primitive).boolean_result ? DType::boolean : dtype, {operands.left, operands.right});
}

/// requires: the primitive has one operand; those of real analysis turn integers into float32
[[nodiscard]] TWILL_CONSTEXPR Value unary(Primitive primitive, Value value) {
  if (is_wide_in_autocast(primitive)) value = autocast_to_wide(value);
  if (info(primitive).boolean_result) return apply(primitive, DType::boolean, {value});
  const kernel::Family family = info(primitive).family;
  if (family == kernel::Family::rounding && !is_floating(value.dtype())) return value;
  const Value operand = family == kernel::Family::floating ? cast(value, floating_type(value.dtype())) : value;
  return apply(primitive, operand.dtype(), {operand});
}

} // namespace detail

// clang-format off
/// The operators of C++, element by element: shapes broadcast, a plain number takes the other operand's type.
[[nodiscard]] constexpr Value operator+(Term left, Term right) { return detail::binary(Primitive::add, left, right); }
[[nodiscard]] constexpr Value operator-(Term left, Term right) { return detail::binary(Primitive::subtract, left, right); }
[[nodiscard]] constexpr Value operator*(Term left, Term right) { return detail::binary(Primitive::multiply, left, right); }
[[nodiscard]] constexpr Value operator/(Term left, Term right) { return detail::binary(Primitive::divide, left, right); }
[[nodiscard]] constexpr Value operator<(Term left, Term right) { return detail::binary(Primitive::less, left, right); }
[[nodiscard]] constexpr Value operator<=(Term left, Term right) { return detail::binary(Primitive::less_equal, left, right); }
[[nodiscard]] constexpr Value operator>(Term left, Term right) { return detail::binary(Primitive::greater, left, right); }
[[nodiscard]] constexpr Value operator>=(Term left, Term right) { return detail::binary(Primitive::greater_equal, left, right); }
[[nodiscard]] constexpr Value operator%(Term left, Term right) { return detail::binary(Primitive::remainder, left, right); }
[[nodiscard]] constexpr Value operator&(Term left, Term right) { return detail::binary(Primitive::bitwise_and, left, right); }
[[nodiscard]] constexpr Value operator|(Term left, Term right) { return detail::binary(Primitive::bitwise_or, left, right); }
[[nodiscard]] constexpr Value operator^(Term left, Term right) { return detail::binary(Primitive::bitwise_xor, left, right); }
[[nodiscard]] constexpr Value operator<<(Term left, Term right) { return detail::binary(Primitive::left_shift, left, right); }
[[nodiscard]] constexpr Value operator>>(Term left, Term right) { return detail::binary(Primitive::right_shift, left, right); }
[[nodiscard]] constexpr Value operator==(Term left, Term right) { return detail::binary(Primitive::equal, left, right); }
[[nodiscard]] constexpr Value operator!=(Term left, Term right) { return detail::binary(Primitive::not_equal, left, right); }
[[nodiscard]] constexpr Value operator-(Value x) { return detail::unary(Primitive::negate, x); }
[[nodiscard]] constexpr Value operator!(Value x) { return detail::unary(Primitive::logical_not, x); }
[[nodiscard]] constexpr Value operator~(Value x) { return detail::unary(Primitive::invert, x); }
[[nodiscard]] constexpr Value operator+(Value x) { return x; }

/// NumPy's functions, element by element: shapes broadcast, a plain number takes the other operand's type.
[[nodiscard]] constexpr Value add(Term left, Term right) { return detail::binary(Primitive::add, left, right); }
[[nodiscard]] constexpr Value subtract(Term left, Term right) { return detail::binary(Primitive::subtract, left, right); }
[[nodiscard]] constexpr Value multiply(Term left, Term right) { return detail::binary(Primitive::multiply, left, right); }
[[nodiscard]] constexpr Value divide(Term left, Term right) { return detail::binary(Primitive::divide, left, right); }
[[nodiscard]] constexpr Value floor_divide(Term left, Term right) { return detail::binary(Primitive::floor_divide, left, right); }
[[nodiscard]] constexpr Value remainder(Term left, Term right) { return detail::binary(Primitive::remainder, left, right); }
[[nodiscard]] constexpr Value fmod(Term left, Term right) { return detail::binary(Primitive::fmod, left, right); }
[[nodiscard]] constexpr Value power(Term left, Term right) { return detail::binary(Primitive::power, left, right); }
[[nodiscard]] constexpr Value maximum(Term left, Term right) { return detail::binary(Primitive::maximum, left, right); }
[[nodiscard]] constexpr Value minimum(Term left, Term right) { return detail::binary(Primitive::minimum, left, right); }
[[nodiscard]] constexpr Value atan2(Term left, Term right) { return detail::binary(Primitive::atan2, left, right); }
[[nodiscard]] constexpr Value hypot(Term left, Term right) { return detail::binary(Primitive::hypot, left, right); }
[[nodiscard]] constexpr Value copysign(Term left, Term right) { return detail::binary(Primitive::copysign, left, right); }
[[nodiscard]] constexpr Value nextafter(Term left, Term right) { return detail::binary(Primitive::nextafter, left, right); }
[[nodiscard]] constexpr Value ldexp(Term left, Term right) { return detail::binary(Primitive::ldexp, left, right); }
[[nodiscard]] constexpr Value polygamma(Term left, Term right) { return detail::binary(Primitive::polygamma, left, right); }
[[nodiscard]] constexpr Value equal(Term left, Term right) { return detail::binary(Primitive::equal, left, right); }
[[nodiscard]] constexpr Value not_equal(Term left, Term right) { return detail::binary(Primitive::not_equal, left, right); }
[[nodiscard]] constexpr Value less(Term left, Term right) { return detail::binary(Primitive::less, left, right); }
[[nodiscard]] constexpr Value less_equal(Term left, Term right) { return detail::binary(Primitive::less_equal, left, right); }
[[nodiscard]] constexpr Value greater(Term left, Term right) { return detail::binary(Primitive::greater, left, right); }
[[nodiscard]] constexpr Value greater_equal(Term left, Term right) { return detail::binary(Primitive::greater_equal, left, right); }
[[nodiscard]] constexpr Value logical_and(Term left, Term right) { return detail::binary(Primitive::logical_and, left, right); }
[[nodiscard]] constexpr Value logical_or(Term left, Term right) { return detail::binary(Primitive::logical_or, left, right); }
[[nodiscard]] constexpr Value logical_xor(Term left, Term right) { return detail::binary(Primitive::logical_xor, left, right); }
[[nodiscard]] constexpr Value bitwise_and(Term left, Term right) { return detail::binary(Primitive::bitwise_and, left, right); }
[[nodiscard]] constexpr Value bitwise_or(Term left, Term right) { return detail::binary(Primitive::bitwise_or, left, right); }
[[nodiscard]] constexpr Value bitwise_xor(Term left, Term right) { return detail::binary(Primitive::bitwise_xor, left, right); }
[[nodiscard]] constexpr Value left_shift(Term left, Term right) { return detail::binary(Primitive::left_shift, left, right); }
[[nodiscard]] constexpr Value right_shift(Term left, Term right) { return detail::binary(Primitive::right_shift, left, right); }
[[nodiscard]] constexpr Value gcd(Term left, Term right) { return detail::binary(Primitive::gcd, left, right); }
[[nodiscard]] constexpr Value abs(Value x) { return detail::unary(Primitive::abs, x); }
[[nodiscard]] constexpr Value sign(Value x) { return detail::unary(Primitive::sign, x); }
[[nodiscard]] constexpr Value square(Value x) { return detail::unary(Primitive::square, x); }
[[nodiscard]] constexpr Value sqrt(Value x) { return detail::unary(Primitive::sqrt, x); }
[[nodiscard]] constexpr Value rsqrt(Value x) { return detail::unary(Primitive::rsqrt, x); }
[[nodiscard]] constexpr Value reciprocal(Value x) { return detail::unary(Primitive::reciprocal, x); }
[[nodiscard]] constexpr Value floor(Value x) { return detail::unary(Primitive::floor, x); }
[[nodiscard]] constexpr Value ceil(Value x) { return detail::unary(Primitive::ceil, x); }
[[nodiscard]] constexpr Value round(Value x) { return detail::unary(Primitive::round, x); }
[[nodiscard]] constexpr Value trunc(Value x) { return detail::unary(Primitive::trunc, x); }
[[nodiscard]] constexpr Value exp(Value x) { return detail::unary(Primitive::exp, x); }
[[nodiscard]] constexpr Value expm1(Value x) { return detail::unary(Primitive::expm1, x); }
[[nodiscard]] constexpr Value exp2(Value x) { return detail::unary(Primitive::exp2, x); }
[[nodiscard]] constexpr Value log(Value x) { return detail::unary(Primitive::log, x); }
[[nodiscard]] constexpr Value log1p(Value x) { return detail::unary(Primitive::log1p, x); }
[[nodiscard]] constexpr Value log2(Value x) { return detail::unary(Primitive::log2, x); }
[[nodiscard]] constexpr Value log10(Value x) { return detail::unary(Primitive::log10, x); }
[[nodiscard]] constexpr Value cbrt(Value x) { return detail::unary(Primitive::cbrt, x); }
[[nodiscard]] constexpr Value sin(Value x) { return detail::unary(Primitive::sin, x); }
[[nodiscard]] constexpr Value cos(Value x) { return detail::unary(Primitive::cos, x); }
[[nodiscard]] constexpr Value tan(Value x) { return detail::unary(Primitive::tan, x); }
[[nodiscard]] constexpr Value asin(Value x) { return detail::unary(Primitive::asin, x); }
[[nodiscard]] constexpr Value acos(Value x) { return detail::unary(Primitive::acos, x); }
[[nodiscard]] constexpr Value atan(Value x) { return detail::unary(Primitive::atan, x); }
[[nodiscard]] constexpr Value sinh(Value x) { return detail::unary(Primitive::sinh, x); }
[[nodiscard]] constexpr Value cosh(Value x) { return detail::unary(Primitive::cosh, x); }
[[nodiscard]] constexpr Value tanh(Value x) { return detail::unary(Primitive::tanh, x); }
[[nodiscard]] constexpr Value asinh(Value x) { return detail::unary(Primitive::asinh, x); }
[[nodiscard]] constexpr Value acosh(Value x) { return detail::unary(Primitive::acosh, x); }
[[nodiscard]] constexpr Value atanh(Value x) { return detail::unary(Primitive::atanh, x); }
[[nodiscard]] constexpr Value erf(Value x) { return detail::unary(Primitive::erf, x); }
[[nodiscard]] constexpr Value erfc(Value x) { return detail::unary(Primitive::erfc, x); }
[[nodiscard]] constexpr Value lgamma(Value x) { return detail::unary(Primitive::lgamma, x); }
[[nodiscard]] constexpr Value digamma(Value x) { return detail::unary(Primitive::digamma, x); }
[[nodiscard]] constexpr Value tanh_accurate(Value x) { return detail::unary(Primitive::tanh_accurate, x); }
[[nodiscard]] constexpr Value erf_accurate(Value x) { return detail::unary(Primitive::erf_accurate, x); }
[[nodiscard]] constexpr Value logical_not(Value x) { return detail::unary(Primitive::logical_not, x); }
[[nodiscard]] constexpr Value isnan(Value x) { return detail::unary(Primitive::isnan, x); }
[[nodiscard]] constexpr Value isinf(Value x) { return detail::unary(Primitive::isinf, x); }
[[nodiscard]] constexpr Value isfinite(Value x) { return detail::unary(Primitive::isfinite, x); }
[[nodiscard]] constexpr Value invert(Value x) { return detail::unary(Primitive::invert, x); }
// clang-format on

/// Chooses elementwise: `left` where the condition holds, `right` elsewhere.
[[nodiscard]] TWILL_CONSTEXPR Value where(Value condition, Term left, Term right) {
  Graph& graph = condition.graph();
  if (condition.dtype() != DType::boolean)
    graph.refuse(Problem::condition_of_where_is_not_bool, static_cast<int>(condition.dtype()), 0, left.line);
  DType dtype = left.is_number && right.is_number ? graph.element : detail::common_dtype(left, right);
  const Value a = detail::materialise(graph, left, dtype);
  const Value b = detail::materialise(graph, right, dtype);
  graph.require_one_slot(a.id(), b.id(), left.line);
  graph.require_one_slot(condition.id(), a.id(), left.line);
  Extents shape = broadcast_shape(graph, a.shape(), b.shape(), left.line);
  shape = broadcast_shape(graph, condition.shape(), shape, left.line);
  return detail::apply(Primitive::where, dtype,
                       {broadcast_to(condition, shape), broadcast_to(a, shape), broadcast_to(b, shape)});
}

/// The value, through which no gradient flows.
[[nodiscard]] TWILL_CONSTEXPR Value stop_gradient(Value value) {
  Node node{};
  node.kind = Kind::stop_gradient;
  node.dtype = value.dtype();
  node.shape = value.shape();
  node.arity = 1;
  node.inputs[0] = value.id();
  return {value.graph(), value.graph().add(node)};
}

/// The value with a gradient of its own: `rule.vjp` gives those of the operands, and how the value was made gives none. The
/// rule finds the operands as inputs from 1 on; a second gradient goes through what the rule emits.
[[nodiscard]] TWILL_CONSTEXPR Value with_rule(Value value, const Operation& rule,
                                              std::initializer_list<Value> operands) {
  Node node{};
  node.kind = Kind::rule;
  node.dtype = value.dtype();
  node.shape = value.shape();
  node.operation = &rule;
  node.inputs.items[0] = value.id();
  node.arity = 1;
  for (const Value& operand : operands) node.inputs.items[node.arity++] = operand.id();
  return {value.graph(), value.graph().add(node)};
}

/// The row-major position of each element of a shape, as int64.
[[nodiscard]] TWILL_CONSTEXPR Value iota(Graph& graph, const Extents& shape) {
  Node node{};
  node.kind = Kind::iota;
  node.dtype = DType::int64;
  node.shape = shape;
  return {graph, graph.add(node)};
}

/// A scalar that the caller may change between runs.
[[nodiscard]] TWILL_CONSTEXPR Value knob(Graph& graph, std::string_view name, double initial, DType dtype) {
  return {graph, graph.add_knob(name, dtype, initial)};
}

} // namespace twill::inline v0::graph
