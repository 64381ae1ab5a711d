#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Frequencies of the coefficients of Fourier transforms, the order with frequency 0 in the middle, and lengths that are
// transformed fastest. Read next: fft/transforms.hpp.

#include <twill/core/config.hpp>
#include <twill/device/current.hpp>
#include <twill/expr/gather.hpp>
#include <twill/expr/repeat.hpp>
#include <twill/fft/plan.hpp>
#include <twill/fft/several_axes.hpp>
#include <twill/tensor/create.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace fft { namespace detail {

/// The coefficients of a transform: all, or the first half of Hermitian ones.
enum class Coefficients : bool { all, half };

/// k / (n step), or (k - n) / (n step) where k is at least half of n and all are wanted.
[[nodiscard]] std::vector<double> frequencies(const char* function, std::int64_t n, double step, Coefficients wanted);

inline namespace TWILL_ISA {

template <class T, class D> [[nodiscard]] auto frequency_tensor(const std::vector<double>& values, const D& device) {
  std::vector<T> numbers;
  for (const double value : values) numbers.push_back(static_cast<T>(value));
  return from_values(numbers, device);
}

/// Moves each axis of a list by half its extent, rounded down or up.
template <auto Axes, std::size_t I = 0, class X> [[nodiscard]] auto shifted(const X& x, Sign sign) {
  const std::int64_t n = x.shape()[Axes[I]];
  auto once = roll<Axes[I]>(x, sign == Sign::forward ? n / 2 : (n + 1) / 2);
  if constexpr (I + 1 == Axes.size())
    return once;
  else
    return shifted<Axes, I + 1>(once, sign);
}

} // namespace TWILL_ISA
}}}} // namespace twill::v0::fft::detail

namespace twill { inline namespace v0 { namespace fft { inline namespace TWILL_ISA {

/// The frequencies of the n coefficients of `fft`, in cycles per unit of `step`, the distance of two samples: 0 and the
/// positive ones, then the negative ones. throws: ValueError (n < 1)
template <FloatingScalar T = float, Device D = Cpu>
[[nodiscard]] auto fftfreq(std::int64_t n, double step = 1, const D& device = current_device<D>()) {
  return detail::frequency_tensor<T>(detail::frequencies("fftfreq", n, step, detail::Coefficients::all), device);
}
/// The frequencies of the n / 2 + 1 coefficients of `rfft`, all at least 0.
template <FloatingScalar T = float, Device D = Cpu>
[[nodiscard]] auto rfftfreq(std::int64_t n, double step = 1, const D& device = current_device<D>()) {
  return detail::frequency_tensor<T>(detail::frequencies("rfftfreq", n, step, detail::Coefficients::half), device);
}

/// Moves frequency 0 to the middle of all axes, or of those that are named.
template <int... Axes, TensorOperand X> [[nodiscard]] auto fftshift(X&& x) {
  return detail::shifted<detail::axes_in<X, Axes...>>(expr::evaluated(std::forward<X>(x)), detail::Sign::forward);
}
/// Undoes `fftshift`, also of odd extents.
template <int... Axes, TensorOperand X> [[nodiscard]] auto ifftshift(X&& x) {
  return detail::shifted<detail::axes_in<X, Axes...>>(expr::evaluated(std::forward<X>(x)), detail::Sign::inverse);
}

/// The least length of at least n that is fastest to transform: its prime factors are 2, 3 and 5. SciPy's allows 7 and
/// 11 as well. throws: ValueError (n < 1)
[[nodiscard]] inline std::int64_t next_fast_len(std::int64_t n) {
  return detail::fast_length(detail::checked_points("next_fast_len", n, 0));
}

}}}} // namespace twill::v0::fft::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/fft/frequencies.ipp>
#endif
