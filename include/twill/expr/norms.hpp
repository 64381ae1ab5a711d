#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Vector norms over axes in angle brackets, as NumPy's `linalg.norm` defines them; over several axes or all of them the
// elements are one vector, so the 2-norm of a matrix is Frobenius'. The order is a tag, because each is a program of
// its own; an order known only at run time makes the general one. Integers are measured as float32. Powers of floats
// are summed in float64, so the norm is right wherever it can be represented; those of float64 have its range. Read
// next: expr/reduced.hpp.

#include <twill/core/axes.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/promotion.hpp>
#include <twill/expr/functions.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/operators.hpp>
#include <twill/expr/row_symbols.hpp>
#include <twill/expr/statistics.hpp>

#include <string>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

template <class X> [[nodiscard]] auto as_floating(X&& x) {
  return make_node<Convert<floating_type(typed<X>().type)>>(std::forward<X>(x));
}

/// root(sum(power(|x|))) in the floating type of x.
template <int... Axes, class X, class Power, class Root, class... Keep>
[[nodiscard]] auto norm_of(X&& x, Power power, Root root, Keep... keep) {
  constexpr DType type = typed<X>().type;
  auto wide = make_node<Convert<square_sum_type(type)>>(std::forward<X>(x));
  return make_node<Convert<floating_type(type)>>(root(sum<Axes...>(power(std::move(wide)), keep...)));
}

template <int... Axes, class X, class... Keep> [[nodiscard]] auto norm_of_order(X&& x, double p, Keep... keep) {
  return norm_of<Axes...>(
      std::forward<X>(x), [p](auto v) { return power(abs(std::move(v)), p); },
      [p](auto s) { return power(std::move(s), 1 / p); }, keep...);
}

/// sum(|x|^p)^(1/p), or its limit.
template <int P, int... Axes, class X, class... Keep> [[nodiscard]] auto norm_node(X&& x, Keep... keep) {
  if constexpr (P == 0)
    return make_node<Convert<floating_type(typed<X>().type)>>(
        sum<Axes...>(as_floating(std::forward<X>(x) != 0), keep...));
  else if constexpr (P == 1)
    return sum<Axes...>(abs(as_floating(std::forward<X>(x))), keep...);
  else if constexpr (P == 2)
    return norm_of<Axes...>(
        std::forward<X>(x), [](auto v) { return square(std::move(v)); }, [](auto s) { return sqrt(std::move(s)); },
        keep...);
  else
    return norm_of_order<Axes...>(std::forward<X>(x), static_cast<double>(P), keep...);
}

[[nodiscard]] double checked_order(double p);

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// sqrt(sum(x^2)), or the norm of another order.
template <int... Axes, TensorOperand X, int P = 2> [[nodiscard]] auto norm(X&& x, NormOrder<P> = order<2>) {
  return expr::norm_node<P, Axes...>(std::forward<X>(x));
}
template <int... Axes, TensorOperand X, int P = 2> [[nodiscard]] auto norm(X&& x, KeptDims, NormOrder<P> = order<2>) {
  return expr::norm_node<P, Axes...>(std::forward<X>(x), keepdims);
}
/// The greatest magnitude. throws: ValueError when there are no elements
template <int... Axes, TensorOperand X> [[nodiscard]] auto norm(X&& x, OrderOfMax) {
  return max<Axes...>(abs(expr::as_floating(std::forward<X>(x))));
}
template <int... Axes, TensorOperand X> [[nodiscard]] auto norm(X&& x, KeptDims, OrderOfMax) {
  return max<Axes...>(abs(expr::as_floating(std::forward<X>(x))), keepdims);
}
/// The least magnitude. throws: ValueError when there are no elements
template <int... Axes, TensorOperand X> [[nodiscard]] auto norm(X&& x, OrderOfMin) {
  return min<Axes...>(abs(expr::as_floating(std::forward<X>(x))));
}
template <int... Axes, TensorOperand X> [[nodiscard]] auto norm(X&& x, KeptDims, OrderOfMin) {
  return min<Axes...>(abs(expr::as_floating(std::forward<X>(x))), keepdims);
}
/// sum(|x|^p)^(1/p) of an order that the run time chooses. throws: ValueError (0, infinite: they have tags)
template <int... Axes, TensorOperand X> [[nodiscard]] auto norm(X&& x, double p) {
  return expr::norm_of_order<Axes...>(std::forward<X>(x), expr::checked_order(p));
}
template <int... Axes, TensorOperand X> [[nodiscard]] auto norm(X&& x, KeptDims, double p) {
  return expr::norm_of_order<Axes...>(std::forward<X>(x), expr::checked_order(p), keepdims);
}

}}} // namespace twill::v0::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/expr/norms.ipp>
#endif
