#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Pinned host tensors for CUDA: `auto batch = pin_memory(x)`, then `batch.to(Cuda{0}, {.non_blocking = true})`.
// Read next: tensor/gpu/pin_memory.hpp.

#include <twill/device/cuda/cuda.cuh>
#include <twill/tensor/gpu/pin_memory.hpp>

namespace twill { inline namespace v0 {

/// The tensor in pinned memory: x itself when it is pinned, else a copy. throws: OutOfMemoryError, GpuError,
/// DeviceError without a GPU
template <Scalar T, AnyShape S> [[nodiscard]] Tensor<T, Cpu, S> pin_memory(const Tensor<T, Cpu, S>& x) {
  return pin_memory<Cuda>(x);
}

/// Whether the tensor's memory was pinned by twill.
template <Scalar T, AnyShape S> [[nodiscard]] bool is_pinned(const Tensor<T, Cpu, S>& x) { return is_pinned<Cuda>(x); }

}} // namespace twill::v0
