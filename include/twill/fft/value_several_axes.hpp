#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms in models along several axes, under the names of those of tensors: `fft2(z)` along the last two,
// `fftn(z)` along all, `rfftn<0, 1>(x)` along those that are named, the last of them as real numbers. Each is a
// transform along one axis after the other. Numbers of points go in `Dims`, one for each axis. Moves of frequency 0 are
// here as well. Not in twill.hpp. Read next: fft/value_transforms.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>
#include <twill/fft/value_transforms.hpp>
#include <twill/ops/concatenate.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace twill { inline namespace v0 { namespace fft { namespace detail { inline namespace TWILL_ISA {

/// Axes of a value in the order in which they are named, and numbers of points along them, if any are named.
struct TracedAxes {
  int count = 0;
  int axes[max_rank]{};
  const Dims* points = nullptr;

  [[nodiscard]] constexpr std::optional<std::int64_t> points_of(int i) const {
    return points != nullptr ? std::optional<std::int64_t>{(*points)[i]} : std::nullopt;
  }
};

/// All axes where none are named.
[[nodiscard]] TWILL_CONSTEXPR TracedAxes traced_axes(Value x, std::initializer_list<int> named, const Dims* points,
                                                     CallSite site) {
  TracedAxes result{.points = points};
  if (x.rank() == 0) x.graph().refuse(Problem::axis_is_outside_the_rank, -1, 0, site);
  if (named.size() == 0)
    for (int axis = 0; axis < x.rank(); ++axis) result.axes[result.count++] = axis;
  for (const int axis : named) {
    const int position = checked_axis(x, axis, site);
    for (int i = 0; i < result.count; ++i)
      if (result.axes[i] == position) x.graph().refuse(Problem::axis_is_named_twice, axis, x.rank(), site);
    if (x.graph().fault.any()) return result;
    result.axes[result.count++] = position;
  }
  if (points != nullptr && points->rank != result.count)
    x.graph().refuse(Problem::points_are_not_one_for_each_axis, points->rank, result.count, site);
  return result;
}

/// Along axes [first, last) of a list.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue complex_along(ComplexValue z, const TracedAxes& along, int first, int last,
                                                         Sign sign, Norm norm, CallSite site) {
  for (int i = first; i < last && !z.graph().fault.any(); ++i)
    z = complex_along(z, sign, along.axes[i], along.points_of(i), norm, site);
  return z;
}

[[nodiscard]] TWILL_CONSTEXPR ComplexValue complex_n(const ComplexValue& z, const TracedAxes& along, Sign sign,
                                                     Norm norm, CallSite site) {
  return complex_along(z, along, 0, along.count, sign, norm, site);
}
[[nodiscard]] TWILL_CONSTEXPR ComplexValue complex_n(Value x, const TracedAxes& along, Sign sign, Norm norm,
                                                     CallSite site) {
  if (x.graph().fault.any()) return {x, x};
  return complex_along(complex_along(x, sign, along.axes[0], along.points_of(0), norm, site), along, 1, along.count,
                       sign, norm, site);
}
[[nodiscard]] TWILL_CONSTEXPR ComplexValue complex_n(const ComplexValue& z, std::initializer_list<int> axes,
                                                     const Dims* points, Sign sign, Norm norm, CallSite site) {
  return complex_n(z, traced_axes(z.re, axes, points, site), sign, norm, site);
}
[[nodiscard]] TWILL_CONSTEXPR ComplexValue complex_n(Value x, std::initializer_list<int> axes, const Dims* points,
                                                     Sign sign, Norm norm, CallSite site) {
  return complex_n(x, traced_axes(x, axes, points, site), sign, norm, site);
}
[[nodiscard]] TWILL_CONSTEXPR ComplexValue hermitian_n(Value x, const TracedAxes& along, Norm norm, CallSite site) {
  if (x.graph().fault.any()) return {x, x};
  const int last = along.count - 1;
  return complex_along(hermitian_along(x, Sign::forward, along.axes[last], along.points_of(last), norm, site), along, 0,
                       last, Sign::forward, norm, site);
}
[[nodiscard]] TWILL_CONSTEXPR ComplexValue hermitian_n(Value x, std::initializer_list<int> axes, const Dims* points,
                                                       Norm norm, CallSite site) {
  return hermitian_n(x, traced_axes(x, axes, points, site), norm, site);
}
[[nodiscard]] TWILL_CONSTEXPR Value real_n(const ComplexValue& z, const TracedAxes& along, Norm norm, CallSite site) {
  if (z.graph().fault.any()) return z.re;
  const int last = along.count - 1;
  const ComplexValue lines = complex_along(z, along, 0, last, Sign::inverse, norm, site);
  return real_along(lines, Sign::inverse, along.axes[last], along.points_of(last), norm, site);
}
[[nodiscard]] TWILL_CONSTEXPR Value real_n(const ComplexValue& z, std::initializer_list<int> axes, const Dims* points,
                                           Norm norm, CallSite site) {
  return real_n(z, traced_axes(z.re, axes, points, site), norm, site);
}

/// Moves each axis by half its extent, rounded down or up.
[[nodiscard]] TWILL_CONSTEXPR Value shifted(Value x, std::initializer_list<int> axes, Sign sign, CallSite site) {
  const TracedAxes along = traced_axes(x, axes, nullptr, site);
  for (int i = 0; i < along.count && !x.graph().fault.any(); ++i) {
    const std::int64_t n = x.size(along.axes[i], site);
    x = roll(x, sign == Sign::forward ? n / 2 : (n + 1) / 2, along.axes[i], site);
  }
  return x;
}
[[nodiscard]] TWILL_CONSTEXPR ComplexValue shifted(const ComplexValue& z, std::initializer_list<int> axes, Sign sign,
                                                   CallSite site) {
  return {shifted(z.re, axes, sign, site), shifted(z.im, axes, sign, site)};
}

}}}}} // namespace twill::v0::fft::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace fft { inline namespace TWILL_ISA {

/// `fft` of traced real or complex numbers along all axes, or those that are named. errors: an axis named twice
template <int... Axes, detail::Traced X>
[[nodiscard]] constexpr graph::ComplexValue fftn(const X& x, Norm norm = backward, CallSite site = CallSite::here()) {
  return detail::complex_n(x, {Axes...}, nullptr, detail::Sign::forward, norm, site);
}
/// Of the numbers of points that are named, cropped or padded with zeros. errors: not one for each axis
template <int... Axes, detail::Traced X>
[[nodiscard]] constexpr graph::ComplexValue fftn(const X& x, const Dims& points, Norm norm = backward,
                                                 CallSite site = CallSite::here()) {
  return detail::complex_n(x, {Axes...}, &points, detail::Sign::forward, norm, site);
}
/// The inverse of `fftn`.
template <int... Axes, detail::Traced X>
[[nodiscard]] constexpr graph::ComplexValue ifftn(const X& x, Norm norm = backward, CallSite site = CallSite::here()) {
  return detail::complex_n(x, {Axes...}, nullptr, detail::Sign::inverse, norm, site);
}
/// Of the numbers of points that are named.
template <int... Axes, detail::Traced X>
[[nodiscard]] constexpr graph::ComplexValue ifftn(const X& x, const Dims& points, Norm norm = backward,
                                                  CallSite site = CallSite::here()) {
  return detail::complex_n(x, {Axes...}, &points, detail::Sign::inverse, norm, site);
}

/// `rfft` along the last axis that is named, `fft` along the others.
template <int... Axes>
[[nodiscard]] constexpr graph::ComplexValue rfftn(graph::Value x, Norm norm = backward,
                                                  CallSite site = CallSite::here()) {
  return detail::hermitian_n(x, {Axes...}, nullptr, norm, site);
}
/// Of the numbers of points that are named.
template <int... Axes>
[[nodiscard]] constexpr graph::ComplexValue rfftn(graph::Value x, const Dims& points, Norm norm = backward,
                                                  CallSite site = CallSite::here()) {
  return detail::hermitian_n(x, {Axes...}, &points, norm, site);
}
/// The inverse of `rfftn`, of an even number of points along the last axis.
template <int... Axes>
[[nodiscard]] constexpr graph::Value irfftn(const graph::ComplexValue& z, Norm norm = backward,
                                            CallSite site = CallSite::here()) {
  return detail::real_n(z, {Axes...}, nullptr, norm, site);
}
/// Of the numbers of points that the real result has.
template <int... Axes>
[[nodiscard]] constexpr graph::Value irfftn(const graph::ComplexValue& z, const Dims& points, Norm norm = backward,
                                            CallSite site = CallSite::here()) {
  return detail::real_n(z, {Axes...}, &points, norm, site);
}

/// `fftn` along two axes, the last ones unless others are named.
template <int First = -2, int Last = -1, detail::Traced X>
[[nodiscard]] constexpr graph::ComplexValue fft2(const X& x, Norm norm = backward, CallSite site = CallSite::here()) {
  return fftn<First, Last>(x, norm, site);
}
/// Of the numbers of points that are named.
template <int First = -2, int Last = -1, detail::Traced X>
[[nodiscard]] constexpr graph::ComplexValue fft2(const X& x, const Dims& points, Norm norm = backward,
                                                 CallSite site = CallSite::here()) {
  return fftn<First, Last>(x, points, norm, site);
}
/// The inverse of `fft2`.
template <int First = -2, int Last = -1, detail::Traced X>
[[nodiscard]] constexpr graph::ComplexValue ifft2(const X& x, Norm norm = backward, CallSite site = CallSite::here()) {
  return ifftn<First, Last>(x, norm, site);
}
/// Of the numbers of points that are named.
template <int First = -2, int Last = -1, detail::Traced X>
[[nodiscard]] constexpr graph::ComplexValue ifft2(const X& x, const Dims& points, Norm norm = backward,
                                                  CallSite site = CallSite::here()) {
  return ifftn<First, Last>(x, points, norm, site);
}
/// `rfftn` along two axes.
template <int First = -2, int Last = -1>
[[nodiscard]] constexpr graph::ComplexValue rfft2(graph::Value x, Norm norm = backward,
                                                  CallSite site = CallSite::here()) {
  return rfftn<First, Last>(x, norm, site);
}
/// Of the numbers of points that are named.
template <int First = -2, int Last = -1>
[[nodiscard]] constexpr graph::ComplexValue rfft2(graph::Value x, const Dims& points, Norm norm = backward,
                                                  CallSite site = CallSite::here()) {
  return rfftn<First, Last>(x, points, norm, site);
}
/// The inverse of `rfft2`, of an even number of points along the last axis.
template <int First = -2, int Last = -1>
[[nodiscard]] constexpr graph::Value irfft2(const graph::ComplexValue& z, Norm norm = backward,
                                            CallSite site = CallSite::here()) {
  return irfftn<First, Last>(z, norm, site);
}
/// Of the numbers of points that the real result has.
template <int First = -2, int Last = -1>
[[nodiscard]] constexpr graph::Value irfft2(const graph::ComplexValue& z, const Dims& points, Norm norm = backward,
                                            CallSite site = CallSite::here()) {
  return irfftn<First, Last>(z, points, norm, site);
}

/// Moves frequency 0 of traced real or complex numbers to the middle of all axes, or of those that are named.
/// errors: an axis unknown until run time
template <int... Axes, detail::Traced X>
[[nodiscard]] constexpr auto fftshift(const X& x, CallSite site = CallSite::here()) {
  return detail::shifted(x, {Axes...}, detail::Sign::forward, site);
}
/// Undoes `fftshift`, also of odd extents.
template <int... Axes, detail::Traced X>
[[nodiscard]] constexpr auto ifftshift(const X& x, CallSite site = CallSite::here()) {
  return detail::shifted(x, {Axes...}, detail::Sign::inverse, site);
}

}}}} // namespace twill::v0::fft::TWILL_ISA
