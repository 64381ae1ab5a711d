#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// `Emulated`, a kind of GPU on the host: everything of device/gpu/ runs on it as on CUDA, and kernel bodies run block by
// block. Kernels start late, see no memory but their device's, and have their parameters as they were at the launch.
// `enqueue` is what kernel/cuda/block.cuh has for CUDA. Read next: emulated_runtime.hpp for failures on demand.

#include <tests/support/emulated_runtime.hpp>
#include <tests/support/host_block.hpp>

#include <twill/device/device.hpp>
#include <twill/device/gpu/copy.hpp>
#include <twill/device/gpu/memory.hpp>
#include <twill/device/gpu/stream.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

namespace twill { inline namespace v0 {

/// An emulated GPU.
struct TWILL_EXPORT Emulated {
  int index = 0;

  using Runtime = EmulatedRuntime;
  using Upstream = gpu::SegmentUpstream<EmulatedRuntime>;
  using PoolStreams = gpu::PoolStreams<EmulatedRuntime>;
  using Event = gpu::Event<EmulatedRuntime>;
  static constexpr std::string_view kind = "emulated";
  static constexpr bool has_memory = true;
  static constexpr bool launches_at_once = true;

  [[nodiscard]] static int count() { return EmulatedRuntime::device_count(); }
  friend constexpr bool operator==(Emulated, Emulated) = default;
};

namespace emulation {

/// Runs all blocks of a grid.
using RunBlocks = void (*)(const void* parameters, const gpu::LaunchShape& shape, std::byte* shared);

/// A launch, with a copy of its parameters.
struct KernelWork final : Work {
  gpu::LaunchShape shape{};
  RunBlocks run_blocks = nullptr;
  std::unique_ptr<std::byte[]> parameters{};

  void run() override {
    constexpr std::size_t alignment = 128;
    const std::unique_ptr<std::byte[]> shared{new std::byte[shape.shared_bytes + alignment]};
    std::memset(shared.get(), 0xff, shape.shared_bytes + alignment);
    void* aligned = shared.get();
    std::size_t space = shape.shared_bytes + alignment;
    std::align(alignment, shape.shared_bytes, aligned, space);
    run_blocks(parameters.get(), shape, static_cast<std::byte*>(aligned));
  }
};

/// Gives a launch to the queue, unless a GPU would refuse it. throws: GpuError
inline void start_kernel(const gpu::Queue<EmulatedRuntime>& queue, const gpu::LaunchShape& shape, unsigned most_threads,
                         RunBlocks run_blocks, const void* parameters, std::size_t bytes) {
  const EmulatedRuntime::Call call{"enqueue"};
  Status status = call.status;
  if (status == 0 && queue.device() != Machine::device_in_use()) status = error::invalid_handle;
  if (status == 0 && (shape.blocks < 1 || shape.blocks > 0x7fffffffU || shape.threads < 1 || shape.threads > 1024 ||
                      shape.shared_bytes > queue.properties().shared_bytes))
    status = error::invalid_configuration;
  if (status == 0 && shape.threads > most_threads) status = error::out_of_resources;
  if (status == 0) {
    auto work = std::make_unique<KernelWork>();
    work->devices = 1U << queue.device();
    work->shape = shape;
    work->run_blocks = run_blocks;
    work->parameters.reset(new std::byte[bytes]);
    std::memcpy(work->parameters.get(), parameters, bytes);
    status = call.machine.give(call.machine.stream_of(queue.stream().data), std::move(work));
  }
  gpu::check<EmulatedRuntime>(status, "kernel launch", queue.device());
}

} // namespace emulation

/// Runs `Body{}(block, parameters)` for every block when the stream gets there.
template <class Body, class Parameters>
void enqueue(const gpu::Queue<EmulatedRuntime>& queue, Body, const gpu::LaunchShape& shape,
             const Parameters& parameters) {
  static_assert(std::is_trivially_copyable_v<Parameters> && std::is_empty_v<Body>);
  static_assert(sizeof(Parameters) <= 32764, "twill: a kernel's parameters have at most 32,764 bytes");
  static_assert(alignof(Parameters) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  emulation::start_kernel(
      queue, shape, static_cast<unsigned>(Body::most_threads),
      [](const void* given, const gpu::LaunchShape& grid, std::byte* shared) {
        const auto blocks = static_cast<int>(grid.blocks);
        for (int block = 0; block < blocks; ++block)
          Body{}(test::HostBlock{block, blocks, static_cast<int>(grid.threads), shared},
                 *static_cast<const Parameters*>(given));
      },
      &parameters, sizeof(Parameters));
}

static_assert(gpu::GpuDevice<Emulated> && ComputeDevice<Emulated> && !HostDevice<Emulated>);

}} // namespace twill::v0

namespace twill::test {
using twill::Emulated;
using twill::EmulatedRuntime;
} // namespace twill::test
