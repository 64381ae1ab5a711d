#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// CUDA device `Cuda{i}`: a GPU of NVIDIA's, as CUDA_VISIBLE_DEVICES shows it to this process. The value is only the
// ordinal; device/gpu/ makes its state at first use, so a program that works only on hosts creates no CUDA context, and
// runs without a driver. Read next: device/gpu/stream.hpp for streams, device/gpu/copy.hpp for copies.

#include <twill/core/config.hpp>
#include <twill/device/cuda/runtime.cuh>
#include <twill/device/device.hpp>
#include <twill/device/gpu/copy.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/memory.hpp>
#include <twill/device/gpu/stream.hpp>
#include <twill/device/names.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>

namespace twill { inline namespace v0 {

/// A CUDA device.
struct TWILL_EXPORT Cuda {
  int index = 0; ///< the ordinal, among those that CUDA_VISIBLE_DEVICES shows

  using Runtime = CudaRuntime;                        ///< the driver
  using Upstream = gpu::SegmentUpstream<CudaRuntime>; ///< the source of its pools' segments
  using PoolStreams = gpu::PoolStreams<CudaRuntime>;  ///< the order of its pools' memory over streams
  using Event = gpu::Event<CudaRuntime>;              ///< a point in the order of a stream's work
  static constexpr std::string_view kind = "cuda";    ///< the kind in "cuda:0"
  static constexpr bool has_memory = true;            ///< tensors have elements
  static constexpr bool launches_at_once = true;      ///< operands are in the kernel's parameters when a launch returns

  /// The number that the process sees; 0 without a driver. The first call fixes the number and creates no context.
  [[nodiscard]] static int count() { return CudaRuntime::device_count(); }

  friend constexpr bool operator==(Cuda, Cuda) = default;
};

static_assert(gpu::GpuDevice<Cuda> && ComputeDevice<Cuda> && !HostDevice<Cuda>);

/// Calls `function` with the device that `name` means: "cpu", "cpu:1", "cuda" (the current one), "cuda:1", "meta".
/// throws: DeviceError for a device that is not available, ValueError for an invalid ordinal
template <class F>
requires std::invocable<F&, Cpu> && std::invocable<F&, Meta> && std::invocable<F&, Cuda>
auto with_device(std::string_view name, F&& function) -> std::invoke_result_t<F&, Cpu> {
  return visit_device<Cpu, Cuda, Meta>(name, function);
}

}} // namespace twill::v0
