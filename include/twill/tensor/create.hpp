#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Creation of tensors. Element type and shape are template arguments (`zeros<float, Shape<2, 3>>()`), run-time extents
// are passed as a `Dims` (`zeros<float, Shape<dyn, 3>>(Dims(n, 3))`), and the device comes last: by default the current
// host device. arange, linspace and eye compute element i from i, so the numbers do not depend on the division of the
// work. Read next: tensor/like.hpp, tensor/random.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/shape.hpp>
#include <twill/kernel/launch.hpp>
#include <twill/kernel/program.hpp>
#include <twill/tensor/copy.hpp>
#include <twill/tensor/tensor.hpp>

#include <array>
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
    static_cast<void>(sizeof(Mistake<refused<Problem::number_of_values_differs_from_the_shape, with::count<count>,
                                             with::elements<dims_of<S>.elements()>>>));
  return detail::from_values<T, S, D>(values, count, S::dims(), device);
}

}}} // namespace twill::v0::TWILL_ISA

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

/// An `Iota` that counts the elements of a one-dimensional grid.
[[nodiscard]] kernel::Operand counting_operand(std::int64_t first = 0);

/// The number of steps from begin to just before end. throws: ValueError
template <Scalar T> [[nodiscard]] std::int64_t count_of_steps(T begin, T end, T step) {
  if (step == static_cast<T>(0)) throw ValueError("arange: the step is 0; it is positive or negative");
  if constexpr (FloatingScalar<T>) {
    const double steps = (static_cast<double>(end) - static_cast<double>(begin)) / static_cast<double>(step);
    if (!(steps < 9e18)) throw ValueError("arange: the number of elements is not finite");
    const auto whole = static_cast<std::int64_t>(steps);
    return steps <= 0 ? 0 : whole + (static_cast<double>(whole) < steps ? 1 : 0);
  } else {
    // unsigned: the distance from the least to the greatest int64 exceeds int64
    const auto from = static_cast<std::uint64_t>(static_cast<std::int64_t>(begin));
    const auto to = static_cast<std::uint64_t>(static_cast<std::int64_t>(end));
    const auto stride = static_cast<std::int64_t>(step);
    if (stride > 0 ? end <= begin : end >= begin) return 0;
    const std::uint64_t distance = stride > 0 ? to - from : from - to;
    const std::uint64_t length =
        stride > 0 ? static_cast<std::uint64_t>(stride) : 0 - static_cast<std::uint64_t>(stride);
    return static_cast<std::int64_t>((distance - 1) / length + 1);
  }
}

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// begin, begin + step, ... up to but not including end. throws: ValueError
template <Scalar T, Device D = Cpu>
requires(!std::same_as<T, bool>)
    [[nodiscard]] Tensor<T, D, Shape<dyn>> arange(T begin, T end, T step, const D& device = current_device<D>()) {
  using enum kernel::Primitive;
  using kernel::Step;
  using Lines = kernel::Program<kernel::Iota, kernel::Cast<T, 0>, kernel::Immediate<T>, Step<multiply, 1, 2>,
                                kernel::Immediate<T>, Step<add, 3, 4>, kernel::Out<T, 5>>;
  Tensor<T, D, Shape<dyn>> result(device, Dims(detail::count_of_steps(begin, end, step)));
  if (result.elements() == 0) return result;
  const std::array operands{detail::counting_operand(), detail::immediate_operand(step),
                            detail::immediate_operand(begin), detail::memory_operand(result.data(), result.strides())};
  kernel::launch(Lines{}, device, result.shape(), operands.data());
  return result;
}
/// begin, begin + 1, ... before end: one axis.
template <Scalar T, Device D = Cpu> [[nodiscard]] auto arange(T begin, T end, const D& device = current_device<D>()) {
  return arange<T, D>(begin, end, static_cast<T>(1), device);
}
/// 0, 1, ... before end: one axis.
template <Scalar T, Device D = Cpu> [[nodiscard]] auto arange(T end, const D& device = current_device<D>()) {
  return arange<T, D>(T{}, end, static_cast<T>(1), device);
}

/// `count` numbers from begin to end, both included, computed in double as NumPy does. throws: ValueError
template <FloatingScalar T = float, Device D = Cpu>
[[nodiscard]] Tensor<T, D, Shape<dyn>> linspace(T begin, T end, std::int64_t count,
                                                const D& device = current_device<D>()) {
  using enum kernel::Primitive;
  using kernel::Immediate;
  using kernel::Step;
  // where(i == count - 1, end, begin + i * step): the last number is exactly the end
  using Lines = kernel::Program<kernel::Iota, kernel::Cast<double, 0>, Immediate<double>, Step<multiply, 1, 2>,
                                Immediate<double>, Step<add, 3, 4>, Immediate<std::int64_t>, Step<equal, 0, 6>,
                                Immediate<double>, Step<where, 7, 8, 5>, kernel::Cast<T, 9>, kernel::Out<T, 10>>;
  if (count < 0) throw ValueError("linspace: the count is " + std::to_string(count) + "; it is at least 0");
  Tensor<T, D, Shape<dyn>> result(device, Dims(count));
  if (count == 0) return result;
  const auto first = static_cast<double>(begin);
  const auto last = static_cast<double>(end);
  const double step = count > 1 ? (last - first) / static_cast<double>(count - 1) : 0;
  const std::array operands{
      detail::counting_operand(),       detail::immediate_operand(step),
      detail::immediate_operand(first), detail::immediate_operand(count > 1 ? count - 1 : std::int64_t{-1}),
      detail::immediate_operand(last),  detail::memory_operand(result.data(), result.strides())};
  kernel::launch(Lines{}, device, result.shape(), operands.data());
  return result;
}

/// Ones on the diagonal of a matrix, zeros elsewhere.
template <Scalar T = float, AnyShape S, Device D = Cpu>
requires(S::rank == 2) [[nodiscard]] Tensor<T, D, S> eye(const Dims& extents, const D& device = current_device<D>()) {
  Tensor<T, D, S> result = zeros<T, S, D>(extents, device);
  const std::int64_t length = extents[0] < extents[1] ? extents[0] : extents[1];
  Tensor<T, D, Shape<dyn>>(result.storage(), result.data(), Dims(length), Dims(extents[1] + 1)).fill(static_cast<T>(1));
  return result;
}
template <Scalar T = float, AnyShape S, Device D = Cpu>
requires(S::rank == 2 && S::is_static) [[nodiscard]] auto eye(const D& device = current_device<D>()) {
  return eye<T, S, D>(S::dims(), device);
}

}}} // namespace twill::v0::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/tensor/create.ipp>
#endif
