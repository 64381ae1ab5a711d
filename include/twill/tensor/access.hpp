#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Element access from ordinary code: a span over a host tensor, or a copy of the values of any tensor. Both wait for
// the work that the device was given before. Read next: tensor/print.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The elements of a contiguous host tensor in row-major order; valid while the tensor's memory is.
/// throws: ValueError when the elements are not contiguous
template <Scalar T, AnyShape S> [[nodiscard]] std::span<T> span_of(const Tensor<T, Cpu, S>& x) {
  if (!x.is_contiguous())
    throw ValueError("span_of: strides " + to_string(x.strides()) + " of shape " + to_string(x.shape()) +
                     " leave gaps; take contiguous() first");
  synchronize(x.device());
  return {x.data(), static_cast<std::size_t>(x.elements())};
}

/// The values of any tensor in row-major order (of booleans as bytes, because std::vector<bool> is not memory).
/// throws: DeviceError on a device without memory
template <Scalar T, Device D, AnyShape S> [[nodiscard]] auto to_vector(const Tensor<T, D, S>& x) {
  using Element = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;
  const Tensor<T, D, S> source = x.contiguous();
  std::vector<Element> values(static_cast<std::size_t>(source.elements()));
  if (values.empty()) return values;
  copy_bytes(reader_of(x.device()), values.data(), x.device(), source.data(), values.size() * sizeof(T));
  return values;
}

}}} // namespace twill::v0::TWILL_ISA
