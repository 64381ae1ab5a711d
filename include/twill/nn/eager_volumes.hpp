#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Convolution and pooling of volumes (batch, channels, depth, height, width) that are tensors, at once, as functions of
// nn/eager.hpp. Not in twill.hpp. Read next: nn/convolution3d.hpp.

#include <twill/core/config.hpp>
#include <twill/nn/eager.hpp>
#include <twill/ops/convolution3d.hpp>
#include <twill/ops/pooling3d.hpp>
#include <twill/ops/transposed_convolution3d.hpp>

#include <utility>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

template <graph::VolumeConvolutionOptions Options>
inline constexpr auto conv3d_of = [](auto... v) { return graph::conv3d(v..., Options); };
template <graph::TransposedVolumeConvolutionOptions Options>
inline constexpr auto conv_transpose3d_of = [](auto... v) { return graph::conv_transpose3d(v..., Options); };
template <graph::VolumeMaxPoolOptions Options>
inline constexpr auto max_pool3d_of = [](auto v) { return graph::max_pool3d(v, Options); };
template <graph::VolumeAveragePoolOptions Options>
inline constexpr auto avg_pool3d_of = [](auto v) { return graph::avg_pool3d(v, Options); };
template <graph::Sides3 Output>
inline constexpr auto adaptive_avg_pool3d_of = [](auto v) { return graph::adaptive_avg_pool3d(v, Output); };
template <graph::Sides3 Output>
inline constexpr auto adaptive_max_pool3d_of = [](auto v) { return graph::adaptive_max_pool3d(v, Output); };

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Convolution of x by weights (filters, channels / groups, depth, height, width), and a number for each filter, if
/// there is one more operand.
template <graph::VolumeConvolutionOptions Options = graph::VolumeConvolutionOptions{1}, TensorOperand X,
          TensorOperand W, TensorOperand... Bias>
requires(sizeof...(Bias) <= 1) [[nodiscard]] auto conv3d(X&& x, W&& weight, Bias&&... bias) {
  return nn::detail::at_once(nn::detail::conv3d_of<Options>, std::forward<X>(x), std::forward<W>(weight),
                             std::forward<Bias>(bias)...);
}
/// The transposed convolution of x by weights (channels, filters / groups, depth, height, width).
template <graph::TransposedVolumeConvolutionOptions Options = graph::TransposedVolumeConvolutionOptions{1},
          TensorOperand X, TensorOperand W, TensorOperand... Bias>
requires(sizeof...(Bias) <= 1) [[nodiscard]] auto conv_transpose3d(X&& x, W&& weight, Bias&&... bias) {
  return nn::detail::at_once(nn::detail::conv_transpose3d_of<Options>, std::forward<X>(x), std::forward<W>(weight),
                             std::forward<Bias>(bias)...);
}
/// The greatest element of each window.
template <graph::VolumeMaxPoolOptions Options = graph::VolumeMaxPoolOptions{2}, TensorOperand X>
[[nodiscard]] auto max_pool3d(X&& x) {
  return nn::detail::at_once(nn::detail::max_pool3d_of<Options>, std::forward<X>(x));
}
/// The mean of each window.
template <graph::VolumeAveragePoolOptions Options = graph::VolumeAveragePoolOptions{2}, TensorOperand X>
[[nodiscard]] auto avg_pool3d(X&& x) {
  return nn::detail::at_once(nn::detail::avg_pool3d_of<Options>, std::forward<X>(x));
}
/// Means of as many windows as the result has.
template <graph::Sides3 Output, TensorOperand X> [[nodiscard]] auto adaptive_avg_pool3d(X&& x) {
  return nn::detail::at_once(nn::detail::adaptive_avg_pool3d_of<Output>, std::forward<X>(x));
}
/// The greatest elements of as many windows as the result has.
template <graph::Sides3 Output, TensorOperand X> [[nodiscard]] auto adaptive_max_pool3d(X&& x) {
  return nn::detail::at_once(nn::detail::adaptive_max_pool3d_of<Output>, std::forward<X>(x));
}

}}} // namespace twill::v0::TWILL_ISA
