#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Elementwise functions of traced values: the algebra with which elementwise/ appends nodes, and the derivatives of
// formulas that are computed in pieces. A formula of max, abs and where, or one that divides by a value that may be
// zero, has the right value; differentiated piece by piece it has a wrong slope, or none, where the pieces meet. So it
// states its derivative, in terms of operands and result, for all orders. Read next: graph/reductions.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/core/promotion.hpp>
#include <twill/elementwise/activations.hpp>
#include <twill/elementwise/argument.hpp>
#include <twill/elementwise/arithmetic.hpp>
#include <twill/elementwise/comparison.hpp>
#include <twill/elementwise/floating.hpp>
#include <twill/elementwise/real.hpp>
#include <twill/graph/operators.hpp>

#include <numbers>
#include <optional>
#include <string_view>

namespace twill { inline namespace v0 { namespace graph {

/// A number in the element type and shape of x, without its gradient.
[[nodiscard]] TWILL_CONSTEXPR Value full_like(Value x, double number) {
  return detail::filled(x.graph(), x.dtype(), x.shape(), number);
}
/// Zeros in the element type and shape of x.
[[nodiscard]] TWILL_CONSTEXPR Value zeros_like(Value x) { return full_like(x, 0); }
/// Ones in the element type and shape of x.
[[nodiscard]] TWILL_CONSTEXPR Value ones_like(Value x) { return full_like(x, 1); }

/// A function's value and its operands, of one shape.
template <int Count> struct Applied {
  Value y{};        ///< the function's value
  Value x[Count]{}; ///< its operands
};

/// The gradients of a function's operands: the given gradient times the derivative by each of them.
template <auto... Derivatives>
constexpr void smooth_vjp(Graph& graph, int id, const Cotangents& cotangents, InputGradients& gradients) {
  constexpr int count = sizeof...(Derivatives);
  const Node node = graph.node(id); // a copy: emitting moves the nodes
  Applied<count> of{{graph, id}, {}};
  for (int i = 0; i < count; ++i) of.x[i] = {graph, node.input(1 + i)};
  const Value g{graph, cotangents[0]};
  int position = 1;
  ((gradients.wants(position) ? gradients.set(position, g * Derivatives(of)) : void(), ++position), ...);
}

/// The rule of a function with one operand for each derivative.
template <auto... Derivatives>
inline constexpr Operation smooth_rule{.name = "rule", .vjp = &smooth_vjp<Derivatives...>, .batching = Batching::stack};

/// A value of one operand with the derivative of its function.
template <auto Derivative> [[nodiscard]] constexpr Value with_derivative(Value y, Value x) {
  return with_rule(y, smooth_rule<Derivative>, {x});
}

/// An operand of a value's rule, of its type and shape.
[[nodiscard]] constexpr Value beside(Value y, const Term& term) {
  return broadcast_to(detail::materialise(y.graph(), term, y.dtype()), y.shape());
}

/// A value of two operands with the derivatives of its function, for the first and the second.
template <auto First, auto Second>
[[nodiscard]] constexpr Value with_derivatives(Value y, const Term& left, const Term& right) {
  return with_rule(y, smooth_rule<First, Second>, {beside(y, left), beside(y, right)});
}

}}} // namespace twill::v0::graph

namespace twill { inline namespace v0 { namespace graph {

using elementwise::cast;

/// The gradient rule of a formula, where it is not the rule of its lines.
template <class F> inline constexpr const Operation* rule_of = nullptr;

}}} // namespace twill::v0::graph

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Asks the operation that made a formula's argument to compute the formula as well.
using Absorber = std::optional<Value> (*)(Value);
/// An activation after a product is one, in ops/biased_product.hpp.
template <class F> inline constexpr Absorber absorbed = nullptr;

/// The algebra of traced values: each function appends nodes to their graph.
struct ValueAlgebra {
  template <Primitive P> static constexpr Value apply(Value x) { return detail::unary(P, x); }
  template <Primitive P, class A, class B> static constexpr Value apply(const A& a, const B& b, CallSite site) {
    return detail::binary(P, {a, site}, {b, site});
  }
  template <Primitive P, class A, class B, class C>
  static constexpr Value apply(const A& a, const B& b, const C& c, CallSite site) {
    return detail::ternary(P, {a, site}, {b, site}, {c, site});
  }
  template <class A, class B> static constexpr Value choose(Value condition, const A& a, const B& b, CallSite site) {
    return detail::choose(condition, {a, site}, {b, site});
  }
  template <DType To> static constexpr Value convert(Value x) { return cast(x, To); }
  static constexpr Value floating(Value x) { return cast(x, floating_type(x.dtype())); }

  template <class F> static constexpr Value compose(Value x) {
    if constexpr (absorbed<F> != nullptr)
      if (const auto product = absorbed<F>(x)) return *product;
    const Value y = F{}(x);
    if constexpr (rule_of<F> != nullptr) return with_rule(y, *rule_of<F>, {x});
    return y;
  }
  /// Converts a number beside a value to the type of the value, to a real one where needed.
  template <class F> static constexpr Value compose(const Term& a, const Term& b) {
    Graph& graph = a.is_number ? b.value.graph() : a.value.graph();
    const DType dtype = detail::common_dtype(a, b);
    const Value y = F{}(detail::materialise(graph, a, dtype), detail::materialise(graph, b, dtype));
    return with_rule_of<F>(y, a, b);
  }
  template <class F> static constexpr Value compose(Value a, Value b, const Term& c) {
    return F{}(a, b, detail::materialise(a.graph(), c, detail::common_dtype(a, c)));
  }
  template <class F, class... P> static constexpr Value compose_with(Value x, P... parameters) {
    const Value y = F{}(x, parameters...);
    if constexpr (rule_of<F> == nullptr)
      return y;
    else
      return with_rule(y, *rule_of<F>, {beside(y, x), beside(y, parameters)...});
  }

private:
  template <class F> static constexpr Value with_rule_of(Value y, const Term& a, const Term& b) {
    if constexpr (rule_of<F> == nullptr)
      return y;
    else
      return with_rule(y, *rule_of<F>, {beside(y, a), beside(y, b)});
  }
};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace elementwise { inline namespace TWILL_ISA {
template <> struct Algebra<ArgumentKind::value> : graph::ValueAlgebra {};
}}}} // namespace twill::v0::elementwise::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph {

namespace detail {
using Two = Applied<2>;

// Which share of a sum of exponentials a term has, by how much the other exceeds it. Its slope is the product of both
// shares, exact in both tails.
[[nodiscard]] constexpr Value share_slope(const Applied<1>& f);
[[nodiscard]] constexpr Value share_slope_of_2(const Applied<1>& f);
[[nodiscard]] TWILL_CONSTEXPR Value share(Value excess) {
  return with_derivative<share_slope>(reciprocal(exp(excess) + 1), excess);
}
[[nodiscard]] TWILL_CONSTEXPR Value share_of_2(Value excess) {
  return with_derivative<share_slope_of_2>(reciprocal(exp2(excess) + 1), excess);
}
constexpr Value share_slope(const Applied<1>& f) { return -(f.y * share(-f.x[0])); }
constexpr Value share_slope_of_2(const Applied<1>& f) { return f.y * share_of_2(-f.x[0]) * -std::numbers::ln2; }
[[nodiscard]] constexpr Value share_of_first(const Two& f) { return share(f.x[1] - f.x[0]); }
[[nodiscard]] constexpr Value share_of_second(const Two& f) { return share(f.x[0] - f.x[1]); }
[[nodiscard]] constexpr Value share_of_first_of_2(const Two& f) { return share_of_2(f.x[1] - f.x[0]); }
[[nodiscard]] constexpr Value share_of_second_of_2(const Two& f) { return share_of_2(f.x[0] - f.x[1]); }

[[nodiscard]] TWILL_CONSTEXPR Value log_or_nothing(const Two& f) {
  const Value none = logical_and(equal(f.x[0], 0), f.x[1] <= 0);
  return where(none, 0, log(where(none, 1, f.x[1])));
}
[[nodiscard]] constexpr Value ratio(const Two& f) { return f.x[0] / f.x[1]; }

// The share of each operand in the larger or smaller of two: half where they are equal.
[[nodiscard]] constexpr Value halves(Value wins, Value is_equal) { return where(wins, 1, where(is_equal, 0.5, 0)); }
[[nodiscard]] TWILL_CONSTEXPR Value first_is_larger(const Two& f) {
  return halves(logical_or(f.x[0] > f.x[1], isnan(f.x[1])), equal(f.x[0], f.x[1]));
}
[[nodiscard]] constexpr Value second_is_larger(const Two& f) { return 1 - first_is_larger(f); }
[[nodiscard]] TWILL_CONSTEXPR Value first_is_smaller(const Two& f) {
  return halves(logical_or(f.x[0] < f.x[1], isnan(f.x[1])), equal(f.x[0], f.x[1]));
}
[[nodiscard]] constexpr Value second_is_smaller(const Two& f) { return 1 - first_is_smaller(f); }

/// (cos(pi x) - sinc(x)) / x.
[[nodiscard]] TWILL_CONSTEXPR Value sinc_slope(const Applied<1>& f) {
  const Value is_zero = equal(f.x[0], 0);
  return where(is_zero, 0, (cos(f.x[0] * 3.14159265358979323846) - f.y) / where(is_zero, 1, f.x[0]));
}

[[nodiscard]] constexpr Value logistic_slope(const Applied<1>& f) { return f.y * (1 - f.y); }
[[nodiscard]] TWILL_CONSTEXPR Value elu_slope(const Applied<2>& f) {
  return where(f.x[0] > 0, 1, f.x[1] * exp(minimum(f.x[0], 0)));
}
[[nodiscard]] constexpr Value elu_by_scale(const Applied<2>& f) { return expm1(minimum(f.x[0], 0)); }
[[nodiscard]] TWILL_CONSTEXPR Value celu_slope(const Applied<2>& f) {
  return where(f.x[0] > 0, 1, exp(minimum(f.x[0], 0) / f.x[1]));
}
[[nodiscard]] TWILL_CONSTEXPR Value celu_by_scale(const Applied<2>& f) {
  const Value ratio = minimum(f.x[0], 0) / f.x[1];
  return expm1(ratio) - ratio * exp(ratio);
}
} // namespace detail

template <> inline constexpr const Operation* rule_of<formula::Sigmoid> = &smooth_rule<detail::logistic_slope>;

namespace detail {
[[nodiscard]] constexpr Value softplus_slope(const Applied<1>& f) { return sigmoid(f.x[0]); }
[[nodiscard]] constexpr Value softsign_slope(const Applied<1>& f) { return square(reciprocal(abs(f.x[0]) + 1)); }
} // namespace detail

template <>
inline constexpr const Operation* rule_of<formula::Fmax> =
    &smooth_rule<detail::first_is_larger, detail::second_is_larger>;
template <>
inline constexpr const Operation* rule_of<formula::Fmin> =
    &smooth_rule<detail::first_is_smaller, detail::second_is_smaller>;
template <> inline constexpr const Operation* rule_of<formula::Sinc> = &smooth_rule<detail::sinc_slope>;
template <>
inline constexpr const Operation* rule_of<formula::Logaddexp> =
    &smooth_rule<detail::share_of_first, detail::share_of_second>;
template <>
inline constexpr const Operation* rule_of<formula::Logaddexp2> =
    &smooth_rule<detail::share_of_first_of_2, detail::share_of_second_of_2>;
template <>
inline constexpr const Operation* rule_of<formula::Xlogy> = &smooth_rule<detail::log_or_nothing, detail::ratio>;
template <> inline constexpr const Operation* rule_of<formula::Softplus> = &smooth_rule<detail::softplus_slope>;
template <> inline constexpr const Operation* rule_of<formula::Softsign> = &smooth_rule<detail::softsign_slope>;
template <>
inline constexpr const Operation* rule_of<formula::Elu> = &smooth_rule<detail::elu_slope, detail::elu_by_scale>;
template <>
inline constexpr const Operation* rule_of<formula::Celu> = &smooth_rule<detail::celu_slope, detail::celu_by_scale>;

}}} // namespace twill::v0::graph
