#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Work on a GPU. `launch(device, f)` calls `f(queue)` at once in the caller; work that f gives to the queue runs later,
// in order. Each device has a default stream of twill's own, which does not wait for the driver's default (legacy)
// stream nor makes it wait: a program's own kernels are ordered with twill's by running twill on their stream
// (`StreamGuard`), by running them on twill's (`current_queue`), or by events. Host threads may share a stream: its
// working memory serves one sequence of launches at a time. For overlapping work each takes its own stream
// (`StreamGuard`). Read next: device/gpu/copy.hpp, memory/gpu/capture.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/pending.hpp>
#include <twill/device/gpu/event.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/scope.hpp>

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace gpu {

/// The stream that this thread works on: that of the innermost guard for the device, else the default stream.
template <Runtime R> [[nodiscard]] StreamState<R>& current_stream(DeviceState<R>& state) {
  for (const auto* scope = detail::innermost_scope<R>; scope != nullptr; scope = scope->outer)
    if (scope->device == state.index()) return *scope->stream;
  return state.default_stream();
}

}}} // namespace twill::v0::gpu

namespace twill { inline namespace v0 {

/// "NVIDIA H200": the driver's name of the device.
template <gpu::GpuDevice D> [[nodiscard]] std::string device_name(const D& device) {
  require_exists(device, "device_name");
  gpu::Properties properties{};
  gpu::check<typename D::Runtime>(D::Runtime::read_properties(device.index, &properties), "read_properties",
                                  device.index);
  return properties.name;
}

/// Makes the thread's device the driver's current one; called by `set_device` and `DeviceGuard`. throws: GpuError
template <gpu::GpuDevice D> void activate(const D& device) {
  gpu::check<typename D::Runtime>(D::Runtime::use_device(device.index), "use_device", device.index);
}

/// Restores the device at the end of a `DeviceGuard`; an unused device stays unused.
template <gpu::GpuDevice D> void activate_again(const D& device) noexcept {
  if (D::Runtime::has_context(device.index)) static_cast<void>(D::Runtime::use_device(device.index));
}

/// The queue for launches of this thread on the device; `queue.stream()` is the driver's handle. throws: GpuError
template <gpu::GpuDevice D> [[nodiscard]] const gpu::Queue<typename D::Runtime>& current_queue(const D& device) {
  return gpu::current_stream(gpu::state_of(device)).queue;
}

/// Sends this thread's work on a device to a stream of the caller's, for a scope. The stream belongs to the caller: it
/// has to live until twill's work on it is done; call `forget_stream` before you destroy it.
/// cost: the first guard of a stream allocates its working memory
template <gpu::GpuDevice D> class StreamGuard {
  using R = typename D::Runtime;

public:
  /// throws: DeviceError when there is no such device, GpuError when there is no room for working memory
  StreamGuard(const D& device, typename R::Stream stream)
      : scope_{device.index, &gpu::state_of(device).stream(stream), gpu::recorded_graph<R>(),
               gpu::detail::innermost_scope<R>} {
    gpu::detail::innermost_scope<R> = &scope_;
  }
  ~StreamGuard() { gpu::detail::innermost_scope<R> = scope_.outer; }
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

private:
  gpu::detail::StreamScope<R> scope_;
};

/// Calls `f(queue)` at once, with the driver's current device set to the device. throws: what `f` throws, GpuError
template <gpu::GpuDevice D, class F>
requires std::invocable < F&, const gpu::Queue<typename D::Runtime>
& > void launch(const D& device, F&& f) {
  auto& stream = gpu::current_stream(gpu::state_of(device));
  const gpu::Using<typename D::Runtime> scope{device.index};
  f(std::as_const(stream.queue));
}

/// Marks the work that this thread's stream of the device was given so far. throws: GpuError
template <gpu::GpuDevice D> [[nodiscard]] gpu::Event<typename D::Runtime> record(const D& device) {
  auto& state = gpu::state_of(device);
  return {state, gpu::current_stream(state).queue.stream()};
}

/// Makes later work of this thread's stream of the device wait for the event. For an event of this driver the stream
/// waits; for one of another kind the caller does, unless it has passed. throws: GpuError, and what waiting throws
template <gpu::GpuDevice D, class E>
requires requires(const E& event) { event.wait(); }
void wait(const D& device, const E& event) {
  if constexpr (std::same_as<E, gpu::Event<typename D::Runtime>>) {
    event.hold(gpu::current_stream(gpu::state_of(device)).queue.stream(), device.index);
  } else {
    if (!event.is_complete()) event.wait();
  }
}

/// Waits for all work given to the device on any stream that twill knows. A device that was not used has none.
/// throws: GpuError when work failed, CaptureError while this thread records a graph
template <gpu::GpuDevice D> void synchronize(const D& device) {
  require_exists(device, "synchronize");
  if (!gpu::is_in_use(device)) return;
  using R = typename D::Runtime;
  gpu::require_no_recording<R>("synchronize", device.index);
  gpu::state_of(device).synchronize();
}

/// Runs `f()` on a host thread of the device, after everything submitted before, with the device as the current one.
/// Returns at once; the handle yields the result, or throws what `f` threw.
template <gpu::GpuDevice D, class F>
requires std::invocable < std::decay_t<F>
& > auto submit(const D& device, F&& f) -> Pending<std::invoke_result_t<std::decay_t<F>&>> {
  using Result = std::invoke_result_t<std::decay_t<F>&>;
  return Pending<Result>::start(&gpu::state_of(device).host(), to_string(device), std::decay_t<F>(std::forward<F>(f)));
}

}} // namespace twill::v0
