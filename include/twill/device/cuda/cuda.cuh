#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// `Cuda{i}` is a GPU of NVIDIA's, as CUDA_VISIBLE_DEVICES lets this process see it. The value is just the ordinal; what lies
// behind it is made at first use by device/gpu/, so a program that works on hosts only creates no CUDA context, and runs
// without a driver. Read next: device/gpu/stream.hpp for streams, device/gpu/copy.hpp for copies.

#include <twill/core/config.hpp>
#include <twill/device/cuda/runtime.cuh>
#include <twill/device/device.hpp>
#include <twill/device/gpu/copy.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/memory.hpp>
#include <twill/device/gpu/stream.hpp>

#include <string_view>

namespace twill { inline namespace v0 {

/// A CUDA device.
struct TWILL_EXPORT Cuda {
  int index = 0; ///< the ordinal, among those that CUDA_VISIBLE_DEVICES shows

  using Runtime = CudaRuntime;                        ///< the driver
  using Upstream = gpu::SegmentUpstream<CudaRuntime>; ///< where its pools get segments from
  using PoolStreams = gpu::PoolStreams<CudaRuntime>;  ///< how its pools order memory over streams
  using Event = gpu::Event<CudaRuntime>;              ///< a point in the order of a stream's work
  static constexpr std::string_view kind = "cuda";    ///< as in "cuda:0"
  static constexpr bool has_memory = true;            ///< tensors have elements
  static constexpr bool launches_at_once = true;      ///< operands are in the kernel's parameters when a launch returns

  /// How many the process sees; 0 without a driver. Asking fixes the number and creates no context.
  [[nodiscard]] static int count() { return CudaRuntime::device_count(); }

  friend constexpr bool operator==(Cuda, Cuda) = default;
};

static_assert(gpu::GpuDevice<Cuda> && ComputeDevice<Cuda> && !HostDevice<Cuda>);

}} // namespace twill::v0
