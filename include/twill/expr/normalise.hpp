#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Softmax and related row functions: functions of a row's symbols, each of which becomes one kernel that owns a row,
// reduces it as often as the formula says and writes it once. Nothing below knows their names. Along the last axis rows
// are contiguous; along another one the kernel strides through memory. Definitions and defaults are PyTorch's. Read
// next: elementwise/rows.hpp, expr/row_symbols.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/row_symbols.hpp>
#include <twill/expr/rowwise.hpp>
#include <twill/expr/statistics.hpp>
#include <twill/expr/symbol.hpp>

#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// A formula of elementwise/rows.hpp over the row of symbols.
template <class F> struct OfRow {
  static constexpr std::string_view name = F::name;
  constexpr Symbol operator()(auto... x) const { return F{}(x..., AlongRow{}); }
};
/// The root of the sum of a row's squares.
[[nodiscard]] constexpr Symbol euclidean_norm(Symbol x) {
  return sqrt(sum(square(x.to(square_sum_type(x.type()))))).to(widened(x).type());
}
struct Normalize {
  static constexpr std::string_view name = "normalize";
  // x / max(|x|, epsilon)
  constexpr Symbol operator()(Symbol x, Symbol epsilon) const {
    return widened(x) / maximum(euclidean_norm(x), epsilon);
  }
};
struct CosineSimilarity {
  static constexpr std::string_view name = "cosine_similarity";
  // (a / max(|a|, epsilon)) (b / max(|b|, epsilon)), neither product of which overflows
  constexpr Symbol operator()(Symbol a, Symbol b, Symbol epsilon) const {
    const Symbol left = maximum(euclidean_norm(a), epsilon), right = maximum(euclidean_norm(b), epsilon);
    return sum((widened(a) / left) * (widened(b) / right));
  }
};
struct CrossEntropy {
  static constexpr std::string_view name = "cross_entropy";
  // log(sum(exp(x))) - x[label]; the greatest of one element is that element, and of none -inf
  constexpr Symbol operator()(Symbol x, Symbol label) const {
    const Symbol below = widened(x) - max(widened(x));
    const Symbol nothing = below.number(-std::numeric_limits<double>::infinity());
    return log(sum(exp(below))) - max(where(label == row_index(label), below, nothing));
  }
};
struct ExpectedCrossEntropy {
  static constexpr std::string_view name = "cross_entropy";
  // sum(p (log(sum(exp(x))) - x)); a class of probability 0 adds nothing, even where its logit is -inf
  constexpr Symbol operator()(Symbol x, Symbol p) const {
    const Symbol below = widened(x) - max(widened(x));
    const Symbol losses = widened(p) * (log(sum(exp(below))) - below);
    return sum(where(widened(p) == below.number(0), below.number(0), losses));
  }
};

/// A row function of tensors and a small number.
template <class F, Rest Remains, int... Axes, class... X> [[nodiscard]] auto with_epsilon(double epsilon, X&&... x) {
  constexpr DType common = common_type<X...>();
  using Computed = scalar_t<compute_type(floating_type(common))>;
  return reduced_over<RowFunction<F, true>, Remains, Axes...>(operand<common>(std::forward<X>(x))...,
                                                              Constant<Computed>{static_cast<Computed>(epsilon)});
}

/// Labels beside logits: an axis of extent 1 in place of the axis of classes.
template <int Rank, int Axis, class L> [[nodiscard]] auto labels_beside(const L& labels) {
  static_assert(AnyTensor<L> && L::rank + 1 == Rank,
                "twill: cross_entropy: labels are a tensor with one axis less than the logits");
  static_assert(!is_floating(L::dtype) && L::dtype != DType::boolean, "twill: cross_entropy: labels are integers");
  return labels.template unsqueeze<axis_of<Axis, Rank>>();
}

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// exp(x) / sum(exp(x)) along an axis, without overflow.
template <int Axis = -1, TensorOperand X> [[nodiscard]] auto softmax(X&& x) {
  return expr::reduced_node<expr::RowFunction<expr::OfRow<formula::Softmax>>, expr::Rest::whole, Axis>(
      std::forward<X>(x));
}

/// exp(-x) / sum(exp(-x)) along an axis, without overflow.
template <int Axis = -1, TensorOperand X> [[nodiscard]] auto softmin(X&& x) {
  return expr::reduced_node<expr::RowFunction<expr::OfRow<formula::Softmin>>, expr::Rest::whole, Axis>(
      std::forward<X>(x));
}

/// x - log(sum(exp(x))) along an axis, without overflow.
template <int Axis = -1, TensorOperand X> [[nodiscard]] auto log_softmax(X&& x) {
  return expr::reduced_node<expr::RowFunction<expr::OfRow<formula::LogSoftmax>>, expr::Rest::whole, Axis>(
      std::forward<X>(x));
}

/// (x - mean) / sqrt(variance + epsilon) over axes, the last one unless others are named. Scale and shift fuse:
/// `layer_norm(x) * weight + bias` is one kernel too.
template <int... Axes, TensorOperand X> [[nodiscard]] auto layer_norm(X&& x, double epsilon = 1e-5) {
  if constexpr (sizeof...(Axes) == 0)
    return expr::with_epsilon<expr::OfRow<formula::LayerNorm>, expr::Rest::whole, -1>(epsilon, std::forward<X>(x));
  else
    return expr::with_epsilon<expr::OfRow<formula::LayerNorm>, expr::Rest::whole, Axes...>(epsilon, std::forward<X>(x));
}

/// x / sqrt(mean(x^2) + epsilon) over axes, the last one unless others are named.
template <int... Axes, TensorOperand X> [[nodiscard]] auto rms_norm(X&& x, double epsilon = 1e-5) {
  if constexpr (sizeof...(Axes) == 0)
    return expr::with_epsilon<expr::OfRow<formula::RmsNorm>, expr::Rest::whole, -1>(epsilon, std::forward<X>(x));
  else
    return expr::with_epsilon<expr::OfRow<formula::RmsNorm>, expr::Rest::whole, Axes...>(epsilon, std::forward<X>(x));
}

/// x / max(|x|, epsilon) along an axis.
template <int Axis = -1, TensorOperand X> [[nodiscard]] auto normalize(X&& x, double epsilon = 1e-12) {
  return expr::with_epsilon<expr::Normalize, expr::Rest::whole, Axis>(epsilon, std::forward<X>(x));
}

/// The cosine of the angle between a and b along an axis, which disappears.
template <int Axis = -1, TensorOperand A, TensorOperand B>
[[nodiscard]] auto cosine_similarity(A&& a, B&& b, double epsilon = 1e-8) {
  return expr::with_epsilon<expr::CosineSimilarity, expr::Rest::dropped, Axis>(epsilon, std::forward<A>(a),
                                                                               std::forward<B>(b));
}

/// -log softmax(logits)[label] for each row along an axis; `mean(cross_entropy(x, labels))` is PyTorch's default. The
/// loss of a label that is not a class is infinite. Floating labels in the shape of the logits are probabilities of all
/// classes.
template <int Axis = -1, TensorOperand X, AnyTensor L> [[nodiscard]] auto cross_entropy(X&& logits, const L& labels) {
  constexpr int rank = expr::rank_of<X>;
  constexpr DType type = floating_type(expr::typed<X>().type);
  if constexpr (L::rank == rank && is_floating(L::dtype))
    return expr::reduced_over<expr::RowFunction<expr::ExpectedCrossEntropy>, expr::Rest::dropped, Axis>(
        expr::operand<type>(std::forward<X>(logits)), expr::operand<type>(labels));
  else
    return expr::reduced_over<expr::RowFunction<expr::CrossEntropy>, expr::Rest::dropped, Axis>(
        expr::operand<type>(std::forward<X>(logits)), expr::operand<type>(expr::labels_beside<rank, Axis>(labels)));
}

}}} // namespace twill::v0::TWILL_ISA
