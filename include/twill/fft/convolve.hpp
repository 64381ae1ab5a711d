#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Convolution by Fourier transforms, `fftconvolve` of scipy.signal: over all axes, or those that are named, in the
// modes full, same and valid. Its time hardly depends on the shorter operand, so that long kernels are fast; its error
// is one of the largest result, not of each. Read next: fft/several_axes.hpp.

#include <twill/core/config.hpp>
#include <twill/core/refused.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/operators.hpp>
#include <twill/fft/convolve_part.hpp>
#include <twill/fft/frequencies.hpp>
#include <twill/fft/several_axes.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace fft { namespace detail {

/// `convolution_sizes`. throws: ValueError where an operand is empty, or for `valid` neither is inside of the other
[[nodiscard]] Convolution convolution_of(Part part, const Dims& a, const Dims& b, unsigned mask);

inline namespace TWILL_ISA {

/// The axes of a mask, ascending.
template <int Rank, unsigned Mask> [[nodiscard]] consteval auto axes_of_mask() {
  std::array<int, static_cast<std::size_t>(std::popcount(Mask))> axes{};
  std::size_t place = 0;
  for (int axis = 0; axis < Rank; ++axis)
    if ((Mask >> axis & 1U) != 0) axes[place++] = axis;
  return axes;
}

} // namespace TWILL_ISA
}}}} // namespace twill::v0::fft::detail

namespace twill { inline namespace v0 { namespace fft { inline namespace TWILL_ISA {

/// sum_j a_j b_(k-j) over all axes, or those that are named; other axes broadcast. Both have the same rank. Of complex
/// operands, or a complex and a real one, complex. throws: ValueError (no elements; `valid` without one inside of the
/// other)
template <int... Axes, TensorOperand A, TensorOperand B, Part P = Part::full>
[[nodiscard]] auto fftconvolve(A&& a, B&& b, ConvolveMode<P> = {}) {
  using S = typename std::remove_cvref_t<A>::shape_type;
  using S2 = typename std::remove_cvref_t<B>::shape_type;
  if constexpr (S::rank != S2::rank)
    static_cast<void>(
        sizeof(Mistake<refused<twill::Problem::ranks_differ, with::left_rank<S::rank>, with::right_rank<S2::rank>>>));
  static_assert(detail::axes_in<A, Axes...>.size() > 0);
  constexpr unsigned mask = expr::axes_mask<S::rank, Axes...>();
  constexpr auto axes = detail::axes_of_mask<S::rank, mask>();
  const auto left = detail::numbers<false>(std::forward<A>(a));
  const auto right = detail::numbers<false>(std::forward<B>(b));
  const detail::Convolution sizes = detail::convolution_of(P, left.shape(), right.shape(), mask);
  const auto whole = [&] {
    if constexpr (ComplexScalar<typename decltype(left)::value_type> ||
                  ComplexScalar<typename decltype(right)::value_type>) {
      using detail::Sign;
      auto product = eval(detail::complex_n<Sign::forward, axes>("fftconvolve", left, sizes.points, backward) *
                          detail::complex_n<Sign::forward, axes>("fftconvolve", right, sizes.points, backward));
      detail::transform_in_place<axes, 0, axes.size()>(Sign::inverse, product, backward);
      return product;
    } else {
      return detail::inverse_real_n<axes>("fftconvolve",
                                          eval(detail::real_n<axes>("fftconvolve", left, sizes.points, backward) *
                                               detail::real_n<axes>("fftconvolve", right, sizes.points, backward)),
                                          sizes.points, backward);
    }
  }();
  using T = typename decltype(whole)::value_type;
  using To = shape_t<detail::convolved_dims(P, dims_of<S>, dims_of<S2>, mask)>;
  const Dims strides = whole.strides();
  std::int64_t offset = 0;
  for (int axis = 0; axis < S::rank; ++axis) offset += sizes.first[axis] * strides[axis];
  using D = typename decltype(whole)::device_type;
  T* const from = whole.data() == nullptr ? nullptr : whole.data() + offset;
  return Tensor<T, D, To>(whole.storage(), from, sizes.extents, strides).contiguous();
}

}}}} // namespace twill::v0::fft::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/fft/convolve.ipp>
#endif
