#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Copies to, from and between GPUs. They are work of the streams of both devices, ordered by events as in
// device/copy.hpp. Copies between GPUs never make the caller wait; copies with a host device do unless they are
// `non_blocking`, and then the host device waits before its next work. Only pinned host memory is copied while the
// caller goes on: the driver stages other memory itself. Read next: memory/gpu/pinned.hpp.

#include <twill/device/copy.hpp>
#include <twill/device/cpu/stream.hpp>
#include <twill/device/gpu/stream.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <span>

namespace twill { inline namespace v0 {

namespace gpu {

/// Records a copy with the owner of its pinned memory; false when it is not pinned. Set by the pool of such memory.
template <Runtime R>
TWILL_EXPORT inline constinit std::atomic<bool (*)(const void* address, const Event<R>& last)> pinned_memory{nullptr};

namespace detail {

/// Copies between a host device and a GPU, in either direction, on the GPU's stream.
template <GpuDevice D>
void copy_with_host(const D& device, Cpu host, void* to, const void* from, const void* host_memory, std::size_t bytes,
                    CopyOptions options) {
  using R = typename D::Runtime;
  if (bytes == 0) return;
  // A task's own work on a host device runs inline, so a task can neither wait for queues nor leave a copy pending,
  // unless the memory itself records it.
  const bool inside_task = twill::cpu::current_worker != nullptr;
  const bool recorded = recorded_graph<R>() != 0;
  if (recorded && !options.non_blocking) require_no_recording<R>("copy_bytes", device.index);
  if (!inside_task && !recorded) record(host).wait();
  auto& state = state_of(device);
  const auto stream = current_stream(state).queue.stream();
  const Using<R> scope{device.index};
  check<R>(R::copy(to, from, bytes, stream), "copy", device.index);
  if (recorded) return; // each launch of the graph copies between these addresses
  if (options.non_blocking) {
    const Event<R> copied{state, stream};
    auto* const owner = pinned_memory<R>.load(std::memory_order_acquire);
    const bool is_pinned = owner != nullptr && owner(host_memory, copied);
    if (!inside_task) static_cast<void>(submit(host, [copied] { copied.wait(); }));
    if (!inside_task || is_pinned) return;
  }
  if (const Status status = R::synchronize_stream(stream); status != 0) [[unlikely]] {
    static_cast<void>(
        R::synchronize_stream(stream)); // the host memory may be freed when this throws: nothing copies any more
    fail<R>(status, "synchronize_stream", device.index);
  }
}

/// Enables direct access between the memories of two devices, once, where the hardware supports it.
template <Runtime R> void connect_peers(int to, int from) {
  static constinit std::array<std::array<std::atomic<bool>, 64>, 64> connected{};
  if (to >= 64 || from >= 64 || connected[static_cast<std::size_t>(to)][static_cast<std::size_t>(from)].exchange(true))
    return;
  if (!R::can_access_peer(to, from)) return; // the driver then copies through the host
  const Using<R> scope{to};
  static_cast<void>(R::enable_peer(from)); // another library may have enabled it
}

} // namespace detail
} // namespace gpu

/// Copies within a GPU or between two of a kind; the caller does not wait. Ranges must not overlap. throws: GpuError
template <gpu::GpuDevice D>
void copy_bytes(const D& to_device, void* to, const D& from_device, const void* from, std::size_t bytes,
                CopyOptions = {}) {
  using R = typename D::Runtime;
  if (bytes == 0) return;
  auto& target = gpu::state_of(to_device);
  const auto stream = gpu::current_stream(target).queue.stream();
  if (to_device == from_device) {
    const gpu::Using<R> scope{to_device.index};
    gpu::check<R>(R::copy(to, from, bytes, stream), "copy", to_device.index);
    return;
  }
  gpu::detail::connect_peers<R>(to_device.index, from_device.index);
  wait(to_device, record(from_device));
  {
    const gpu::Using<R> scope{to_device.index};
    gpu::check<R>(R::copy_peer(to, to_device.index, from, from_device.index, bytes, stream), "copy_peer",
                  to_device.index);
  }
  wait(from_device, record(to_device));
}

/// Copies between two GPUs at the same time as their other work: after the event `ready`, and after the work so far of
/// this thread's stream of the destination. Neither device waits for it implicitly: code that reads the copy, or
/// overwrites its source, waits for the event. throws: GpuError
template <gpu::GpuDevice D>
[[nodiscard]] gpu::Event<typename D::Runtime> pull_bytes(const D& to_device, void* to, const D& from_device,
                                                         const void* from, std::size_t bytes,
                                                         std::span<const gpu::Event<typename D::Runtime>> ready) {
  using R = typename D::Runtime;
  auto& target = gpu::state_of(to_device);
  const auto stream = target.side_stream(gpu::SideStream::arrivals);
  record(to_device).hold(stream, to_device.index);
  for (const gpu::Event<R>& event : ready) event.hold(stream, to_device.index);
  if (bytes > 0 && !(to_device == from_device)) gpu::detail::connect_peers<R>(to_device.index, from_device.index);
  const gpu::Using<R> scope{to_device.index};
  if (bytes > 0 && to_device == from_device)
    gpu::check<R>(R::copy(to, from, bytes, stream), "copy", to_device.index);
  else if (bytes > 0)
    gpu::check<R>(R::copy_peer(to, to_device.index, from, from_device.index, bytes, stream), "copy_peer",
                  to_device.index);
  return {target, stream};
}

/// Copies from a host device to a GPU. throws: GpuError
template <gpu::GpuDevice D>
void copy_bytes(const D& to_device, void* to, Cpu from_device, const void* from, std::size_t bytes,
                CopyOptions options = {}) {
  gpu::detail::copy_with_host(to_device, from_device, to, from, from, bytes, options);
}

/// Copies from a GPU to a host device. throws: GpuError
template <gpu::GpuDevice D>
void copy_bytes(Cpu to_device, void* to, const D& from_device, const void* from, std::size_t bytes,
                CopyOptions options = {}) {
  gpu::detail::copy_with_host(from_device, to_device, to, from, to, bytes, options);
}

}} // namespace twill::v0
