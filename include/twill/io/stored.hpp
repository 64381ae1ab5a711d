#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Conversion between tensors and the arrays of files: a `nn::StoredTensor` in host memory has its element type as a
// value, a `Tensor` on a device has it in its type. Both ways share memory where they can. Read next: io/npy.hpp,
// io/safetensors.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/memory/lent.hpp>
#include <twill/nn/stored_tensor.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/tensor.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

namespace twill { inline namespace v0 { namespace io {

namespace detail {

/// "(3, dyn)".
template <AnyShape S> [[nodiscard]] std::string shape_text() {
  std::string text = "(";
  for (int axis = 0; axis < S::rank; ++axis)
    text += (axis > 0 ? ", " : "") + (S::extent(axis) == dyn ? std::string{"dyn"} : std::to_string(S::extent(axis)));
  return text + (S::rank == 1 ? ",)" : ")");
}

} // namespace detail

inline namespace TWILL_ISA {

/// The elements of a tensor in host memory, row-major: shared where they are stored so, else copied. Waits for the
/// device.
template <Scalar T, Device D, AnyShape S> [[nodiscard]] nn::StoredTensor stored(const Tensor<T, D, S>& tensor) {
  const auto bytes = static_cast<std::size_t>(tensor.elements()) * sizeof(T);
  if constexpr (std::same_as<D, Cpu>) {
    const auto kept = std::make_shared<const Tensor<T, D, S>>(tensor.contiguous());
    synchronize(kept->device());
    return {dtype_of<T>, kept->shape(), {reinterpret_cast<const std::byte*>(kept->data()), bytes}, kept};
  } else {
    auto [result, data] = nn::StoredTensor::make(dtype_of<T>, tensor.shape());
    const Tensor<T, D, S> source = tensor.contiguous();
    if (bytes > 0) copy_bytes(reader_of(source.device()), data, source.device(), source.data(), bytes);
    return result;
  }
}

/// The elements as a tensor of type X on a device. Host tensors share them (writing there writes to memory, never to a
/// mapped file) unless their address is not aligned for their type. `where` begins the message: "load_npy: 'x.npy'".
/// throws: ValueError, ShapeError naming the element types or shapes of both sides
template <AnyTensor X>
[[nodiscard]] X tensor_of(std::string_view where, const nn::StoredTensor& stored,
                          const typename X::device_type& device = {}) {
  using T = typename X::value_type;
  using S = typename X::shape_type;
  if (stored.dtype != X::dtype)
    throw ValueError(
        join_text({where, " holds ", name(stored.dtype), ", the requested tensor holds ", name(X::dtype)}));
  if (!S::admits(stored.shape))
    throw ShapeError(join_text(
        {where, " has shape ", to_string(stored.shape), ", the requested tensor has shape ", detail::shape_text<S>()}));
  auto* const address = const_cast<std::byte*>(stored.bytes.data());
  if constexpr (std::same_as<typename X::device_type, Cpu>)
    if (stored.owner != nullptr && std::bit_cast<std::uintptr_t>(address) % alignof(T) == 0)
      return X(memory::lend(device, address, stored.bytes.size(), stored.owner), reinterpret_cast<T*>(address),
               stored.shape, contiguous_strides(stored.shape));
  X result(device, stored.shape);
  if (!stored.bytes.empty()) copy_bytes(device, result.data(), Cpu{}, address, stored.bytes.size(), CopyOptions{});
  synchronize(device);
  return result;
}

} // namespace TWILL_ISA

}}} // namespace twill::v0::io
