#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Elementwise arithmetic on traced values: operators, named functions and casts. Operands broadcast and promote as
// core/promotion.hpp says; plain numbers take the type of the other operand. Read next: graph/functions.hpp.

#include <twill/core/config.hpp>
#include <twill/core/promotion.hpp>
#include <twill/graph/shape_functions.hpp>

namespace twill { inline namespace v0 { namespace graph {

/// Converts the elements to another type.
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

/// An operand of functions that mixed precision computes in float32: exponentials, logarithms, powers, sums.
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

/// A number in each element of a shape. A copy of the shape, which may be that of a node: nodes move.
[[nodiscard]] TWILL_CONSTEXPR Value filled(Graph& graph, DType dtype, Extents shape, double number) {
  return broadcast_to(constant(graph, dtype, number), shape);
}

/// A node of the graph, or zeros where there is none, -1.
[[nodiscard]] TWILL_CONSTEXPR Value value_or_zero(Graph& graph, int id, DType dtype, const Extents& shape) {
  return id >= 0 ? Value{graph, id} : filled(graph, dtype, shape, 0);
}

/// A node that reads one value, and has its type and shape.
[[nodiscard]] TWILL_CONSTEXPR Node node_over(Kind kind, Value value) {
  Node node{};
  node.kind = kind;
  node.dtype = value.dtype();
  node.shape = value.shape();
  node.arity = 1;
  node.inputs.items[0] = value.id();
  return node;
}

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
    graph.refuse(Problem::values_of_different_graphs, left.value.id(), right.value.id(), left.site);
    return {left.value, left.value};
  }
  const Value a = materialise(graph, left, dtype);
  const Value b = materialise(graph, right, dtype);
  graph.require_one_slot(a.id(), b.id(), left.site);
  if (b.rank() == 0) return {a, broadcast_to(b, a.node().shape)};
  if (a.rank() == 0) return {broadcast_to(a, b.node().shape), b};
  if (a.node().shape == b.node().shape) return {a, b};
  const Extents shape = broadcast_shape(graph, a.node().shape, b.node().shape, left.site);
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

/// A primitive of three real numbers: integers become float32.
[[nodiscard]] TWILL_CONSTEXPR Value ternary(Primitive primitive, const Term& first, const Term& second,
                                            const Term& third) {
  const Term* const terms[] = {&first, &second, &third};
  Graph* graph = nullptr;
  DType dtype = DType::boolean;
  for (const Term* term : terms) {
    if (term->is_number) continue;
    if (graph == nullptr) graph = &term->value.graph();
    dtype = promote(dtype, term->value.dtype());
  }
  dtype = floating_type(dtype);
  Value operands[3];
  Extents shape{};
  for (int i = 0; i < 3; ++i) {
    operands[i] = materialise(*graph, *terms[i], dtype);
    if (i > 0) graph->require_one_slot(operands[0].id(), operands[i].id(), first.site);
    shape = broadcast_shape(*graph, shape, operands[i].shape(), first.site);
  }
  return apply(primitive, dtype,
               {broadcast_to(operands[0], shape), broadcast_to(operands[1], shape), broadcast_to(operands[2], shape)});
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
// clang-format on

namespace detail {

/// Chooses elementwise: `left` where the condition holds, `right` elsewhere.
[[nodiscard]] TWILL_CONSTEXPR Value choose(Value condition, const Term& left, const Term& right) {
  Graph& graph = condition.graph();
  if (condition.dtype() != DType::boolean)
    graph.refuse(Problem::condition_of_where_is_not_bool, static_cast<int>(condition.dtype()), 0, left.site);
  DType dtype = left.is_number && right.is_number ? graph.element : common_dtype(left, right);
  const Value a = materialise(graph, left, dtype);
  const Value b = materialise(graph, right, dtype);
  graph.require_one_slot(a.id(), b.id(), left.site);
  graph.require_one_slot(condition.id(), a.id(), left.site);
  Extents shape = broadcast_shape(graph, a.shape(), b.shape(), left.site);
  shape = broadcast_shape(graph, condition.shape(), shape, left.site);
  return apply(Primitive::where, dtype,
               {broadcast_to(condition, shape), broadcast_to(a, shape), broadcast_to(b, shape)});
}

} // namespace detail

/// The value, through which no gradient flows.
[[nodiscard]] TWILL_CONSTEXPR Value stop_gradient(Value value) {
  return {value.graph(), value.graph().add(detail::node_over(Kind::stop_gradient, value))};
}

/// The value with a gradient rule of its own: `rule.vjp` gives the gradients of the operands, the nodes that made it
/// give none. The rule finds the operands as inputs from 1 on; a second gradient goes through what the rule emits.
[[nodiscard]] TWILL_CONSTEXPR Value with_rule(Value value, const Operation& rule,
                                              std::initializer_list<Value> operands) {
  Node node = detail::node_over(Kind::rule, value);
  node.operation = &rule;
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
[[nodiscard]] TWILL_CONSTEXPR Value run_scalar(Graph& graph, std::string_view name, double initial, DType dtype) {
  return {graph, graph.add_run_scalar(name, dtype, initial)};
}

}}} // namespace twill::v0::graph
