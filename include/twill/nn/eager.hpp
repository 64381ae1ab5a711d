#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Functions of models on tensors at once: `conv2d(x, w)`, `max_pool2d<graph::MaxPoolOptions{.window = 3}>(x)`. Each is
// `compiled(f)` of the traced function of its name: its kernels, its results, its refusals while compiling. Options are
// template arguments, since they are part of a program, which is made once for each type of operands; a function with
// options of another kind is a lambda, `compiled([](auto x) { return resample(x, {.scale = 2}); })(x)`.
// Not in twill.hpp. Read next: nn/eager_volumes.hpp, compile/function.hpp.

#include <twill/compile/function.hpp>
#include <twill/core/config.hpp>
#include <twill/expr/gather.hpp>
#include <twill/nn/gates.hpp>
#include <twill/nn/local_response_norm.hpp>
#include <twill/ops/convolution.hpp>
#include <twill/ops/gather.hpp>
#include <twill/ops/grid_sample.hpp>
#include <twill/ops/interpolate.hpp>
#include <twill/ops/norms.hpp>
#include <twill/ops/patches.hpp>
#include <twill/ops/pooling.hpp>
#include <twill/ops/resample.hpp>
#include <twill/ops/transposed_convolution.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstdint>
#include <utility>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// A function of traced values, on tensors and expressions.
template <class F, TensorOperand... X> [[nodiscard]] auto at_once(F f, X&&... x) {
  return compiled(f)(expr::evaluated(std::forward<X>(x))...);
}

// Their types depend on options alone, and not on how operands are handed over, so that programs are shared.
template <std::int64_t Classes> inline constexpr auto one_hot_of = [](auto i) { return graph::one_hot(i, Classes); };
template <graph::ConvolutionOptions Options>
inline constexpr auto conv1d_of = [](auto... v) { return graph::conv1d(v..., Options); };
template <graph::ConvolutionOptions Options>
inline constexpr auto conv2d_of = [](auto... v) { return graph::conv2d(v..., Options); };
template <graph::TransposedConvolutionOptions Options>
inline constexpr auto conv_transpose1d_of = [](auto... v) { return graph::conv_transpose1d(v..., Options); };
template <graph::TransposedConvolutionOptions Options>
inline constexpr auto conv_transpose2d_of = [](auto... v) { return graph::conv_transpose2d(v..., Options); };
template <graph::MaxPoolOptions Options>
inline constexpr auto max_pool1d_of = [](auto v) { return graph::max_pool1d(v, Options); };
template <graph::MaxPoolOptions Options>
inline constexpr auto max_pool2d_of = [](auto v) { return graph::max_pool2d(v, Options); };
template <graph::AveragePoolOptions Options>
inline constexpr auto avg_pool1d_of = [](auto v) { return graph::avg_pool1d(v, Options); };
template <graph::AveragePoolOptions Options>
inline constexpr auto avg_pool2d_of = [](auto v) { return graph::avg_pool2d(v, Options); };
template <std::int64_t Output>
inline constexpr auto adaptive_avg_pool1d_of = [](auto v) { return graph::adaptive_avg_pool1d(v, Output); };
template <graph::Sides Output>
inline constexpr auto adaptive_avg_pool2d_of = [](auto v) { return graph::adaptive_avg_pool2d(v, Output); };
template <std::int64_t Output>
inline constexpr auto adaptive_max_pool1d_of = [](auto v) { return graph::adaptive_max_pool1d(v, Output); };
template <graph::Sides Output>
inline constexpr auto adaptive_max_pool2d_of = [](auto v) { return graph::adaptive_max_pool2d(v, Output); };
template <std::int64_t Factor>
inline constexpr auto pixel_shuffle_of = [](auto v) { return graph::pixel_shuffle(v, Factor); };
template <std::int64_t Factor>
inline constexpr auto pixel_unshuffle_of = [](auto v) { return graph::pixel_unshuffle(v, Factor); };
template <graph::PatchOptions Options>
inline constexpr auto unfold_of = [](auto v) { return graph::unfold(v, Options); };
template <graph::Sides Size, graph::PatchOptions Options>
inline constexpr auto fold_of = [](auto v) { return graph::fold(v, Size, Options); };
template <graph::GridSampleOptions Options>
inline constexpr auto grid_sample_of = [](auto v, auto g) { return graph::grid_sample(v, g, Options); };
template <graph::Sides3 Size, graph::AlignCorners Corners>
inline constexpr auto affine_grid_of = [](auto t) { return graph::affine_grid(t, Size, Corners); };
template <graph::Sides Size, graph::Interpolation Mode, graph::AlignCorners Corners>
inline constexpr auto interpolate_of =
    [](auto v) { return graph::interpolate(v, {.size = Size, .mode = Mode, .align_corners = Corners}); };
template <graph::Sides3 Size, graph::Resampling Mode, graph::AlignCorners Corners, graph::Antialias Smooth>
inline constexpr auto resample_of = [](auto v) {
  return graph::resample(v, {.size = Size, .mode = Mode, .align_corners = Corners, .antialias = Smooth});
};
template <std::int64_t Size>
inline constexpr auto local_response_norm_of = [](auto v) { return graph::local_response_norm(v, Size); };
template <int Axis> inline constexpr auto glu_of = [](auto v) { return graph::glu(v, Axis); };
inline constexpr auto prelu_of = [](auto v, auto w) { return graph::prelu(v, w); };
inline constexpr auto pairwise_distance_of = [](auto v, auto w) { return graph::pairwise_distance(v, w); };

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// A new last axis that is 1 at the index and 0 elsewhere, int64. throws: IndexError for one outside of [0, Classes)
template <std::int64_t Classes, TensorOperand I> [[nodiscard]] auto one_hot(I&& index) {
  return nn::detail::at_once(nn::detail::one_hot_of<Classes>, std::forward<I>(index));
}

/// Convolution of x (batch, channels, length) by weights (filters, channels / groups, length), and a number for each
/// filter, if there is one more operand.
template <graph::ConvolutionOptions Options = graph::ConvolutionOptions{1}, TensorOperand X, TensorOperand W,
          TensorOperand... Bias>
requires(sizeof...(Bias) <= 1) [[nodiscard]] auto conv1d(X&& x, W&& weight, Bias&&... bias) {
  return nn::detail::at_once(nn::detail::conv1d_of<Options>, std::forward<X>(x), std::forward<W>(weight),
                             std::forward<Bias>(bias)...);
}
/// Convolution of x (batch, channels, height, width) by weights (filters, channels / groups, height, width).
template <graph::ConvolutionOptions Options = graph::ConvolutionOptions{1}, TensorOperand X, TensorOperand W,
          TensorOperand... Bias>
requires(sizeof...(Bias) <= 1) [[nodiscard]] auto conv2d(X&& x, W&& weight, Bias&&... bias) {
  return nn::detail::at_once(nn::detail::conv2d_of<Options>, std::forward<X>(x), std::forward<W>(weight),
                             std::forward<Bias>(bias)...);
}
/// The transposed convolution of x (batch, channels, length) by weights (channels, filters / groups, length).
template <graph::TransposedConvolutionOptions Options = graph::TransposedConvolutionOptions{1}, TensorOperand X,
          TensorOperand W, TensorOperand... Bias>
requires(sizeof...(Bias) <= 1) [[nodiscard]] auto conv_transpose1d(X&& x, W&& weight, Bias&&... bias) {
  return nn::detail::at_once(nn::detail::conv_transpose1d_of<Options>, std::forward<X>(x), std::forward<W>(weight),
                             std::forward<Bias>(bias)...);
}
/// The transposed convolution of x (batch, channels, height, width).
template <graph::TransposedConvolutionOptions Options = graph::TransposedConvolutionOptions{1}, TensorOperand X,
          TensorOperand W, TensorOperand... Bias>
requires(sizeof...(Bias) <= 1) [[nodiscard]] auto conv_transpose2d(X&& x, W&& weight, Bias&&... bias) {
  return nn::detail::at_once(nn::detail::conv_transpose2d_of<Options>, std::forward<X>(x), std::forward<W>(weight),
                             std::forward<Bias>(bias)...);
}

/// The greatest element of each window of x (batch, channels, length).
template <graph::MaxPoolOptions Options = graph::MaxPoolOptions{2}, TensorOperand X>
[[nodiscard]] auto max_pool1d(X&& x) {
  return nn::detail::at_once(nn::detail::max_pool1d_of<Options>, std::forward<X>(x));
}
/// The greatest element of each window of x (batch, channels, height, width).
template <graph::MaxPoolOptions Options = graph::MaxPoolOptions{2}, TensorOperand X>
[[nodiscard]] auto max_pool2d(X&& x) {
  return nn::detail::at_once(nn::detail::max_pool2d_of<Options>, std::forward<X>(x));
}
/// The mean of each window of x (batch, channels, length).
template <graph::AveragePoolOptions Options = graph::AveragePoolOptions{2}, TensorOperand X>
[[nodiscard]] auto avg_pool1d(X&& x) {
  return nn::detail::at_once(nn::detail::avg_pool1d_of<Options>, std::forward<X>(x));
}
/// The mean of each window of x (batch, channels, height, width).
template <graph::AveragePoolOptions Options = graph::AveragePoolOptions{2}, TensorOperand X>
[[nodiscard]] auto avg_pool2d(X&& x) {
  return nn::detail::at_once(nn::detail::avg_pool2d_of<Options>, std::forward<X>(x));
}
/// Means of as many windows of x (batch, channels, length) as the result has elements.
template <std::int64_t Output, TensorOperand X> [[nodiscard]] auto adaptive_avg_pool1d(X&& x) {
  return nn::detail::at_once(nn::detail::adaptive_avg_pool1d_of<Output>, std::forward<X>(x));
}
/// Means of as many windows of x (batch, channels, height, width) as the result has.
template <graph::Sides Output, TensorOperand X> [[nodiscard]] auto adaptive_avg_pool2d(X&& x) {
  return nn::detail::at_once(nn::detail::adaptive_avg_pool2d_of<Output>, std::forward<X>(x));
}
/// The greatest elements of as many windows of x (batch, channels, length) as the result has elements.
template <std::int64_t Output, TensorOperand X> [[nodiscard]] auto adaptive_max_pool1d(X&& x) {
  return nn::detail::at_once(nn::detail::adaptive_max_pool1d_of<Output>, std::forward<X>(x));
}
/// The greatest elements of as many windows of x (batch, channels, height, width) as the result has.
template <graph::Sides Output, TensorOperand X> [[nodiscard]] auto adaptive_max_pool2d(X&& x) {
  return nn::detail::at_once(nn::detail::adaptive_max_pool2d_of<Output>, std::forward<X>(x));
}

/// (batch, channels factor^2, height, width) as (batch, channels, factor height, factor width).
template <std::int64_t Factor, TensorOperand X> [[nodiscard]] auto pixel_shuffle(X&& x) {
  return nn::detail::at_once(nn::detail::pixel_shuffle_of<Factor>, std::forward<X>(x));
}
/// The inverse of `pixel_shuffle`.
template <std::int64_t Factor, TensorOperand X> [[nodiscard]] auto pixel_unshuffle(X&& x) {
  return nn::detail::at_once(nn::detail::pixel_unshuffle_of<Factor>, std::forward<X>(x));
}
/// The elements below each place of a window over x (batch, channels, height, width) as a column:
/// (batch, channels * elements of a window, places).
template <graph::PatchOptions Options, TensorOperand X> [[nodiscard]] auto unfold(X&& x) {
  return nn::detail::at_once(nn::detail::unfold_of<Options>, std::forward<X>(x));
}
/// The sums of columns at the places that `unfold` took them from, in images of a size.
template <graph::Sides Size, graph::PatchOptions Options, TensorOperand X> [[nodiscard]] auto fold(X&& x) {
  return nn::detail::at_once(nn::detail::fold_of<Size, Options>, std::forward<X>(x));
}

/// x (batch, channels, height, width), or with a depth, at the places of a grid between -1 and 1 (batch, ..., axes).
template <graph::GridSampleOptions Options = graph::GridSampleOptions{}, TensorOperand X, TensorOperand G>
[[nodiscard]] auto grid_sample(X&& x, G&& grid) {
  return nn::detail::at_once(nn::detail::grid_sample_of<Options>, std::forward<X>(x), std::forward<G>(grid));
}
/// The grid of affine maps theta (batch, 2, 3) for images of a height and width.
template <graph::Sides3 Size, graph::AlignCorners Corners = graph::AlignCorners::no, TensorOperand T>
[[nodiscard]] auto affine_grid(T&& theta) {
  return nn::detail::at_once(nn::detail::affine_grid_of<Size, Corners>, std::forward<T>(theta));
}
/// x (batch, channels, height, width) in another size.
template <graph::Sides Size, graph::Interpolation Mode = graph::Interpolation::nearest,
          graph::AlignCorners Corners = graph::AlignCorners::no, TensorOperand X>
[[nodiscard]] auto interpolate(X&& x) {
  return nn::detail::at_once(nn::detail::interpolate_of<Size, Mode, Corners>, std::forward<X>(x));
}

/// x (batch, channels, ...) in another size, as `graph::resample`: cubic, by area, antialiased and others.
template <graph::Sides3 Size, graph::Resampling Mode = graph::Resampling::nearest,
          graph::AlignCorners Corners = graph::AlignCorners::no, graph::Antialias Smooth = graph::Antialias::no,
          TensorOperand X>
[[nodiscard]] auto resample(X&& x) {
  return nn::detail::at_once(nn::detail::resample_of<Size, Mode, Corners, Smooth>, std::forward<X>(x));
}

/// x divided by a power of the mean square of `Size` neighbouring channels, by PyTorch's defaults.
template <std::int64_t Size, TensorOperand X> [[nodiscard]] auto local_response_norm(X&& x) {
  return nn::detail::at_once(nn::detail::local_response_norm_of<Size>, std::forward<X>(x));
}
/// a * sigmoid(b) of the halves of an axis.
template <int Axis = -1, TensorOperand X> [[nodiscard]] auto glu(X&& x) {
  return nn::detail::at_once(nn::detail::glu_of<Axis>, std::forward<X>(x));
}
/// x where it is positive, weight * x elsewhere; a weight for all, or for each channel.
template <TensorOperand X, TensorOperand W> [[nodiscard]] auto prelu(X&& x, W&& weight) {
  return nn::detail::at_once(nn::detail::prelu_of, std::forward<X>(x), std::forward<W>(weight));
}
/// Distances of the rows of a from those of b, (..., width) each, in the norm of order 2.
template <TensorOperand A, TensorOperand B> [[nodiscard]] auto pairwise_distance(A&& a, B&& b) {
  return nn::detail::at_once(nn::detail::pairwise_distance_of, std::forward<A>(a), std::forward<B>(b));
}

}}} // namespace twill::v0::TWILL_ISA
