#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Vector-Jacobian products of all nodes except operations with a file of their own. A rule emits ordinary nodes, so
// gradients are fused and differentiated again like anything else. Rules read the result rather than the operand where
// both would do, because the result is kept more often. Read next: graph/gradient.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/graph.hpp>
#include <twill/graph/reductions.hpp>

namespace twill { inline namespace v0 { namespace graph { namespace detail {

/// The number that was broadcast to the value's shape; null if the value is something else.
[[nodiscard]] TWILL_CONSTEXPR const Node* constant_of(Value value) {
  const Node& node = value.node();
  const Node& source = node.kind == Kind::broadcast ? value.graph().node(node.input(0)) : node;
  return source.kind == Kind::constant ? &source : nullptr;
}

/// y / x for a Bessel function y of order 1, which is 1 / 2 at 0.
TWILL_CONSTEXPR Value quotient_at_zero(Value y, Value x) {
  const Value is_zero = equal(x, 0);
  return where(is_zero, 0.5, y / where(is_zero, 1, x));
}

/// Rules of primitives with one operand x and result y, for the gradient g of y.
TWILL_CONSTEXPR Value unary_gradient(Primitive primitive, Value x, Value y, Value g) {
  constexpr double two_over_sqrt_pi = 1.1283791670955125738961589031215452;
  constexpr double root_pi_over_two = 0.88622692545275801364908374167057;
  constexpr double root_two_pi = 2.5066282746310005024157652848110453;
  constexpr double ln2 = 0.69314718055994530941723212145817657;
  constexpr double ln10 = 2.3025850929940456840179914546843642;
  switch (primitive) {
  case Primitive::negate:
    return -g;
  case Primitive::abs:
    return g * sign(x);
  case Primitive::square:
    return g * (x * 2);
  case Primitive::sqrt:
    return g * 0.5 / y;
  case Primitive::rsqrt:
    return g * -0.5 * (y * y * y);
  case Primitive::reciprocal:
    return -(g * (y * y));
  case Primitive::exp:
    return g * y;
  case Primitive::expm1:
    return g * (y + 1);
  case Primitive::log:
    return g / x;
  case Primitive::log1p:
    return g / (x + 1);
  case Primitive::sin:
    return g * cos(x);
  case Primitive::cos:
    return -(g * sin(x));
  case Primitive::tan:
    return g * (y * y + 1);
  case Primitive::asin:
    return g * rsqrt(1 - x * x);
  case Primitive::acos:
    return -(g * rsqrt(1 - x * x));
  case Primitive::atan:
    return g / (x * x + 1);
  case Primitive::sinh:
    return g * cosh(x);
  case Primitive::cosh:
    return g * sinh(x);
  case Primitive::tanh:
  case Primitive::tanh_accurate:
    return g * (1 - y * y);
  case Primitive::exp2:
    return g * (y * ln2);
  case Primitive::log2:
    return g / (x * ln2);
  case Primitive::log10:
    return g / (x * ln10);
  case Primitive::cbrt:
    return g / (y * y * 3);
  case Primitive::asinh:
    return g * rsqrt(x * x + 1);
  case Primitive::acosh:
    return g * rsqrt(x * x - 1);
  case Primitive::atanh:
    return g / (1 - x * x);
  case Primitive::erfc:
    return g * (exp(-(x * x)) * -two_over_sqrt_pi);
  case Primitive::lgamma:
    return g * digamma(x);
  case Primitive::digamma:
    return g * polygamma(1, x);
  case Primitive::erfinv:
    return g * (exp(y * y) * root_pi_over_two);
  case Primitive::ndtri:
    return g * (exp(y * y * 0.5) * root_two_pi);
  case Primitive::i0:
    return g * i1(x);
  case Primitive::i0e:
    return g * (i1e(x) - sign(x) * y);
  case Primitive::i1:
    return g * (i0(x) - quotient_at_zero(y, x));
  case Primitive::i1e:
    return g * (i0e(x) - sign(x) * y - quotient_at_zero(y, x));
  case Primitive::bessel_j0:
    return -(g * bessel_j1(x));
  case Primitive::bessel_j1:
    return g * (bessel_j0(x) - quotient_at_zero(y, x));
  case Primitive::erf:
  case Primitive::erf_accurate:
    return g * (exp(-(x * x)) * two_over_sqrt_pi);
  default:
    return {}; // piecewise constant: floor, ceil, round, trunc, sign, frexp_exponent
  }
}

/// The share of g that goes to the operand that won; ties share it equally, a tie with a plain number gives nothing.
TWILL_CONSTEXPR Value winner_gradient(Primitive primitive, Value mine, Value other, Value y, Value g) {
  const bool largest = primitive == Primitive::maximum;
  if (constant_of(other) != nullptr) return where(largest ? y > other : y < other, g, 0);
  return where(largest ? mine > other : mine < other, g, where(equal(mine, other), g * 0.5, 0));
}

TWILL_CONSTEXPR void binary_gradient(Primitive primitive, Value a, Value b, Value y, Value g, InputGradients& result) {
  switch (primitive) {
  case Primitive::add:
    result.set(0, g);
    result.set(1, g);
    break;
  case Primitive::subtract:
    result.set(0, g);
    if (result.wants(1)) result.set(1, -g);
    break;
  case Primitive::multiply:
    if (result.wants(0)) result.set(0, g * b);
    if (result.wants(1)) result.set(1, g * a);
    break;
  case Primitive::divide:
    if (result.wants(0)) result.set(0, g / b);
    if (result.wants(1)) result.set(1, -(g * (y / b)));
    break;
  case Primitive::remainder:
    result.set(0, g);
    if (result.wants(1)) result.set(1, -(g * floor(a / b)));
    break;
  case Primitive::power:
    if (result.wants(0)) {
      const Node* const exponent = constant_of(b);
      if (exponent != nullptr && exponent->over.is_one()) { // the slope of the power 0 is 0, at 0 as well
        const double n = exponent->value;
        if (n != 0) result.set(0, n == 1 ? g : g * (power(a, n - 1) * n));
      } else {
        const Value base = where(logical_and(equal(a, 0), equal(b, 0)), 1, a);
        result.set(0, g * (b * power(base, b - 1)));
      }
    }
    if (result.wants(1)) result.set(1, g * where(a > 0, y * log(a), 0));
    break;
  case Primitive::fmod:
    result.set(0, g);
    if (result.wants(1)) result.set(1, -(g * trunc(a / b)));
    break;
  case Primitive::hypot:
    if (result.wants(0)) result.set(0, g * where(y == 0, 0, a / y));
    if (result.wants(1)) result.set(1, g * where(y == 0, 0, b / y));
    break;
  case Primitive::copysign:
    if (result.wants(0)) result.set(0, g * (sign(a) * copysign(1, b)));
    break;
  case Primitive::nextafter:
    result.set(0, g);
    break;
  case Primitive::ldexp:
    if (result.wants(0)) result.set(0, ldexp(g, b));
    break;
  case Primitive::polygamma: // the order is a whole number
    if (result.wants(1)) result.set(1, g * polygamma(a + 1, b));
    break;
  case Primitive::gammainc:
  case Primitive::gammaincc:
    if (result.wants(0))
      g.graph().refuse_node(Problem::operation_has_no_gradient, y.id(), Named::operation(info(primitive).name));
    if (result.wants(1)) {
      const Value density = exp(xlogy(a - 1, b) - b - lgamma(a));
      result.set(1, primitive == Primitive::gammainc ? g * density : -(g * density));
    }
    break;
  case Primitive::atan2: {
    const Value length = hypot(a, b);
    const Value divisor = where(equal(length, 0), 1, length); // zero at the origin
    const Value scaled = g / divisor;
    if (result.wants(0)) result.set(0, scaled * (b / divisor));
    if (result.wants(1)) result.set(1, -(scaled * (a / divisor)));
    break;
  }
  case Primitive::maximum:
  case Primitive::minimum:
    if (result.wants(0)) result.set(0, winner_gradient(primitive, a, b, y, g));
    if (result.wants(1)) result.set(1, winner_gradient(primitive, b, a, y, g));
    break;
  default:
    break; // comparisons and integer operations
  }
}

TWILL_CONSTEXPR void primitive_gradient(Graph& graph, const Node& node, Value y, Value g, InputGradients& result) {
  const auto input = [&](int position) { return Value{graph, node.input(position)}; };
  if (node.arity == 1) {
    const Value gradient = unary_gradient(node.primitive, input(0), y, g);
    if (gradient.id() >= 0) result.set(0, gradient);
  } else if (node.arity == 2) {
    binary_gradient(node.primitive, input(0), input(1), y, g, result);
  } else if (node.primitive == Primitive::where) {
    if (result.wants(1)) result.set(1, where(input(0), g, 0));
    if (result.wants(2)) result.set(2, where(input(0), 0, g));
  } else if (node.primitive == Primitive::fma) {
    if (result.wants(0)) result.set(0, g * input(1));
    if (result.wants(1)) result.set(1, g * input(0));
    result.set(2, g);
  } else if (node.primitive == Primitive::betainc) {
    if (result.wants(0) || result.wants(1))
      graph.refuse_node(Problem::operation_has_no_gradient, y.id(), Named::operation(info(node.primitive).name));
    if (!result.wants(2)) return;
    const Value a = input(0), b = input(1), x = input(2);
    const Value log_beta = lgamma(a) + lgamma(b) - lgamma(a + b);
    result.set(2, g * exp(xlogy(a - 1, x) + xlogy(b - 1, 1 - x) - log_beta));
  }
}

/// Sums over the axes along which `source` was repeated.
TWILL_CONSTEXPR Value unbroadcast(Value g, const Extents& source) {
  const Extents target = g.shape();
  const int added = target.rank - source.rank;
  unsigned axes = 0;
  for (int axis = 0; axis < target.rank; ++axis)
    if (axis < added || (source[axis - added].is_one() && !target[axis].is_one())) axes |= 1u << axis;
  return reshape(reduce(Reduction::sum, g, axes, KeepDims::yes), source);
}

TWILL_CONSTEXPR Value reduction_gradient(const Node& node, Value x, Value y, Value g) {
  const Extents shape = x.shape();
  const Value spread = broadcast_to(g, shape);
  if (node.reduction == Reduction::sum) return spread;
  if (node.reduction == Reduction::max || node.reduction == Reduction::min) {
    // Equal winners share the gradient.
    const Value won = equal(x, broadcast_to(y, shape));
    const Value winners = reduce_axis(Reduction::sum, where(won, filled(x.graph(), x.dtype(), shape, 1), 0), node.axis);
    return where(won, broadcast_to(g / winners, shape), 0);
  }
  if (node.reduction == Reduction::product) {
    // The product of the others: y / x, or where x is the only zero the product of the rest. Where x is one of two
    // zeros it is the other zero times the rest: 0, but its own derivative is not.
    const Value is_zero = equal(x, 0);
    const Value one = filled(x.graph(), x.dtype(), shape, 1);
    const Value zeros = reduce_axis(Reduction::sum, where(is_zero, one, 0), node.axis);
    const Value rest = reduce_axis(Reduction::product, where(is_zero, one, x), node.axis);
    const Value all_zeros = reduce_axis(Reduction::sum, where(is_zero, x, 0), node.axis);
    const Value other_zero = broadcast_to(where(equal(zeros, 2), all_zeros, 0), shape) - where(is_zero, x, 0);
    const Value of_two = where(broadcast_to(equal(zeros, 2), shape), other_zero * broadcast_to(rest, shape), 0);
    const Value at_zero = where(broadcast_to(equal(zeros, 1), shape), broadcast_to(rest, shape), of_two);
    return spread * where(is_zero, at_zero, broadcast_to(y, shape) / where(is_zero, one, x));
  }
  return {};
}

TWILL_CONSTEXPR Value inverse_transpose(const Node& node, Value g) {
  Node inverse = node;
  inverse.inputs[0] = g.id();
  for (int axis = 0; axis < node.shape.rank; ++axis) {
    const auto source = static_cast<std::size_t>(node.permutation[static_cast<std::size_t>(axis)]);
    inverse.permutation[source] = static_cast<std::int8_t>(axis);
    inverse.shape[static_cast<int>(source)] = node.shape[axis];
  }
  return {g.graph(), g.graph().add(inverse)};
}

/// The gradients of an operation's inputs for those of its results.
TWILL_CONSTEXPR InputGradients operation_gradient(Graph& graph, int id, const Cotangents& cotangents,
                                                  const Few<bool, max_inputs>& wanted) {
  InputGradients result{};
  result.wanted = wanted;
  const Operation& operation = *graph.node(id).operation;
  if (operation.vjp != nullptr)
    operation.vjp(graph, id, cotangents, result);
  else
    graph.refuse_node(Problem::operation_has_no_gradient, id, Named::operation(operation.name));
  return result;
}

/// The gradients of the inputs of node `id`, which is not an operation, for the gradient g of its result.
TWILL_CONSTEXPR InputGradients node_gradient(Graph& graph, int id, Value g, const Few<bool, max_inputs>& wanted) {
  InputGradients result{};
  result.wanted = wanted;
  const Node node = graph.node(id); // a copy: emitting moves the nodes
  const Value y{graph, id};
  const auto operand = [&] { return Value{graph, node.input(0)}; };
  switch (node.kind) {
  case Kind::primitive:
    primitive_gradient(graph, node, y, g, result);
    break;
  case Kind::cast:
    if (is_floating(operand().dtype())) result.set(0, cast(g, operand().dtype()));
    break;
  case Kind::reduce: {
    const Value gradient = reduction_gradient(node, operand(), y, g);
    if (gradient.id() >= 0) result.set(0, gradient);
    break;
  }
  case Kind::broadcast:
    result.set(0, unbroadcast(g, operand().shape()));
    break;
  case Kind::reshape:
    result.set(0, reshape(g, operand().shape()));
    break;
  case Kind::after:
    result.set(0, g);
    break;
  case Kind::transpose:
    result.set(0, inverse_transpose(node, g));
    break;
  default:
    break;
  }
  return result;
}

}}}} // namespace twill::v0::graph::detail

namespace twill { inline namespace v0 { namespace graph {

/// A value and the gradient that flows into it from outside.
struct Seed {
  int value = -1;     ///< a node
  int cotangent = -1; ///< the node of its gradient
};

TWILL_CONSTEXPR List<int> gradients(Graph& graph, const List<Seed>& seeds, const List<int>& variables);

}}} // namespace twill::v0::graph
