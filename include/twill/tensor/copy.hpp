#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Copies between views: on one device by a fused program (which also converts the element type), between devices as
// bytes. It works on addresses and layouts, so that all tensors of one element type share the code. A device without
// memory runs the code and moves nothing. Read next: tensor/tensor.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/core/shape.hpp>
#include <twill/device/cpu/stream.hpp>
#include <twill/device/device.hpp>
#include <twill/kernel/coalesce.hpp>
#include <twill/kernel/launch.hpp>
#include <twill/kernel/program.hpp>
#include <twill/tensor/layout.hpp>

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

/// An operand that reads or writes memory, for a grid of the same rank as the strides.
[[nodiscard]] kernel::Operand memory_operand(const void* data, const Dims& strides);

/// An operand that holds its value.
template <class T> [[nodiscard]] kernel::Operand immediate_operand(T value) {
  kernel::Operand operand{};
  std::memcpy(&operand.bits, &value, sizeof(T));
  return operand;
}

/// The grid with at least one dimension, so that rank 0 needs no code of its own.
[[nodiscard]] constexpr kernel::Grid at_least_one_dimension(kernel::Grid grid) {
  if (grid.rank == 0) grid = kernel::Grid(1);
  return grid;
}

template <Scalar To, Scalar From, kernel::Access A> struct CopyProgram {
  using type = kernel::Program<kernel::In<From, A>, kernel::Cast<To, 0>, kernel::Out<To, 1>>;
};
template <Scalar T, kernel::Access A> struct CopyProgram<T, T, A> {
  using type = kernel::Program<kernel::In<T, A>, kernel::Out<T, 0>>;
};

/// to[i] = from[i] on one device, for every index i of the extents. requires: the two do not overlap
template <Scalar To, Scalar From, Device D>
void copy_elements(const D& device, To* to, const Dims& to_strides, const From* from, const Dims& from_strides,
                   const Dims& extents) {
  if (extents.elements() == 0) return;
  std::array operands{memory_operand(from, from_strides), memory_operand(to, to_strides)};
  kernel::Grid grid = at_least_one_dimension(extents);
  kernel::coalesce(grid, operands.data(), 2, false);
  if (operands[0].strides[static_cast<std::size_t>(grid.rank - 1)] == 1)
    kernel::launch(typename CopyProgram<To, From, kernel::Access::contiguous>::type{}, device, grid, operands.data());
  else
    kernel::launch(typename CopyProgram<To, From, kernel::Access::strided>::type{}, device, grid, operands.data());
}

/// Sets every element of a view to one value.
template <Scalar T, Device D>
void fill_elements(const D& device, T* to, const Dims& strides, const Dims& extents, T value) {
  if (extents.elements() == 0) return;
  std::array operands{immediate_operand(value), memory_operand(to, strides)};
  kernel::Grid grid = at_least_one_dimension(extents);
  kernel::coalesce(grid, operands.data(), 2, false);
  kernel::launch(kernel::Program<kernel::Immediate<T>, kernel::Out<T, 0>>{}, device, grid, operands.data());
}

/// Strides of the real or the imaginary parts of complex elements, which are side by side, in parts.
[[nodiscard]] constexpr Dims strides_of_parts(Dims strides) {
  for (int axis = 0; axis < strides.rank; ++axis) strides[axis] *= 2;
  return strides;
}
/// The first real (0) or imaginary (1) part.
template <ComplexScalar T> [[nodiscard]] real_t<T>* first_part(T* data, int part) {
  return data == nullptr ? nullptr : reinterpret_cast<real_t<T>*>(data) + part;
}
template <ComplexScalar T> [[nodiscard]] const real_t<T>* first_part(const T* data, int part) {
  return first_part(const_cast<T*>(data), part);
}

/// Complex elements are copied part by part, complex64 as words of 8 bytes; a real number is the real part.
template <Scalar To, Scalar From, Device D>
requires(ComplexScalar<To> || ComplexScalar<From>) void copy_elements(const D& device, To* to, const Dims& to_strides,
                                                                      const From* from, const Dims& from_strides,
                                                                      const Dims& extents) {
  if (extents.elements() == 0) return;
  if constexpr (std::same_as<To, complex64> && std::same_as<From, complex64>) {
    copy_elements(device, reinterpret_cast<std::int64_t*>(to), to_strides, reinterpret_cast<const std::int64_t*>(from),
                  from_strides, extents);
  } else if constexpr (ComplexScalar<To> && ComplexScalar<From>) {
    if (layout::is_contiguous(extents, to_strides) && layout::is_contiguous(extents, from_strides))
      return copy_elements(device, first_part(to, 0), Dims(1), first_part(from, 0), Dims(1),
                           Dims(2 * extents.elements()));
    for (int part = 0; part < 2; ++part)
      copy_elements(device, first_part(to, part), strides_of_parts(to_strides), first_part(from, part),
                    strides_of_parts(from_strides), extents);
  } else if constexpr (ComplexScalar<To>) {
    copy_elements(device, first_part(to, 0), strides_of_parts(to_strides), from, from_strides, extents);
    fill_elements(device, first_part(to, 1), strides_of_parts(to_strides), extents, real_t<To>{0});
  } else {
    static_assert(!std::same_as<To, bool>, "twill: a complex number is not a truth value; write z != 0");
    copy_elements(device, to, to_strides, first_part(from, 0), strides_of_parts(from_strides), extents);
  }
}
template <ComplexScalar T, Device D>
void fill_elements(const D& device, T* to, const Dims& strides, const Dims& extents, T value) {
  if (extents.elements() == 0) return;
  fill_elements(device, first_part(to, 0), strides_of_parts(strides), extents, value.re);
  fill_elements(device, first_part(to, 1), strides_of_parts(strides), extents, value.im);
}

/// True when two views of one device touch a common byte (judged by the ranges they span).
[[nodiscard]] bool ranges_overlap(const void* a, std::size_t a_size, layout::Span a_span, const void* b,
                                  std::size_t b_size, layout::Span b_span);

}}}} // namespace twill::v0::detail::TWILL_ISA

#if !TWILL_HEADER_ONLY
namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {
TWILL_INSTANCE template void copy_elements(const Cpu&, float*, const Dims&, const float*, const Dims&, const Dims&);
TWILL_INSTANCE template void fill_elements(const Cpu&, float*, const Dims&, const Dims&, float);
TWILL_INSTANCE template void copy_elements(const Cpu&, double*, const Dims&, const double*, const Dims&, const Dims&);
TWILL_INSTANCE template void fill_elements(const Cpu&, double*, const Dims&, const Dims&, double);
TWILL_INSTANCE template void copy_elements(const Cpu&, std::int64_t*, const Dims&, const std::int64_t*, const Dims&,
                                           const Dims&);
TWILL_INSTANCE template void fill_elements(const Cpu&, std::int64_t*, const Dims&, const Dims&, std::int64_t);
}}}} // namespace twill::v0::detail::TWILL_ISA
#endif

#if TWILL_HEADER_ONLY
#include <twill/tensor/copy.ipp>
#endif
