#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Creation of tensors. Element type and shape are template arguments (`zeros<float, Shape<2, 3>>()`), run-time extents
// are passed as a `Dims` (`zeros<float, Shape<dyn, 3>>(Dims(n, 3))`), and the device comes last: by default the current
// host device. Read next: tensor/like.hpp, tensor/random.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/shape.hpp>
#include <twill/tensor/tensor.hpp>

#include <concepts>
#include <cstdint>
#include <iterator>
#include <string>

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Uninitialised elements.
template <Scalar T = float, AnyShape S, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> empty(const Dims& extents, const D& device = current_device<D>()) {
  return Tensor<T, D, S>(device, extents);
}
template <Scalar T = float, AnyShape S, Device D = Cpu>
requires S::is_static [[nodiscard]] Tensor<T, D, S> empty(const D& device = current_device<D>()) {
  return Tensor<T, D, S>(device);
}

/// All elements with one value.
template <Scalar T = float, AnyShape S, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> full(const Dims& extents, T value, const D& device = current_device<D>()) {
  Tensor<T, D, S> result(device, extents);
  result.fill(value);
  return result;
}
template <Scalar T = float, AnyShape S, Device D = Cpu>
requires S::is_static [[nodiscard]] Tensor<T, D, S> full(T value, const D& device = current_device<D>()) {
  return full<T, S, D>(S::dims(), value, device);
}

/// Zeros, of a shape whose dynamic extents are given.
template <Scalar T = float, AnyShape S, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> zeros(const Dims& extents, const D& device = current_device<D>()) {
  return full<T, S, D>(extents, T{}, device);
}
/// Zeros, of a static shape.
template <Scalar T = float, AnyShape S, Device D = Cpu>
requires S::is_static [[nodiscard]] Tensor<T, D, S> zeros(const D& device = current_device<D>()) {
  return full<T, S, D>(S::dims(), T{}, device);
}

/// Ones, of a shape whose dynamic extents are given.
template <Scalar T = float, AnyShape S, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> ones(const Dims& extents, const D& device = current_device<D>()) {
  return full<T, S, D>(extents, static_cast<T>(1), device);
}
/// Ones, of a static shape.
template <Scalar T = float, AnyShape S, Device D = Cpu>
requires S::is_static [[nodiscard]] Tensor<T, D, S> ones(const D& device = current_device<D>()) {
  return full<T, S, D>(S::dims(), static_cast<T>(1), device);
}

/// A tensor of rank 0.
template <Scalar T, Device D = Cpu>
[[nodiscard]] Tensor<T, D, Shape<>> scalar(T value, const D& device = current_device<D>()) {
  return full<T, Shape<>, D>(Dims{}, value, device);
}

}}} // namespace twill::v0::TWILL_ISA

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

/// Copies values of the caller to a new tensor on any device.
template <Scalar T, AnyShape S, Device D>
[[nodiscard]] Tensor<T, D, S> from_values(const T* values, std::int64_t count, const Dims& extents, const D& device) {
  if (extents.elements() != count)
    throw ShapeError("from_values: shape " + to_string(extents) + " takes " + std::to_string(extents.elements()) +
                     " values, but there are " + std::to_string(count));
  Tensor<T, D, S> result(device, extents);
  transfer(device, result.data(), reader_of(device), values, count, sizeof(T), CopyOptions{}, result.storage());
  return result;
}

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// A contiguous range of values in the caller's memory.
template <class R>
concept ValueRange = requires(const R& values) {
  requires Scalar<std::remove_cvref_t<decltype(*std::data(values))>>;
  std::size(values);
};

/// The elements of a contiguous range, as a vector or in any shape of as many elements.
template <AnyShape S = Shape<dyn>, ValueRange R, Device D = Cpu>
[[nodiscard]] auto from_values(const R& values, const Dims& extents, const D& device = current_device<D>()) {
  return detail::from_values<std::remove_cvref_t<decltype(*std::data(values))>, S, D>(
      std::data(values), static_cast<std::int64_t>(std::size(values)), extents, device);
}
template <AnyShape S = Shape<dyn>, ValueRange R, Device D = Cpu>
[[nodiscard]] auto from_values(const R& values, const D& device = current_device<D>()) {
  const auto count = static_cast<std::int64_t>(std::size(values));
  return from_values<S>(values, layout::completed(Dims(count), dims_of<S>), device);
}

/// `tensor({1.F, 2.F})`: a vector of these values.
template <Scalar T, std::size_t Count, Device D = Cpu>
[[nodiscard]] auto tensor(const T (&values)[Count], const D& device = current_device<D>()) {
  constexpr auto count = static_cast<std::int64_t>(Count);
  return detail::from_values<T, Shape<count>, D>(values, count, Dims(count), device);
}
/// `tensor({{1.F, 2.F}, {3.F, 4.F}})`: a matrix.
template <Scalar T, std::size_t Rows, std::size_t Columns, Device D = Cpu>
[[nodiscard]] auto tensor(const T (&values)[Rows][Columns], const D& device = current_device<D>()) {
  constexpr auto rows = static_cast<std::int64_t>(Rows);
  constexpr auto columns = static_cast<std::int64_t>(Columns);
  return detail::from_values<T, Shape<rows, columns>, D>(&values[0][0], rows * columns, Dims(rows, columns), device);
}
/// `tensor<Shape<2, 2>>({1.F, 2.F, 3.F, 4.F})`: any shape, values in row-major order.
template <AnyShape S, Scalar T, std::size_t Count, Device D = Cpu>
requires S::is_static [[nodiscard]] auto tensor(const T (&values)[Count], const D& device = current_device<D>()) {
  constexpr auto count = static_cast<std::int64_t>(Count);
  if constexpr (dims_of<S>.elements() != count)
    static_cast<void>(sizeof(refused<Problem::number_of_values_differs_from_the_shape, with::count<count>,
                                     with::elements<dims_of<S>.elements()>>));
  return detail::from_values<T, S, D>(values, count, S::dims(), device);
}

}}} // namespace twill::v0::TWILL_ISA
