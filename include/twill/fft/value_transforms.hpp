#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms in models along one axis, under the names of those of tensors: `fft::rfft(x)` of a traced value is
// a `graph::ComplexValue`, with derivatives of any order. Not in twill.hpp. Read next: fft/value_several_axes.hpp,
// fft/value_cosine.hpp, ops/complex_value.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/fft/norm.hpp>
#include <twill/fft/transforms.hpp>
#include <twill/fft/value_lines.hpp>
#include <twill/ops/complex_value.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/slice.hpp>

#include <concepts>
#include <cstdint>
#include <optional>

namespace twill { inline namespace v0 { namespace fft { namespace detail { inline namespace TWILL_ISA {

/// What complex transforms take: traced real or complex numbers.
template <class X>
concept Traced = std::convertible_to<const X&, Value> || std::convertible_to<const X&, ComplexValue>;

/// A traced value around an axis, and the way back.
struct Lines {
  int axis = 0;
  Extents shape{};

  constexpr Lines(const Extents& of, int position) : axis{position}, shape{of} {}

  /// (outer, axis, inner)
  [[nodiscard]] TWILL_CONSTEXPR Value of(Value x) const {
    Extents around{{}, {}, {}};
    for (int i = 0; i < shape.rank; ++i) {
      graph::Extent& part = around[i < axis ? 0 : i == axis ? 1 : 2];
      part = part * shape[i];
    }
    return reshape(x, around);
  }
  [[nodiscard]] TWILL_CONSTEXPR Value back(Value lines) const {
    Extents result = shape;
    result[axis] = lines.shape()[1];
    return reshape(lines, result);
  }
};

/// The value with the number of points that is asked for along it.
[[nodiscard]] TWILL_CONSTEXPR Value with_points(Value x, int axis, std::optional<std::int64_t> n, CallSite site) {
  if (!n || x.graph().fault.any()) return x;
  const std::int64_t extent = x.size(axis, site);
  if (*n < 1) x.graph().refuse(Problem::fourier_transform_needs_at_least_one_point, *n, extent, site);
  if (x.graph().fault.any() || *n == extent) return x;
  return *n < extent ? narrow(x, axis, 0, *n, site) : pad(x, axis, {0, *n - extent}, 0, site);
}

/// float32 or float64, in which transforms are computed.
[[nodiscard]] TWILL_CONSTEXPR Value computed(Value x) {
  return cast(x, x.dtype() == DType::float64 ? DType::float64 : DType::float32);
}

[[nodiscard]] TWILL_CONSTEXPR ComplexValue complex_lines(Value re, const Value* im, Sign sign, int axis,
                                                         std::optional<std::int64_t> n, Norm norm, CallSite site) {
  const int position = checked_axis(re, axis, site);
  if (re.graph().fault.any()) return {re, re};
  re = with_points(computed(re), position, n, site);
  if (re.graph().fault.any()) return {re, re};
  const Lines lines{re.shape(), position};
  const Value real_lines = lines.of(re);
  const Transform t{im != nullptr ? Kind::complex : Kind::complex_of_real, sign, factor_of(norm, sign)};
  if (im == nullptr) {
    const ComplexValue y = to_complex(real_lines, nullptr, t);
    return {lines.back(y.re), lines.back(y.im)};
  }
  const Value imaginary_lines = lines.of(with_points(computed(*im), position, n, site));
  const ComplexValue y = to_complex(real_lines, &imaginary_lines, t);
  return {lines.back(y.re), lines.back(y.im)};
}

[[nodiscard]] TWILL_CONSTEXPR ComplexValue complex_along(Value x, Sign sign, int axis, std::optional<std::int64_t> n,
                                                         Norm norm, CallSite site) {
  return complex_lines(x, nullptr, sign, axis, n, norm, site);
}
[[nodiscard]] TWILL_CONSTEXPR ComplexValue complex_along(const ComplexValue& z, Sign sign, int axis,
                                                         std::optional<std::int64_t> n, Norm norm, CallSite site) {
  return complex_lines(z.re, &z.im, sign, axis, n, norm, site);
}

/// The first coefficients of real lines, whose transform is Hermitian.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue hermitian_along(Value x, Sign sign, int axis, std::optional<std::int64_t> n,
                                                           Norm norm, CallSite site) {
  const int position = checked_axis(x, axis, site);
  if (x.graph().fault.any()) return {x, x};
  x = with_points(computed(x), position, n, site);
  const std::int64_t extent = x.graph().fault.any() ? 0 : x.size(position, site);
  if (extent < 1) x.graph().refuse(Problem::fourier_transform_needs_at_least_one_point, extent, extent, site);
  if (x.graph().fault.any()) return {x, x};
  const Lines lines{x.shape(), position};
  const ComplexValue y = to_complex(lines.of(x), nullptr, {Kind::hermitian_of_real, sign, factor_of(norm, sign)});
  return {lines.back(y.re), lines.back(y.im)};
}

/// The real transform of Hermitian lines, which their first numbers give.
[[nodiscard]] TWILL_CONSTEXPR Value real_along(const ComplexValue& z, Sign sign, int axis,
                                               std::optional<std::int64_t> n, Norm norm, CallSite site) {
  const int position = checked_axis(z.re, axis, site);
  if (z.graph().fault.any()) return z.re;
  const std::int64_t points = n ? *n : 2 * (z.size(position, site) - 1);
  if (points < 1)
    z.graph().refuse(Problem::fourier_transform_needs_at_least_one_point, points, z.size(position, site), site);
  if (z.graph().fault.any()) return z.re;
  const std::optional<std::int64_t> coefficients{points / 2 + 1};
  const Value re = with_points(computed(z.re), position, coefficients, site);
  const Value im = with_points(computed(z.im), position, coefficients, site);
  if (z.graph().fault.any()) return z.re;
  const Lines lines{re.shape(), position};
  return lines.back(
      to_real({lines.of(re), lines.of(im)}, points, {Kind::real_of_hermitian, sign, factor_of(norm, sign)}));
}

}}}}} // namespace twill::v0::fft::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace fft { inline namespace TWILL_ISA {

/// X_k = sum_j x_j exp(-2 pi i j k / n) of traced real or complex numbers along an axis, which may be unknown until run
/// time. 16-bit floats and integers are transformed in float32. errors: an axis outside of the rank
template <int Axis = -1, std::int64_t N = whole_axis, detail::Traced X>
[[nodiscard]] constexpr graph::ComplexValue fft(const X& x, Norm norm = backward, CallSite site = CallSite::here()) {
  return detail::complex_along(x, detail::Sign::forward, Axis, detail::asked<N>, norm, site);
}
/// Of n points, cropped or padded with zeros. errors: n < 1, an axis unknown until run time
template <int Axis = -1, detail::Traced X>
[[nodiscard]] constexpr graph::ComplexValue fft(const X& x, std::int64_t n, Norm norm = backward,
                                                CallSite site = CallSite::here()) {
  return detail::complex_along(x, detail::Sign::forward, Axis, n, norm, site);
}

/// The inverse of `fft`: x_j = sum_k X_k exp(2 pi i j k / n) / n.
template <int Axis = -1, std::int64_t N = whole_axis, detail::Traced X>
[[nodiscard]] constexpr graph::ComplexValue ifft(const X& x, Norm norm = backward, CallSite site = CallSite::here()) {
  return detail::complex_along(x, detail::Sign::inverse, Axis, detail::asked<N>, norm, site);
}
/// Of n points, cropped or padded with zeros.
template <int Axis = -1, detail::Traced X>
[[nodiscard]] constexpr graph::ComplexValue ifft(const X& x, std::int64_t n, Norm norm = backward,
                                                 CallSite site = CallSite::here()) {
  return detail::complex_along(x, detail::Sign::inverse, Axis, n, norm, site);
}

/// The first n / 2 + 1 coefficients of traced real numbers. errors: an axis that is empty or unknown until run time
template <int Axis = -1, std::int64_t N = whole_axis>
[[nodiscard]] constexpr graph::ComplexValue rfft(graph::Value x, Norm norm = backward,
                                                 CallSite site = CallSite::here()) {
  return detail::hermitian_along(x, detail::Sign::forward, Axis, detail::asked<N>, norm, site);
}
/// Of n points, cropped or padded with zeros.
template <int Axis = -1>
[[nodiscard]] constexpr graph::ComplexValue rfft(graph::Value x, std::int64_t n, Norm norm = backward,
                                                 CallSite site = CallSite::here()) {
  return detail::hermitian_along(x, detail::Sign::forward, Axis, n, norm, site);
}

/// The inverse of `rfft`: 2 (m - 1) real numbers of m coefficients. An odd number of points has to be named. Imaginary
/// parts of coefficient 0, and n / 2 for even n, are not read, and their gradient is 0.
template <int Axis = -1, std::int64_t N = whole_axis>
[[nodiscard]] constexpr graph::Value irfft(const graph::ComplexValue& z, Norm norm = backward,
                                           CallSite site = CallSite::here()) {
  return detail::real_along(z, detail::Sign::inverse, Axis, detail::asked<N>, norm, site);
}
/// n real numbers of the first n / 2 + 1 coefficients.
template <int Axis = -1>
[[nodiscard]] constexpr graph::Value irfft(const graph::ComplexValue& z, std::int64_t n, Norm norm = backward,
                                           CallSite site = CallSite::here()) {
  return detail::real_along(z, detail::Sign::inverse, Axis, n, norm, site);
}

/// The real transform of 2 (m - 1) numbers that are Hermitian, x_(n-j) = conj x_j, and given by the first m.
/// The imaginary parts that `irfft` does not read are not read.
template <int Axis = -1, std::int64_t N = whole_axis>
[[nodiscard]] constexpr graph::Value hfft(const graph::ComplexValue& z, Norm norm = backward,
                                          CallSite site = CallSite::here()) {
  return detail::real_along(z, detail::Sign::forward, Axis, detail::asked<N>, norm, site);
}
/// Of n points, which the first n / 2 + 1 give.
template <int Axis = -1>
[[nodiscard]] constexpr graph::Value hfft(const graph::ComplexValue& z, std::int64_t n, Norm norm = backward,
                                          CallSite site = CallSite::here()) {
  return detail::real_along(z, detail::Sign::forward, Axis, n, norm, site);
}

/// The inverse of `hfft`: the first n / 2 + 1 numbers that have this real transform.
template <int Axis = -1, std::int64_t N = whole_axis>
[[nodiscard]] constexpr graph::ComplexValue ihfft(graph::Value x, Norm norm = backward,
                                                  CallSite site = CallSite::here()) {
  return detail::hermitian_along(x, detail::Sign::inverse, Axis, detail::asked<N>, norm, site);
}
/// Of n points, cropped or padded with zeros.
template <int Axis = -1>
[[nodiscard]] constexpr graph::ComplexValue ihfft(graph::Value x, std::int64_t n, Norm norm = backward,
                                                  CallSite site = CallSite::here()) {
  return detail::hermitian_along(x, detail::Sign::inverse, Axis, n, norm, site);
}

}}}} // namespace twill::v0::fft::TWILL_ISA
