#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Views of complex tensors as real ones and back, by PyTorch's names. They share the memory: `real(z) = x` writes the
// real parts. Functions of complex numbers are in expr/complex_functions.hpp. Read next: tensor/copy.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/promotion.hpp>
#include <twill/tensor/copy.hpp>
#include <twill/tensor/tensor.hpp>

namespace twill { inline namespace v0 { namespace detail {

/// The real (0) or imaginary (1) parts of a complex tensor, a view.
template <ComplexScalar T, Device D, AnyShape S>
[[nodiscard]] Tensor<real_t<T>, D, S> part_of(const Tensor<T, D, S>& z, int part) {
  return {z.storage(), first_part(z.data(), part), z.shape(), strides_of_parts(z.strides())};
}

/// A shape with one more axis at the end.
[[nodiscard]] constexpr Dims with_last_axis(Dims dims, std::int64_t extent) {
  dims[dims.rank++] = extent;
  return dims;
}

}}} // namespace twill::v0::detail

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The real parts of a complex tensor, a view.
template <ComplexScalar T, Device D, AnyShape S> [[nodiscard]] Tensor<real_t<T>, D, S> real(const Tensor<T, D, S>& z) {
  return detail::part_of(z, 0);
}
/// The imaginary parts of a complex tensor, a view.
template <ComplexScalar T, Device D, AnyShape S> [[nodiscard]] Tensor<real_t<T>, D, S> imag(const Tensor<T, D, S>& z) {
  return detail::part_of(z, 1);
}

/// A complex tensor as a real one with a last axis of extent 2, real and imaginary part: a view.
template <ComplexScalar T, Device D, AnyShape S>
requires(S::rank < max_rank) [[nodiscard]] auto view_as_real(const Tensor<T, D, S>& z) {
  using To = shape_t<detail::with_last_axis(dims_of<S>, 2)>;
  return Tensor<real_t<T>, D, To>(z.storage(), detail::first_part(z.data(), 0), detail::with_last_axis(z.shape(), 2),
                                  detail::with_last_axis(detail::strides_of_parts(z.strides()), 1));
}

/// A real tensor with a last axis of extent 2 as a complex one without it: a view, the opposite of `view_as_real`.
/// throws: ShapeError unless the last axis has extent 2 and stride 1, and the other strides are even
template <Scalar T, Device D, AnyShape S>
requires(std::floating_point<T>&& S::rank > 0) [[nodiscard]] auto view_as_complex(const Tensor<T, D, S>& x) {
  constexpr int last = S::rank - 1;
  using To = shape_t<detail::without_axis(dims_of<S>, last)>;
  Dims strides = x.strides();
  bool fits = x.shape()[last] == 2 && strides[last] == 1;
  for (int axis = 0; axis < last; ++axis) fits = fits && strides[axis] % 2 == 0;
  const auto address = reinterpret_cast<std::uintptr_t>(x.data());
  if (!fits || address % alignof(Complex<T>) != 0)
    throw ShapeError(
        "view_as_complex: the last axis has extent 2 and stride 1 and the other strides are even; got shape " +
        to_string(x.shape()) + " with strides " + to_string(strides) + "; take contiguous() first");
  strides = detail::without_axis(strides, last);
  for (int axis = 0; axis < last; ++axis) strides[axis] /= 2;
  return Tensor<Complex<T>, D, To>(x.storage(), reinterpret_cast<Complex<T>*>(x.data()),
                                   detail::without_axis(x.shape(), last), strides);
}

}}} // namespace twill::v0::TWILL_ISA
