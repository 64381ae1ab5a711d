#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Discrete cosine transforms of types 2 and 3, `dct` and `idct`, as scipy.fft defines them, along one axis. They are a
// real Fourier transform of n points and one pass more (Makhoul, 1980). Read next: fft/transforms.hpp.

#include <twill/core/config.hpp>
#include <twill/fft/transforms.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <utility>

namespace twill { inline namespace v0 { namespace fft {

/// Which cosine transform, and its norm.
struct CosineOptions {
  int type = 2;               ///< 2 or 3
  Norm norm = Norm::backward; ///< `ortho` makes the transform orthogonal
};

}}} // namespace twill::v0::fft

namespace twill { inline namespace v0 { namespace fft { namespace detail {

/// throws: ValueError for other types than 2 and 3
void require_cosine_type(const char* function, int type);

inline namespace TWILL_ISA {

template <int Axis, std::int64_t N, class X>
[[nodiscard]] auto cosine_transform(const char* function, Sign sign, X&& x, std::optional<std::int64_t> n,
                                    const CosineOptions& options) {
  require_cosine_type(function, options.type);
  const auto source = numbers<false>(std::forward<X>(x));
  using T = typename decltype(source)::value_type;
  static_assert(!ComplexScalar<T>,
                "twill: dct and idct: the operand is complex; transform its real and imaginary parts");
  constexpr int axis = axis_in<Axis, X>;
  const std::int64_t points = checked_points(function, n.value_or(source.shape()[axis]), axis);
  const bool is_second = (options.type == 2) == (sign == Sign::forward); // the two are each other's inverse
  const double first = options.norm != Norm::ortho ? 1 : is_second ? std::numbers::sqrt2 / 2 : std::numbers::sqrt2;
  return transformed<axis, known_points(N, extent_in<axis, X>), T>(is_second ? Kind::cosine_2 : Kind::cosine_3,
                                                                   Sign::forward, source, points, points,
                                                                   scale_of(options.norm, sign, 2 * points), first);
}

} // namespace TWILL_ISA
}}}} // namespace twill::v0::fft::detail

namespace twill { inline namespace v0 { namespace fft { inline namespace TWILL_ISA {

/// Type 2: y_k = 2 sum_j x_j cos(pi k (2j + 1) / 2n); type 3: y_j = x_0 + 2 sum_(k>0) x_k cos(pi k (2j + 1) / 2n).
/// throws: ValueError (another type, no points)
template <int Axis = -1, std::int64_t N = whole_axis, TensorOperand X>
[[nodiscard]] auto dct(X&& x, const CosineOptions& options = {}) {
  return detail::cosine_transform<Axis, N>("dct", detail::Sign::forward, std::forward<X>(x), detail::asked<N>, options);
}
/// Of n points, cropped or padded with zeros.
template <int Axis = -1, TensorOperand X>
[[nodiscard]] auto dct(X&& x, std::int64_t n, const CosineOptions& options = {}) {
  return detail::cosine_transform<Axis, dyn>("dct", detail::Sign::forward, std::forward<X>(x), n, options);
}
/// The inverse of `dct` of this type: the other type, by default divided by 2n.
template <int Axis = -1, std::int64_t N = whole_axis, TensorOperand X>
[[nodiscard]] auto idct(X&& x, const CosineOptions& options = {}) {
  return detail::cosine_transform<Axis, N>("idct", detail::Sign::inverse, std::forward<X>(x), detail::asked<N>,
                                           options);
}
/// Of n points, cropped or padded with zeros.
template <int Axis = -1, TensorOperand X>
[[nodiscard]] auto idct(X&& x, std::int64_t n, const CosineOptions& options = {}) {
  return detail::cosine_transform<Axis, dyn>("idct", detail::Sign::inverse, std::forward<X>(x), n, options);
}

}}}} // namespace twill::v0::fft::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/fft/cosine.ipp>
#endif
