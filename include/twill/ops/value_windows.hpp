#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sliding windows over an axis of a traced value, and discrete convolution of vectors, with NumPy's names, as those of
// tensors. Windows are a copy, to whose elements gradients add up. Convolutions of floats run through the kernels of
// convolution layers. Not in twill.hpp. Read next: ops/convolution.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/core/samples.hpp>
#include <twill/graph/operators.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/graph/shape_functions.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/convolution.hpp>
#include <twill/ops/gather.hpp>
#include <twill/ops/slice.hpp>

#include <cstdint>
#include <utility>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

[[nodiscard]] TWILL_CONSTEXPR Value windows(Value x, int position, std::int64_t window, CallSite site) {
  const std::int64_t extent = x.rank() == 0 ? 0 : x.size(position, site);
  if (window < 0 || window > extent) x.graph().refuse(Problem::slice_reaches_outside_of_the_axis, window, extent, site);
  if (x.graph().fault.any()) return x;
  Extents starts{}, offsets{};
  starts.append({extent - window + 1, 0});
  starts.append({});
  offsets.append({window, 0});
  const Value parts = take(x, iota(x.graph(), starts) + iota(x.graph(), offsets), position, site);
  const int last = parts.rank() - 1;
  return reordered(parts, [&](int axis) { return axis <= position ? axis : axis == last ? position + 1 : axis + 1; });
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Every window of `window` elements of an axis as a new last axis; the axis counts the windows.
/// errors: a window outside of 0 to the extent, an axis unknown until run time    cost: a copy of all windows
template <int Axis>
[[nodiscard]] constexpr Value sliding_window_view(Value x, std::int64_t window, CallSite site = CallSite::here()) {
  return detail::windows(x, checked_axis(x, Axis, site), window, site);
}

/// The sums over k of a[k] v[n - k] of two vectors, NumPy's convolve. errors: a vector without elements or of a length
/// unknown until run time    cost: the product of both lengths
[[nodiscard]] TWILL_CONSTEXPR Value convolve(Value a, Value v, ConvolveMode mode = ConvolveMode::full,
                                             CallSite site = CallSite::here()) {
  Graph& graph = a.graph();
  const bool are_vectors = a.rank() == 1 && v.rank() == 1;
  const std::int64_t left = are_vectors ? a.size(0, site) : 0, right = are_vectors ? v.size(0, site) : 0;
  if (left == 0 || right == 0) graph.refuse(Problem::convolve_takes_two_vectors_with_elements, left, right, site);
  if (graph.fault.any()) return a;
  const DType dtype = promote(a.dtype(), v.dtype());
  Value longer = cast(a, dtype), shorter = cast(v, dtype);
  if (right > left) std::swap(longer, shorter);
  const std::int64_t width = shorter.size(0, site);
  const std::int64_t whole = mode == ConvolveMode::full ? width - 1 : 0;
  const Margin margin = mode == ConvolveMode::same ? Margin{width / 2, (width - 1) / 2} : Margin{whole, whole};
  const Value padded = pad(longer, 0, margin, 0, site);
  const Value kernel = flip(shorter, {0}, site);
  if (!is_floating(dtype)) return cast(sum(detail::windows(padded, 0, width, site) * kernel, {-1}), dtype);
  const auto one_channel = [](Value x) { return unsqueeze(unsqueeze(x, 0), 0); };
  return flatten(conv1d(one_channel(padded), one_channel(kernel), {}, site), 0, -1, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA
