#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Graphs of GPU work that is recorded once and launched as a whole: `auto graph = gpu::capture(device, f)` calls f,
// whose launches are not run but kept, arguments included; `graph.launch()` runs them all. Memory that f allocates
// belongs to the graph until the graph is gone, since each launch writes there; memory that f drops and that other
// streams or libraries use is reserved until f is done. f cannot wait for the device or read from it: the graph is then
// empty and tells the reason. Read next: device/gpu/scope.hpp, memory/kept_back.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/gpu/event.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/memory.hpp>
#include <twill/device/gpu/scope.hpp>
#include <twill/device/gpu/stream.hpp>
#include <twill/memory/kept_back.hpp>
#include <twill/memory/registry.hpp>

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace gpu {

namespace detail {

/// Numbers graphs from 1, across all kinds of devices.
TWILL_EXPORT inline constinit std::atomic<unsigned> graphs_recorded{0};

/// Releases the memory of a graph for general use, once the event has passed.
template <GpuDevice D> void release_memory_of_graph(unsigned graph, const Event<typename D::Runtime>& last) noexcept {
  for (auto& slot : memory::detail::pool_table<D>().pools) {
    auto* const pool = slot.load(std::memory_order_acquire);
    if (pool == nullptr) continue;
    try {
      pool->forget_streams([graph](const auto& key) { return key.graph == graph; }, last);
    } catch (...) { // no room on the host: the memory stays with the graph, unused
    }
  }
}

} // namespace detail

/// Recorded work of a device. It is moved, not copied.
template <GpuDevice D> class CapturedGraph {
  using R = typename D::Runtime;

public:
  /// An empty graph.
  CapturedGraph() = default;
  /// An empty graph, with the reason.
  explicit CapturedGraph(std::string reason) : reason_{std::move(reason)} {}
  /// A recorded graph, made by `Capture`.
  CapturedGraph(DeviceState<R>& state, StreamState<R>& stream, typename R::Graph graph, unsigned number)
      : state_{&state}, stream_{&stream}, graph_{graph}, number_{number} {}

  CapturedGraph(CapturedGraph&& other) noexcept { swap(other); }
  CapturedGraph& operator=(CapturedGraph&& other) noexcept {
    CapturedGraph(std::move(other)).swap(*this);
    return *this;
  }
  ~CapturedGraph() {
    if (state_ == nullptr || process_is_ending) return;
    Event<R> last{};
    try {
      last = Event<R>{*state_, stream_->queue.stream()};
    } catch (...) { // without an event the host waits; a device that failed runs nothing any more
      wait_on_host();
    }
    static_cast<void>(R::destroy_graph(graph_)); // launches in progress still run
    detail::release_memory_of_graph<D>(number_, last);
  }

  void swap(CapturedGraph& other) noexcept {
    std::swap(state_, other.state_);
    std::swap(stream_, other.stream_);
    std::swap(graph_, other.graph_);
    std::swap(number_, other.number_);
    reason_.swap(other.reason_);
  }

  /// Whether there is work to launch.
  [[nodiscard]] explicit operator bool() const { return state_ != nullptr; }

  /// The reason why the graph is empty, when recording failed.
  [[nodiscard]] const std::string& reason() const { return reason_; }

  /// Runs the work once more, after everything on this thread's stream and before all later work there. Returns at
  /// once. throws: ValueError when there is none, GpuError    cost: one call to the driver
  void launch() const {
    if (state_ == nullptr)
      throw ValueError(join_text({"launch: no graph was recorded", reason_.empty() ? "" : ": ", reason_}));
    require_no_recording<R>("launch", state_->index());
    const Using<R> scope{state_->index()};
    StreamState<R>& current = current_stream(*state_);
    const auto own = stream_->queue.stream();
    if (&current != stream_) Event<R>{*state_, current.queue.stream()}.hold(own, state_->index());
    {
      const WorkingMemory held{stream_->working}; // no other thread's sequence is in progress when the graph starts
      check<R>(R::launch_graph(graph_, own), "launch_graph", state_->index());
    }
    if (&current == stream_) return;
    try {
      Event<R>{*state_, own}.hold(current.queue.stream(), state_->index());
    } catch (const GpuError&) { // the work is in progress: without an event the host waits for it
      state_->synchronize(own);
    }
  }

private:
  void wait_on_host() const noexcept {
    try {
      state_->synchronize(stream_->queue.stream());
    } catch (...) { // the work has failed
    }
  }

  DeviceState<R>* state_ = nullptr;
  StreamState<R>* stream_ = nullptr; ///< the launches run on it, so that launches of one graph never overlap
  typename R::Graph graph_{};
  unsigned number_ = 0;
  std::string reason_{};
};

/// A recording in progress: from its construction until `finish`, this thread's work on the device is kept instead of
/// run. It goes to a separate stream, so that other threads may use the device meanwhile.
template <GpuDevice D> class Capture {
  using R = typename D::Runtime;

public:
  /// throws: CaptureError when a graph is being recorded for this stream already, GpuError
  explicit Capture(const D& device)
      : state_{usable_state(device)}, stream_{current_stream(state_)}, recorder_{state_.recorder_of(stream_)} {
    if (recorder_.is_recording.exchange(true)) refuse(device);
    const Using<R> scope{device.index};
    if (const Status status = R::begin_capture(recorder_.queue.stream()); status != 0) {
      recorder_.is_recording = false;
      fail<R>(status, "begin_capture", device.index);
    }
    scope_ = {device.index, &recorder_, ++detail::graphs_recorded, detail::innermost_scope<R>};
    detail::innermost_scope<R> = &scope_;
  }
  /// Drops the recorded work if `finish` was not called.
  ~Capture() {
    if (!recording_) return;
    typename R::Graph graph{};
    if (end(graph) == 0) static_cast<void>(R::destroy_graph(graph));
    detail::release_memory_of_graph<D>(scope_.capture, {});
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// Ends the recording. When something spoilt it, the graph is empty and tells why. requires: the same thread, all
  /// guards made since then gone, not called before
  [[nodiscard]] CapturedGraph<D> finish() {
    typename R::Graph graph{};
    const Status status = end(graph);
    if (status == 0) return {state_, stream_, graph, scope_.capture};
    detail::release_memory_of_graph<D>(scope_.capture, {});
    try {
      fail<R>(status, "end_capture", state_.index());
    } catch (const GpuError& error) {
      return CapturedGraph<D>{error.what()};
    }
  }

private:
  [[noreturn]] TWILL_COLD static void refuse(const D& device) {
    throw CaptureError(join_text({"capture: a graph is being recorded on ", to_string(device),
                                  " for this stream already; finish it first, or record on another stream"}));
  }
  [[nodiscard]] static DeviceState<R>& usable_state(const D& device) {
    if (recorded_graph<R>() != 0) refuse(device);
    return state_of(device);
  }
  [[nodiscard]] Status end(typename R::Graph& graph) noexcept {
    recording_ = false;
    detail::innermost_scope<R> = scope_.outer;
    const Status status = R::end_capture(recorder_.queue.stream(), &graph);
    recorder_.is_recording = false;
    memory::give_up_kept_back<typename memory::PoolFor<D>::Streams>();
    return status;
  }

  DeviceState<R>& state_;
  StreamState<R>& stream_;
  StreamState<R>& recorder_;
  detail::StreamScope<R> scope_{};
  bool recording_ = true;
};

/// Records the work that `f()` gives to the device. Work that a graph cannot hold makes an empty one that tells the
/// reason; other exceptions of f pass.    throws: what `f` throws, GpuError when the device itself has failed
template <GpuDevice D, class F> [[nodiscard]] CapturedGraph<D> capture(const D& device, F&& f) {
  std::string reason;
  try {
    Capture<D> recording{device};
    f();
    return recording.finish();
  } catch (const CaptureError& error) {
    reason = error.what();
  } catch (const OutOfMemoryError& error) { // the program may have room if it is not kept for the graph
    reason = error.what();
  } catch (const GpuError& error) {
    if (error.is_sticky()) throw;
    reason = error.what();
  }
  return CapturedGraph<D>{std::move(reason)};
}

}}} // namespace twill::v0::gpu
