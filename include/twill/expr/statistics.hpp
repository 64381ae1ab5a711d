#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Statistics over axes in angle brackets, like expr/reductions.hpp: variance and standard deviation, the spread,
// log-sum-exp, weighted means, counts, and the reductions that skip NaN. Each is one kernel, which reads its operand
// once however often the formula names it. Below are covariances and correlations of the rows of a matrix. Read next:
// expr/norms.hpp.

#include <twill/core/axes.hpp>
#include <twill/core/config.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/functions.hpp>
#include <twill/expr/gather.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/matmul.hpp>
#include <twill/expr/operators.hpp>
#include <twill/expr/reductions.hpp>
#include <twill/tensor/views.hpp>

#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// Variances, or their roots; those of complex numbers are computed where they stand, as sums of those of both parts.
template <int C, bool Root, Rest R, int... Axes, class X> [[nodiscard]] auto variance_node(X&& x) {
  if constexpr (is_complex_operand<X>) {
    const auto z = as_handle(std::forward<X>(x));
    const auto part = [&](int i) { return reduced_node<Variance<C>, R, Axes...>(detail::part_of(z, i)); };
    if constexpr (Root)
      return eval(sqrt(part(0) + part(1)));
    else
      return eval(part(0) + part(1));
  } else {
    return reduced_node<Variance<C, Root>, R, Axes...>(std::forward<X>(x));
  }
}

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The variance with divisor n, NumPy's, or n - c: `var<0>(x, correction<1>)` is PyTorch's default. Two passes over a
/// row in cache, so nothing cancels. Of complex numbers the mean of |z - mean|^2, which is real.
template <int... Axes, TensorOperand X, int C = 0> [[nodiscard]] auto var(X&& x, Correction<C> = correction<0>) {
  return expr::variance_node<C, false, expr::Rest::dropped, Axes...>(std::forward<X>(x));
}
template <int... Axes, TensorOperand X, int C = 0>
[[nodiscard]] auto var(X&& x, KeptDims, Correction<C> = correction<0>) {
  return expr::variance_node<C, false, expr::Rest::kept, Axes...>(std::forward<X>(x));
}

/// The root of the variance: NumPy's `std`, a name that C++ has taken.
template <int... Axes, TensorOperand X, int C = 0> [[nodiscard]] auto stddev(X&& x, Correction<C> = correction<0>) {
  return expr::variance_node<C, true, expr::Rest::dropped, Axes...>(std::forward<X>(x));
}
template <int... Axes, TensorOperand X, int C = 0>
[[nodiscard]] auto stddev(X&& x, KeptDims, Correction<C> = correction<0>) {
  return expr::variance_node<C, true, expr::Rest::kept, Axes...>(std::forward<X>(x));
}

/// The distance between the greatest and the least element. throws: ValueError when there are no elements
template <int... Axes, TensorOperand X, ReducedDims K = DroppedDims> [[nodiscard]] auto ptp(X&& x, K = {}) {
  return expr::reduced_node<expr::PeakToPeak, expr::rest_of<K>, Axes...>(std::forward<X>(x));
}

/// log(sum(exp(x))), without overflow.
template <int... Axes, TensorOperand X, ReducedDims K = DroppedDims> [[nodiscard]] auto logsumexp(X&& x, K = {}) {
  return expr::reduced_node<expr::LogSumExp, expr::rest_of<K>, Axes...>(std::forward<X>(x));
}

/// The number of elements that are not zero.
template <int... Axes, TensorOperand X, ReducedDims K = DroppedDims> [[nodiscard]] auto count_nonzero(X&& x, K = {}) {
  return sum<Axes...>(std::forward<X>(x) != 0, K{});
}

}}} // namespace twill::v0::TWILL_ISA

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// Weights for one axis of a tensor are placed along that axis; any others broadcast as they are.
template <int Rank, int... Axes, class W> [[nodiscard]] constexpr decltype(auto) weights_along(W&& weights) {
  if constexpr (AnyTensor<W> && sizeof...(Axes) == 1) {
    if constexpr (std::remove_cvref_t<W>::rank == 1 && Rank > 1) {
      constexpr int behind = Rank - 1 - (axis_of<Axes, Rank> + ...);
      return [&]<int... I>(std::integer_sequence<int, I...>) { return weights(all, ((void)I, newaxis)...); }
      (std::make_integer_sequence<int, behind>{});
    } else {
      return std::forward<W>(weights);
    }
  } else {
    return std::forward<W>(weights);
  }
}
template <class X> inline constexpr int rank_of = std::remove_cvref_t<X>::shape_type::rank;

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// sum(x weights) / sum(weights). Weights have the shape of x, one that broadcasts to it, or that of the one axis.
template <int... Axes, TensorOperand X, TensorOperand W, ReducedDims K = DroppedDims>
[[nodiscard]] auto average(X&& x, W&& weights, K = {}) {
  return expr::reduced_node<expr::WeightedMean, expr::rest_of<K>, Axes...>(
      std::forward<X>(x), expr::weights_along<expr::rank_of<X>, Axes...>(std::forward<W>(weights)));
}

/// The sum of the elements that are not NaN.
template <int... Axes, TensorOperand X, ReducedDims K = DroppedDims> [[nodiscard]] auto nansum(X&& x, K = {}) {
  return expr::reduced_node<expr::CombineNumbers<kernel::Reduction::sum>, expr::rest_of<K>, Axes...>(
      std::forward<X>(x));
}

/// The product of the elements that are not NaN.
template <int... Axes, TensorOperand X, ReducedDims K = DroppedDims> [[nodiscard]] auto nanprod(X&& x, K = {}) {
  return expr::reduced_node<expr::CombineNumbers<kernel::Reduction::product>, expr::rest_of<K>, Axes...>(
      std::forward<X>(x));
}

/// The greatest element that is not NaN; NaN if all are. throws: ValueError when there are no elements
template <int... Axes, TensorOperand X, ReducedDims K = DroppedDims> [[nodiscard]] auto nanmax(X&& x, K = {}) {
  return expr::reduced_node<expr::ExtremeNumber<kernel::Reduction::max>, expr::rest_of<K>, Axes...>(std::forward<X>(x));
}

/// The least element that is not NaN; NaN if all are. throws: ValueError when there are no elements
template <int... Axes, TensorOperand X, ReducedDims K = DroppedDims> [[nodiscard]] auto nanmin(X&& x, K = {}) {
  return expr::reduced_node<expr::ExtremeNumber<kernel::Reduction::min>, expr::rest_of<K>, Axes...>(std::forward<X>(x));
}

/// The mean of the elements that are not NaN; NaN if nothing is left.
template <int... Axes, TensorOperand X, ReducedDims K = DroppedDims> [[nodiscard]] auto nanmean(X&& x, K = {}) {
  return expr::reduced_node<expr::MeanOfNumbers, expr::rest_of<K>, Axes...>(std::forward<X>(x));
}

/// The variance of the n elements that are not NaN, with divisor n or n - c.
template <int... Axes, TensorOperand X, int C = 0> [[nodiscard]] auto nanvar(X&& x, Correction<C> = correction<0>) {
  return expr::reduced_node<expr::VarianceOfNumbers<C>, expr::Rest::dropped, Axes...>(std::forward<X>(x));
}
template <int... Axes, TensorOperand X, int C = 0>
[[nodiscard]] auto nanvar(X&& x, KeptDims, Correction<C> = correction<0>) {
  return expr::reduced_node<expr::VarianceOfNumbers<C>, expr::Rest::kept, Axes...>(std::forward<X>(x));
}

/// The root of nanvar.
template <int... Axes, TensorOperand X, int C = 0> [[nodiscard]] auto nanstd(X&& x, Correction<C> = correction<0>) {
  return expr::reduced_node<expr::VarianceOfNumbers<C, true>, expr::Rest::dropped, Axes...>(std::forward<X>(x));
}
template <int... Axes, TensorOperand X, int C = 0>
[[nodiscard]] auto nanstd(X&& x, KeptDims, Correction<C> = correction<0>) {
  return expr::reduced_node<expr::VarianceOfNumbers<C, true>, expr::Rest::kept, Axes...>(std::forward<X>(x));
}

/// The covariances of n variables, (n, n), with divisor n - 1 as NumPy's, or n - c: `cov(x, correction<0>)`.
template <TensorOperand X, int C = 1> [[nodiscard]] auto cov(X&& x, Correction<C> = {}) {
  using S = typename std::remove_cvref_t<X>::shape_type;
  static_assert(S::rank == 2, "twill: cov: takes (variables, observations)");
  const auto variables = expr::evaluated(std::forward<X>(x));
  const auto centred = eval(variables - mean<1>(variables, keepdims));
  const auto divisor = static_cast<double>(centred.shape()[1] - C);
  return eval(matmul(centred, centred.transpose()) / divisor);
}

/// The correlations of n variables, (n, n), from -1 to 1; NaN beside a variable that does not vary.
template <TensorOperand X> [[nodiscard]] auto corrcoef(X&& x) {
  const auto covariances = cov(std::forward<X>(x));
  const auto deviations = eval(sqrt(diagonal(covariances)));
  return eval(clip(covariances / deviations / deviations(all, newaxis), -1, 1));
}

}}} // namespace twill::v0::TWILL_ISA
