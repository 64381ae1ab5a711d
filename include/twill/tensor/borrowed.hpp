#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Borrowed memory as a tensor, and tensors as views of a type from another library, without copies: raw pointers on any
// device, std::span, and every type like std::mdspan (C++23's, Kokkos's, cuda::std's), recognised by its members. The
// memory keeps its owner, which has to outlive the view. Work on a GPU goes to the caller's own stream inside a
// `StreamGuard`. For memory that comes with an owner, read next: tensor/dlpack.hpp.

#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/shape.hpp>
#include <twill/core/text.hpp>
#include <twill/device/device.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/tensor/extents.hpp>
#include <twill/tensor/tensor.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 {

/// A view of several dimensions with a plain pointer, such as std::mdspan. Not checked by the compiler: element (i, j)
/// is `i * stride(0) + j * stride(1)` elements after the pointer.
template <class M>
concept MdspanLike = requires(const M& view) {
  typename M::element_type;
  typename M::extents_type;
  { M::rank() } -> std::convertible_to<std::size_t>;
  { M::static_extent(0) } -> std::convertible_to<std::size_t>;
  { view.data_handle() } -> std::convertible_to<const typename M::element_type*>;
  { view.extent(0) } -> std::convertible_to<std::int64_t>;
  { view.stride(0) } -> std::convertible_to<std::int64_t>;
};

namespace detail {

[[nodiscard]] constexpr std::int64_t extent_of_view(std::size_t extent) {
  return extent == static_cast<std::size_t>(-1) ? dyn : static_cast<std::int64_t>(extent); // std::dynamic_extent
}

template <MdspanLike M, class Axes = std::make_index_sequence<M::rank()>> struct ShapeOfView;
template <MdspanLike M, std::size_t... Axis> struct ShapeOfView<M, std::index_sequence<Axis...>> {
  using type = Shape<extent_of_view(static_cast<std::size_t>(M::static_extent(Axis)))...>;
};

template <MdspanLike M> [[nodiscard]] Dims strides_of_view(const M& view) {
  Dims strides{};
  strides.rank = static_cast<int>(M::rank());
  for (std::size_t axis = 0; axis < M::rank(); ++axis)
    strides[static_cast<int>(axis)] = static_cast<std::int64_t>(view.stride(axis));
  return strides;
}

/// A view of these extents and, where its layout has free strides, of these strides.
template <MdspanLike M, std::size_t... Axis>
[[nodiscard]] M view_with(typename M::element_type* data, const Dims& extents, const Dims& strides,
                          std::index_sequence<Axis...> /*axes*/) {
  using Mapping = typename M::mapping_type;
  using Index = typename M::extents_type::index_type;
  const typename M::extents_type shape(static_cast<Index>(extents[static_cast<int>(Axis)])...);
  const std::array<Index, sizeof...(Axis)> steps{static_cast<Index>(strides[static_cast<int>(Axis)])...};
  if constexpr (std::constructible_from<Mapping, decltype(shape), decltype(steps)>)
    return M(data, Mapping(shape, steps));
  else
    return M(data, Mapping(shape));
}

} // namespace detail

/// Elements at an address of a device, row-major: `tensor_over<Shape<dyn, 3>>(pointer, Dims(rows, 3))`. The memory has
/// to outlive every handle and view. throws: ShapeError
template <AnyShape S, Scalar T, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> tensor_over(T* data, const Dims& extents, const D& device = {}) {
  return {memory::Buffer<D>(device, 0), data, extents, contiguous_strides(extents)};
}
/// Elements with strides, in elements. throws: ShapeError, also where there are not as many strides as extents
template <AnyShape S, Scalar T, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> tensor_over(T* data, const Dims& extents, const Dims& strides, const D& device = {}) {
  if (strides.rank != extents.rank)
    throw ShapeError(
        join_text({"tensor_over: strides ", to_string(strides), " are not as many as extents ", to_string(extents)}));
  return {memory::Buffer<D>(device, 0), data, extents, strides};
}
/// Elements at an address in a static shape.
template <AnyShape S, Scalar T, Device D = Cpu>
requires S::is_static [[nodiscard]] Tensor<T, D, S> tensor_over(T* data, const D& device = {}) {
  return tensor_over<S>(data, S::dims(), device);
}

/// The elements of a span as a host tensor of one dimension; its extent is static where the span's is.
template <Scalar T, std::size_t Extent>
[[nodiscard]] auto tensor_of(std::span<T, Extent> elements, const Cpu& device = Cpu{0}) {
  return tensor_over<Shape<detail::extent_of_view(Extent)>>(elements.data(),
                                                            Dims(static_cast<std::int64_t>(elements.size())), device);
}

/// The elements of a view as a host tensor with its strides; static extents carry over.
template <MdspanLike M> [[nodiscard]] auto tensor_of(const M& view, const Cpu& device = Cpu{0}) {
  using Element = typename M::element_type;
  static_assert(!std::is_const_v<Element>,
                "twill: tensor_of: the elements of the view are const, and those of a tensor "
                "may be written; copy them, or make the view one of elements that may change");
  static_assert(Scalar<Element>, "twill: tensor_of: no tensor can hold the view's type of elements");
  static_assert(M::rank() <= static_cast<std::size_t>(max_rank), "twill: tensor_of: a tensor has at most 8 dimensions");
  static_assert(std::same_as<std::remove_cvref_t<decltype(view.data_handle())>, Element*>,
                "twill: tensor_of: the elements of the view are read through more than a plain pointer");
  using S = typename detail::ShapeOfView<M>::type;
  Dims extents{};
  extents.rank = S::rank;
  for (int axis = 0; axis < S::rank; ++axis)
    extents[axis] = static_cast<std::int64_t>(view.extent(static_cast<std::size_t>(axis)));
  return tensor_over<S>(view.data_handle(), extents, detail::strides_of_view(view), device);
}

/// The elements of a host tensor as a view of a type that the caller chooses: `view_as<std::mdspan<float, E>>(x)`.
/// Valid while the tensor's memory is; waits for the work that the device was given.
/// throws: ShapeError where an extent is not the type's, ValueError where its layout cannot have the strides
template <MdspanLike M, Scalar T, AnyShape S> [[nodiscard]] M view_as(const Tensor<T, Cpu, S>& x) {
  using Element = typename M::element_type;
  using Known = typename detail::ShapeOfView<M>::type;
  if constexpr (!std::same_as<std::remove_const_t<Element>, T>) {
    static_assert(Scalar<std::remove_const_t<Element>>, "twill: view_as: no tensor holds the view's type of elements");
    static_cast<void>(sizeof(Mistake<refused<Problem::element_types_differ, with::left_type<dtype_of<T>>,
                                             with::right_type<dtype_of<std::remove_const_t<Element>>>>>));
  }
  if constexpr (Known::rank != S::rank)
    static_cast<void>(
        sizeof(Mistake<refused<Problem::ranks_differ, with::left_rank<S::rank>, with::right_rank<Known::rank>>>));
  const Dims extents = x.shape();
  const Dims strides = x.strides();
  detail::require_fit<Known>("view_as", extents, sizeof(T));
  synchronize(x.device());
  const M view = detail::view_with<M>(x.data(), extents, strides, std::make_index_sequence<M::rank()>{});
  const Dims found = detail::strides_of_view(view);
  for (int axis = 0; axis < S::rank; ++axis)
    if (extents.elements() > 0 && extents[axis] > 1 && found[axis] != strides[axis])
      throw ValueError(join_text({"view_as: strides ", to_string(strides), " of shape ", to_string(extents),
                                  ", and the view's layout has ", to_string(found), "; take contiguous() first"}));
  return view;
}

}} // namespace twill::v0
