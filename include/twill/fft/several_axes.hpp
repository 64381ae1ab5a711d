#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Discrete Fourier transforms along several axes, under NumPy's names: `fft2(x)` along the last two, `fftn(x)` along
// all, `rfftn<0, 1>(x)` along those that are named, the last of them as real numbers. Numbers of points go in `Dims`,
// one for each axis: `fft2(x, Dims(64, 128))`. Read next: fft/convolve.hpp.

#include <twill/core/config.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/reduced.hpp>
#include <twill/fft/transforms.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace fft { namespace detail {

/// throws: ValueError where the numbers of points are not as many as the axes
void require_points(const char* function, const Dims& points, int axes);

inline namespace TWILL_ISA {

/// The axes that were named, or all of a rank, from the front.
template <int Rank, int... Axes> [[nodiscard]] consteval auto named_axes() {
  static_assert(Rank > 0, "twill: fft: a number has no axis to transform along");
  if constexpr (expr::axes_mask<Rank, Axes...>() == ~0U)
    static_cast<void>(sizeof(Mistake<refused<twill::Problem::axis_is_named_twice, with::axis<Axes>...>>));
  std::array<int, sizeof...(Axes) == 0 ? std::size_t{Rank} : sizeof...(Axes)> axes{axis_of<Axes, Rank>...};
  if (sizeof...(Axes) == 0)
    for (int axis = 0; axis < Rank; ++axis) axes[static_cast<std::size_t>(axis)] = axis;
  return axes;
}
template <class X, int... Axes>
inline constexpr auto axes_in = named_axes<std::remove_cvref_t<X>::shape_type::rank, Axes...>();

/// Complex transforms along axes [First, Count) of a list, of points that the operand has.
template <auto Axes, std::size_t First, std::size_t Count, class Y>
void transform_in_place(Sign sign, const Y& y, Norm norm) {
  for (std::size_t i = First; i < Count; ++i) {
    const std::int64_t n = y.shape()[Axes[i]];
    run_along(Kind::complex, sign, y, y, Axes[i], n, scale_of(norm, sign, n));
  }
}

/// Complex transforms along the first `Count` axes of a list, of points that the operand has.
template <auto Axes, std::size_t Count, class X>
[[nodiscard]] auto along_axes(const char* function, Sign sign, X&& x, Norm norm) {
  if constexpr (Count == 0) {
    return numbers<true>(std::forward<X>(x));
  } else {
    auto y = complex_transform<Axes[0], whole_axis>(function, sign, std::forward<X>(x), std::nullopt, norm);
    for (std::size_t i = 1; i < Count; ++i) static_cast<void>(checked_points(function, y.shape()[Axes[i]], Axes[i]));
    transform_in_place<Axes, 1, Count>(sign, y, norm);
    return y;
  }
}
/// Along axes [First, Count) of a list, of points that are named.
template <auto Axes, std::size_t First, std::size_t Count, class X>
[[nodiscard]] auto along_axes(const char* function, Sign sign, X&& x, const Dims& points, Norm norm) {
  if constexpr (First == Count)
    return numbers<true>(std::forward<X>(x));
  else
    return along_axes<Axes, First + 1, Count>(
        function, sign,
        complex_transform<Axes[First], dyn>(function, sign, std::forward<X>(x), points[int{First}], norm), points,
        norm);
}

template <Sign S, auto Axes, class X> [[nodiscard]] auto complex_n(const char* function, X&& x, Norm norm) {
  return along_axes<Axes, Axes.size()>(function, S, std::forward<X>(x), norm);
}
template <Sign S, auto Axes, class X>
[[nodiscard]] auto complex_n(const char* function, X&& x, const Dims& points, Norm norm) {
  require_points(function, points, int{Axes.size()});
  return along_axes<Axes, 0, Axes.size()>(function, S, std::forward<X>(x), points, norm);
}

template <auto Axes, class X> [[nodiscard]] auto real_n(const char* function, X&& x, Norm norm) {
  auto y = transform_of_real<Axes.back(), whole_axis>(function, Sign::forward, std::forward<X>(x), std::nullopt, norm);
  for (std::size_t i = 0; i + 1 < Axes.size(); ++i)
    static_cast<void>(checked_points(function, y.shape()[Axes[i]], Axes[i]));
  transform_in_place<Axes, 0, Axes.size() - 1>(Sign::forward, y, norm);
  return y;
}
template <auto Axes, class X> [[nodiscard]] auto real_n(const char* function, X&& x, const Dims& points, Norm norm) {
  require_points(function, points, int{Axes.size()});
  return along_axes<Axes, 0, Axes.size() - 1>(
      function, Sign::forward,
      transform_of_real<Axes.back(), dyn>(function, Sign::forward, std::forward<X>(x), points[points.rank - 1], norm),
      points, norm);
}

template <auto Axes, class X> [[nodiscard]] auto inverse_real_n(const char* function, X&& x, Norm norm) {
  return transform_to_real<Axes.back(), whole_axis>(
      function, Sign::inverse, along_axes<Axes, Axes.size() - 1>(function, Sign::inverse, std::forward<X>(x), norm),
      std::nullopt, norm);
}
template <auto Axes, class X>
[[nodiscard]] auto inverse_real_n(const char* function, X&& x, const Dims& points, Norm norm) {
  require_points(function, points, int{Axes.size()});
  return transform_to_real<Axes.back(), dyn>(
      function, Sign::inverse,
      along_axes<Axes, 0, Axes.size() - 1>(function, Sign::inverse, std::forward<X>(x), points, norm),
      points[points.rank - 1], norm);
}

} // namespace TWILL_ISA
}}}} // namespace twill::v0::fft::detail

namespace twill { inline namespace v0 { namespace fft { inline namespace TWILL_ISA {

/// `fft` along all axes, or those that are named. throws: ValueError (no points)
template <int... Axes, TensorOperand X> [[nodiscard]] auto fftn(X&& x, Norm norm = backward) {
  return detail::complex_n<detail::Sign::forward, detail::axes_in<X, Axes...>>("fftn", std::forward<X>(x), norm);
}
/// Of the numbers of points that are named, cropped or padded with zeros. throws: ValueError (not one for each axis)
template <int... Axes, TensorOperand X> [[nodiscard]] auto fftn(X&& x, const Dims& points, Norm norm = backward) {
  return detail::complex_n<detail::Sign::forward, detail::axes_in<X, Axes...>>("fftn", std::forward<X>(x), points,
                                                                               norm);
}
/// The inverse of `fftn`.
template <int... Axes, TensorOperand X> [[nodiscard]] auto ifftn(X&& x, Norm norm = backward) {
  return detail::complex_n<detail::Sign::inverse, detail::axes_in<X, Axes...>>("ifftn", std::forward<X>(x), norm);
}
/// Of the numbers of points that are named.
template <int... Axes, TensorOperand X> [[nodiscard]] auto ifftn(X&& x, const Dims& points, Norm norm = backward) {
  return detail::complex_n<detail::Sign::inverse, detail::axes_in<X, Axes...>>("ifftn", std::forward<X>(x), points,
                                                                               norm);
}

/// `rfft` along the last axis that is named, `fft` along the others.
template <int... Axes, TensorOperand X> [[nodiscard]] auto rfftn(X&& x, Norm norm = backward) {
  return detail::real_n<detail::axes_in<X, Axes...>>("rfftn", std::forward<X>(x), norm);
}
/// Of the numbers of points that are named.
template <int... Axes, TensorOperand X> [[nodiscard]] auto rfftn(X&& x, const Dims& points, Norm norm = backward) {
  return detail::real_n<detail::axes_in<X, Axes...>>("rfftn", std::forward<X>(x), points, norm);
}
/// The inverse of `rfftn`.
template <int... Axes, TensorOperand X> [[nodiscard]] auto irfftn(X&& x, Norm norm = backward) {
  return detail::inverse_real_n<detail::axes_in<X, Axes...>>("irfftn", std::forward<X>(x), norm);
}
/// Of the numbers of points that the real result has.
template <int... Axes, TensorOperand X> [[nodiscard]] auto irfftn(X&& x, const Dims& points, Norm norm = backward) {
  return detail::inverse_real_n<detail::axes_in<X, Axes...>>("irfftn", std::forward<X>(x), points, norm);
}

/// `fftn` along two axes, the last ones unless others are named.
template <int First = -2, int Last = -1, TensorOperand X> [[nodiscard]] auto fft2(X&& x, Norm norm = backward) {
  return detail::complex_n<detail::Sign::forward, detail::axes_in<X, First, Last>>("fft2", std::forward<X>(x), norm);
}
/// Of the numbers of points that are named.
template <int First = -2, int Last = -1, TensorOperand X>
[[nodiscard]] auto fft2(X&& x, const Dims& points, Norm norm = backward) {
  return detail::complex_n<detail::Sign::forward, detail::axes_in<X, First, Last>>("fft2", std::forward<X>(x), points,
                                                                                   norm);
}
/// The inverse of `fft2`.
template <int First = -2, int Last = -1, TensorOperand X> [[nodiscard]] auto ifft2(X&& x, Norm norm = backward) {
  return detail::complex_n<detail::Sign::inverse, detail::axes_in<X, First, Last>>("ifft2", std::forward<X>(x), norm);
}
/// Of the numbers of points that are named.
template <int First = -2, int Last = -1, TensorOperand X>
[[nodiscard]] auto ifft2(X&& x, const Dims& points, Norm norm = backward) {
  return detail::complex_n<detail::Sign::inverse, detail::axes_in<X, First, Last>>("ifft2", std::forward<X>(x), points,
                                                                                   norm);
}
/// `rfftn` along two axes.
template <int First = -2, int Last = -1, TensorOperand X> [[nodiscard]] auto rfft2(X&& x, Norm norm = backward) {
  return detail::real_n<detail::axes_in<X, First, Last>>("rfft2", std::forward<X>(x), norm);
}
/// Of the numbers of points that are named.
template <int First = -2, int Last = -1, TensorOperand X>
[[nodiscard]] auto rfft2(X&& x, const Dims& points, Norm norm = backward) {
  return detail::real_n<detail::axes_in<X, First, Last>>("rfft2", std::forward<X>(x), points, norm);
}
/// The inverse of `rfft2`.
template <int First = -2, int Last = -1, TensorOperand X> [[nodiscard]] auto irfft2(X&& x, Norm norm = backward) {
  return detail::inverse_real_n<detail::axes_in<X, First, Last>>("irfft2", std::forward<X>(x), norm);
}
/// Of the numbers of points that the real result has.
template <int First = -2, int Last = -1, TensorOperand X>
[[nodiscard]] auto irfft2(X&& x, const Dims& points, Norm norm = backward) {
  return detail::inverse_real_n<detail::axes_in<X, First, Last>>("irfft2", std::forward<X>(x), points, norm);
}

}}}} // namespace twill::v0::fft::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/fft/several_axes.ipp>
#endif
