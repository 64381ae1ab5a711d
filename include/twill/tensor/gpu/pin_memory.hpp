#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Host tensors in pinned memory, from which non-blocking copies to a GPU overlap with other work: `pin_memory(x)` as in
// PyTorch, and `pinned_empty` for a buffer that is filled repeatedly. They are ordinary host tensors. The kind of GPU
// is a template argument here; <twill/cuda.cuh> makes it CUDA. Read next: memory/gpu/pinned.hpp.

#include <twill/core/config.hpp>
#include <twill/memory/gpu/pinned.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstddef>

namespace twill { inline namespace v0 {

/// Whether the tensor's memory was pinned by twill for that kind of GPU.
template <gpu::GpuDevice D, Scalar T, AnyShape S> [[nodiscard]] bool is_pinned(const Tensor<T, Cpu, S>& x) {
  return x.data() != nullptr && memory::PinnedPool<typename D::Runtime>::get().holds(x.data());
}

}} // namespace twill::v0

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Uninitialised elements in pinned memory, row-major.
/// throws: OutOfMemoryError, GpuError, DeviceError without a GPU
template <gpu::GpuDevice D, Scalar T, AnyShape S>
[[nodiscard]] Tensor<T, Cpu, S> pinned_empty(const Dims& extents, Cpu device = {}) {
  require_exists(D{}, "pinned_empty");
  detail::require_fit<S>("pinned_empty", extents, sizeof(T));
  auto storage = memory::PinnedPool<typename D::Runtime>::get().allocate(
      device, static_cast<std::size_t>(extents.elements()) * sizeof(T));
  auto* const data = static_cast<T*>(storage.data());
  return {std::move(storage), data, extents, contiguous_strides(extents)};
}

/// The tensor in pinned memory: x itself when it is pinned, else a copy. throws: OutOfMemoryError, GpuError,
/// DeviceError without a GPU
template <gpu::GpuDevice D, Scalar T, AnyShape S>
[[nodiscard]] Tensor<T, Cpu, S> pin_memory(const Tensor<T, Cpu, S>& x) {
  if (is_pinned<D>(x)) return x;
  const auto pinned = pinned_empty<D, T, S>(x.shape(), x.device());
  pinned.copy_from(x);
  return pinned;
}

}}} // namespace twill::v0::TWILL_ISA
