#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tensors as `cuda::std::mdspan`, without copies: the type's static extents carry over, other extents and the strides
// are values. The way back, and mdspans of other libraries: `tensor_of` and `view_as` in tensor/borrowed.hpp. Empty
// where libcu++ has no mdspan yet.

#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/tensor/borrowed.hpp>
#include <twill/tensor/tensor.hpp>

#if __has_include(<cuda/std/mdspan>)
#include <cuda/std/array>
#include <cuda/std/mdspan>
#endif

#include <cstddef>
#include <cstdint>
#include <string>

#if __has_include(<cuda/std/mdspan>)
namespace twill { inline namespace v0 {

namespace algorithms {

[[nodiscard]] constexpr std::size_t mdspan_extent(std::int64_t extent) {
  return extent == dyn ? ::cuda::std::dynamic_extent : static_cast<std::size_t>(extent);
}
template <class S> struct MdspanExtents;
template <std::int64_t... E> struct MdspanExtents<Shape<E...>> {
  using type = ::cuda::std::extents<std::int64_t, mdspan_extent(E)...>;
};

template <std::size_t Rank> [[nodiscard]] auto array_of(const Dims& dims) {
  ::cuda::std::array<std::int64_t, Rank> result{};
  for (std::size_t axis = 0; axis < Rank; ++axis) result[axis] = dims[static_cast<int>(axis)];
  return result;
}

} // namespace algorithms

/// The elements of a host tensor as an mdspan with strides; valid while the tensor's memory is.
/// throws: ValueError (a stride that is zero or negative: mdspan has none)
template <Scalar T, AnyShape S> [[nodiscard]] auto mdspan_of(const Tensor<T, Cpu, S>& x) {
  using Extents = typename algorithms::MdspanExtents<S>::type;
  using Mapping = ::cuda::std::layout_stride::template mapping<Extents>;
  const Dims extents = x.shape();
  Dims strides = x.strides();
  for (int axis = 0; axis < S::rank; ++axis) {
    if (extents[axis] <= 1 && strides[axis] <= 0) strides[axis] = 1;
    if (strides[axis] <= 0)
      throw ValueError("mdspan_of: strides " + to_string(strides) + " of shape " + to_string(extents) +
                       " are not positive; take contiguous() first");
  }
  synchronize(x.device());
  constexpr auto rank = static_cast<std::size_t>(S::rank);
  const Extents shape(algorithms::array_of<rank>(extents));
  return ::cuda::std::mdspan<T, Extents, ::cuda::std::layout_stride>(
      x.data(), Mapping(shape, algorithms::array_of<rank>(strides)));
}

/// The elements of a contiguous host tensor as a row-major mdspan, which needs no strides.
/// throws: ValueError when the elements are not contiguous
template <Scalar T, AnyShape S> [[nodiscard]] auto contiguous_mdspan_of(const Tensor<T, Cpu, S>& x) {
  if (!x.is_contiguous())
    throw ValueError("contiguous_mdspan_of: strides " + to_string(x.strides()) + " of shape " + to_string(x.shape()) +
                     " leave gaps; use mdspan_of, or take contiguous() first");
  using Extents = typename algorithms::MdspanExtents<S>::type;
  synchronize(x.device());
  return ::cuda::std::mdspan<T, Extents, ::cuda::std::layout_right>(
      x.data(), Extents(algorithms::array_of<static_cast<std::size_t>(S::rank)>(x.shape())));
}

}} // namespace twill::v0
#endif
