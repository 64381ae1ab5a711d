#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Normalisations over the rows of an axis, as compositions of reductions and arithmetic. The fuser has no special case
// for them: each becomes one row program, and so does its gradient. Definitions and defaults are PyTorch's.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/core/promotion.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/ops/norms.hpp>

#include <concepts>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// (x - mean) / sqrt(variance + epsilon) over one axis.
[[nodiscard]] TWILL_CONSTEXPR Value layer_norm(Value x, double epsilon = 1e-5, int axis = -1,
                                               CallSite site = CallSite::here()) {
  return detail::in_wide(x, [&](Value wide) { return formula::LayerNorm{}(wide, epsilon, AlongAxis{axis, site}); });
}

/// Refused: a second argument that is an integer would be an axis. Epsilon is a floating-point number.
template <std::integral Axis, class... More> void layer_norm(Value x, Axis axis, More...) = delete;

/// Layer normalisation over the last axis, scaled and shifted by vectors of its length.
[[nodiscard]] TWILL_CONSTEXPR Value layer_norm(Value x, Value scale, Value shift, double epsilon = 1e-5,
                                               CallSite site = CallSite::here()) {
  return layer_norm(x, epsilon, -1, site) * scale + shift;
}

/// x / sqrt(mean(x^2) + epsilon) over one axis.
[[nodiscard]] TWILL_CONSTEXPR Value rms_norm(Value x, double epsilon = 1e-5, int axis = -1,
                                             CallSite site = CallSite::here()) {
  return detail::in_wide(x, [&](Value wide) { return formula::RmsNorm{}(wide, epsilon, AlongAxis{axis, site}); });
}

/// Refused: a second argument that is an integer would be an axis.
template <std::integral Axis, class... More> void rms_norm(Value x, Axis axis, More...) = delete;

/// x / max(|x|, epsilon) over one axis, |x| being the root of the sum of squares.
[[nodiscard]] TWILL_CONSTEXPR Value normalize(Value x, double epsilon = 1e-12, int axis = -1,
                                              CallSite site = CallSite::here()) {
  return detail::in_wide(x, [&](Value wide) {
    return wide / clamp_min(detail::euclidean_norm(wide, axis, KeepDims::yes, site), epsilon);
  });
}

/// Refused: a second argument that is an integer would be an axis, or the order of a norm as PyTorch's.
template <std::integral Axis, class... More> void normalize(Value x, Axis axis, More...) = delete;

// Axes in angle brackets, as for tensors.

/// (x - mean) / sqrt(variance + epsilon) over one axis.
template <int Axis>
[[nodiscard]] constexpr Value layer_norm(Value x, double epsilon = 1e-5, CallSite site = CallSite::here()) {
  return layer_norm(x, epsilon, Axis, site);
}
/// x / sqrt(mean(x^2) + epsilon) over one axis.
template <int Axis>
[[nodiscard]] constexpr Value rms_norm(Value x, double epsilon = 1e-5, CallSite site = CallSite::here()) {
  return rms_norm(x, epsilon, Axis, site);
}
/// x / max(|x|, epsilon) over one axis.
template <int Axis>
[[nodiscard]] constexpr Value normalize(Value x, double epsilon = 1e-12, CallSite site = CallSite::here()) {
  return normalize(x, epsilon, Axis, site);
}

/// The cosine of the angle between a and b over one axis, which disappears.
[[nodiscard]] TWILL_CONSTEXPR Value cosine_similarity(Value a, Value b, int axis = -1, double epsilon = 1e-8,
                                                      CallSite site = CallSite::here()) {
  const DType type = floating_type(detail::autocast_to_wide(a * b).dtype());
  const Value left = widened(a), right = widened(b);
  const auto length = [&](Value x) { return clamp_min(detail::euclidean_norm(x, axis, KeepDims::no, site), epsilon); };
  return cast(sum(left * right, {axis}, KeepDims::no, site) / (length(left) * length(right)), type);
}

}}}} // namespace twill::v0::graph::TWILL_ISA
