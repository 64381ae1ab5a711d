#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Discrete Fourier transforms of tensors along one axis, under NumPy's names: `fft<1>(x)` along axis 1, `fft(x, 128)`
// along the last one, cropped or padded with zeros to 128 points, `fft<-1, 128>(x)` with the extent in the type. They
// compute at once, evaluate expressions first, and return new tensors; any number of points is fast. Integers become
// float32, and results have the precision of the operand. Read next: fft/several_axes.hpp.

#include <twill/core/config.hpp>
#include <twill/fft/along.hpp>

#include <cstdint>
#include <optional>

namespace twill { inline namespace v0 { namespace fft {

/// The number of points where none is named: all of the axis.
inline constexpr std::int64_t whole_axis = -2;

}}} // namespace twill::v0::fft

namespace twill { inline namespace v0 { namespace fft { namespace detail { inline namespace TWILL_ISA {

/// The static number of points: the named one, or what follows from the axis.
[[nodiscard]] constexpr std::int64_t known_points(std::int64_t named, std::int64_t of_axis) {
  return named == whole_axis ? of_axis : named;
}

/// The points of Hermitian lines with so many coefficients, and the other way round; `dyn` stays.
[[nodiscard]] constexpr std::int64_t points_of(std::int64_t coefficients) {
  return coefficients == dyn ? dyn : 2 * (coefficients - 1);
}
[[nodiscard]] constexpr std::int64_t coefficients_of(std::int64_t points) {
  return points == dyn ? dyn : points / 2 + 1;
}

template <int Axis, class X> inline constexpr int axis_in = axis_of<Axis, std::remove_cvref_t<X>::shape_type::rank>;
template <int Axis, class X>
inline constexpr std::int64_t extent_in = std::remove_cvref_t<X>::shape_type::extent(axis_in<Axis, X>);

template <int Axis, std::int64_t N, class X>
[[nodiscard]] auto complex_transform(const char* function, Sign sign, X&& x, std::optional<std::int64_t> n, Norm norm) {
  const auto source = numbers<false>(std::forward<X>(x));
  using T = typename decltype(source)::value_type;
  constexpr int axis = axis_in<Axis, X>;
  const std::int64_t points = checked_points(function, n.value_or(source.shape()[axis]), axis);
  return transformed<axis, known_points(N, extent_in<axis, X>), Complex<part_t<T>>>(
      ComplexScalar<T> ? Kind::complex : Kind::complex_of_real, sign, source, points, points,
      scale_of(norm, sign, points));
}

template <int Axis, std::int64_t N, class X>
[[nodiscard]] auto transform_of_real(const char* function, Sign sign, X&& x, std::optional<std::int64_t> n, Norm norm) {
  const auto source = numbers<false>(std::forward<X>(x));
  using T = typename decltype(source)::value_type;
  static_assert(!ComplexScalar<T>, "twill: rfft and ihfft: the operand is complex; fft and ifft take it");
  constexpr int axis = axis_in<Axis, X>;
  const std::int64_t points = checked_points(function, n.value_or(source.shape()[axis]), axis);
  return transformed<axis, coefficients_of(known_points(N, extent_in<axis, X>)), Complex<part_t<T>>>(
      Kind::hermitian_of_real, sign, source, coefficients_of(points), points, scale_of(norm, sign, points));
}

template <int Axis, std::int64_t N, class X>
[[nodiscard]] auto transform_to_real(const char* function, Sign sign, X&& x, std::optional<std::int64_t> n, Norm norm) {
  const auto source = numbers<true>(std::forward<X>(x));
  using T = typename decltype(source)::value_type;
  constexpr int axis = axis_in<Axis, X>;
  const std::int64_t points = checked_points(function, n.value_or(points_of(source.shape()[axis])), axis);
  return transformed<axis, known_points(N, points_of(extent_in<axis, X>)), part_t<T>>(
      Kind::real_of_hermitian, sign, source, points, points, scale_of(norm, sign, points));
}

template <std::int64_t N>
inline constexpr std::optional<std::int64_t> asked = N == whole_axis ? std::nullopt : std::optional<std::int64_t>{N};

}}}}} // namespace twill::v0::fft::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace fft { inline namespace TWILL_ISA {

/// X_k = sum_j x_j exp(-2 pi i j k / n) of real or complex numbers, complex. throws: ValueError (no points)
template <int Axis = -1, std::int64_t N = whole_axis, TensorOperand X>
[[nodiscard]] auto fft(X&& x, Norm norm = backward) {
  return detail::complex_transform<Axis, N>("fft", detail::Sign::forward, std::forward<X>(x), detail::asked<N>, norm);
}
/// Of n points: the first n of the axis, with zeros after them where there are less. throws: ValueError (n < 1)
template <int Axis = -1, TensorOperand X> [[nodiscard]] auto fft(X&& x, std::int64_t n, Norm norm = backward) {
  return detail::complex_transform<Axis, dyn>("fft", detail::Sign::forward, std::forward<X>(x), n, norm);
}

/// The inverse of `fft`: x_j = sum_k X_k exp(2 pi i j k / n) / n.
template <int Axis = -1, std::int64_t N = whole_axis, TensorOperand X>
[[nodiscard]] auto ifft(X&& x, Norm norm = backward) {
  return detail::complex_transform<Axis, N>("ifft", detail::Sign::inverse, std::forward<X>(x), detail::asked<N>, norm);
}
/// Of n points, cropped or padded with zeros.
template <int Axis = -1, TensorOperand X> [[nodiscard]] auto ifft(X&& x, std::int64_t n, Norm norm = backward) {
  return detail::complex_transform<Axis, dyn>("ifft", detail::Sign::inverse, std::forward<X>(x), n, norm);
}

/// The first n / 2 + 1 coefficients of real numbers, which give the others: X_(n-k) = conj X_k. Half the work of `fft`
/// where n is even.
template <int Axis = -1, std::int64_t N = whole_axis, TensorOperand X>
[[nodiscard]] auto rfft(X&& x, Norm norm = backward) {
  return detail::transform_of_real<Axis, N>("rfft", detail::Sign::forward, std::forward<X>(x), detail::asked<N>, norm);
}
/// Of n points, cropped or padded with zeros.
template <int Axis = -1, TensorOperand X> [[nodiscard]] auto rfft(X&& x, std::int64_t n, Norm norm = backward) {
  return detail::transform_of_real<Axis, dyn>("rfft", detail::Sign::forward, std::forward<X>(x), n, norm);
}

/// The inverse of `rfft`: 2 (m - 1) real numbers of m coefficients. An odd number of points has to be named. Imaginary
/// parts of coefficient 0, and n / 2 for even n, are not read.
template <int Axis = -1, std::int64_t N = whole_axis, TensorOperand X>
[[nodiscard]] auto irfft(X&& x, Norm norm = backward) {
  return detail::transform_to_real<Axis, N>("irfft", detail::Sign::inverse, std::forward<X>(x), detail::asked<N>, norm);
}
/// n real numbers of the first n / 2 + 1 coefficients.
template <int Axis = -1, TensorOperand X> [[nodiscard]] auto irfft(X&& x, std::int64_t n, Norm norm = backward) {
  return detail::transform_to_real<Axis, dyn>("irfft", detail::Sign::inverse, std::forward<X>(x), n, norm);
}

/// The real transform of 2 (m - 1) numbers that are Hermitian, x_(n-j) = conj x_j, and given by the first m.
template <int Axis = -1, std::int64_t N = whole_axis, TensorOperand X>
[[nodiscard]] auto hfft(X&& x, Norm norm = backward) {
  return detail::transform_to_real<Axis, N>("hfft", detail::Sign::forward, std::forward<X>(x), detail::asked<N>, norm);
}
/// Of n points, which the first n / 2 + 1 give.
template <int Axis = -1, TensorOperand X> [[nodiscard]] auto hfft(X&& x, std::int64_t n, Norm norm = backward) {
  return detail::transform_to_real<Axis, dyn>("hfft", detail::Sign::forward, std::forward<X>(x), n, norm);
}

/// The inverse of `hfft`: the first n / 2 + 1 numbers that have this real transform.
template <int Axis = -1, std::int64_t N = whole_axis, TensorOperand X>
[[nodiscard]] auto ihfft(X&& x, Norm norm = backward) {
  return detail::transform_of_real<Axis, N>("ihfft", detail::Sign::inverse, std::forward<X>(x), detail::asked<N>, norm);
}
/// Of n points, cropped or padded with zeros.
template <int Axis = -1, TensorOperand X> [[nodiscard]] auto ihfft(X&& x, std::int64_t n, Norm norm = backward) {
  return detail::transform_of_real<Axis, dyn>("ihfft", detail::Sign::inverse, std::forward<X>(x), n, norm);
}

}}}} // namespace twill::v0::fft::TWILL_ISA
