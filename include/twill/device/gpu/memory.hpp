#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// GPU memory source and stream policy of a pool: segments from the driver, by its plain or its stream-ordered
// allocator, and the order of several streams. A tensor belongs to the stream on which its thread worked when it was
// made, and its memory goes back there. While a thread records a graph its tensors come from a part of the pool that
// belongs to the graph. Read next: memory/stream_arenas.hpp, memory/gpu/capture.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/gpu/event.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/stream.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string_view>

namespace twill { inline namespace v0 {

/// Whether TWILL_MEMORY is "each_alone": separate allocations of all tensors, whose ends a memory checker
/// (compute-sanitizer, AddressSanitizer) knows, other than those of a pool's blocks. Read once. throws: ValueError when
/// it has any other value
[[nodiscard]] TWILL_EXPORT inline bool each_alone_by_environment() {
  static const bool wanted = [] {
    const char* const given = std::getenv("TWILL_MEMORY");
    if (given == nullptr) return false;
    const std::string_view choice{given};
    if (choice.empty() || choice == "each_alone") return !choice.empty();
    throw ValueError(join_text({"TWILL_MEMORY: it is \"", choice, "\"; set it to each_alone, or to nothing"}));
  }();
  return wanted;
}

}} // namespace twill::v0

namespace twill { inline namespace v0 { namespace memory {
/// By which a pool knows `PoolStreams`.
struct StreamPolicyKind;
}}} // namespace twill::v0::memory

namespace twill { inline namespace v0 { namespace gpu {

/// The source of the segments of the pools of a driver's devices.
enum class Source : unsigned char {
  segments,       ///< the plain allocator, cudaMalloc: it waits for the device when segments are given back
  stream_ordered, ///< the driver's own pool, cudaMallocAsync
  each_alone,     ///< the plain allocator for each tensor, of exactly its bytes and nothing cached: for memory checkers
};

namespace detail {
/// 0 until a choice or the first pool is made, then 1 + the choice.
template <Runtime R> TWILL_EXPORT inline constinit std::atomic<int> chosen_source{0};
} // namespace detail

/// The source in use, fixed by the first call; the environment decides if the program chose none.
template <Runtime R> [[nodiscard]] Source source_of_segments() {
  int chosen = detail::chosen_source<R>.load();
  if (chosen == 0) {
    const int wanted = 1 + static_cast<int>(each_alone_by_environment() ? Source::each_alone : Source::segments);
    if (detail::chosen_source<R>.compare_exchange_strong(chosen, wanted)) chosen = wanted;
  }
  return static_cast<Source>(chosen - 1);
}

/// Segments of a device's memory, from the driver: the `Upstream` of a kind of GPU.
template <Runtime R> class SegmentUpstream {
public:
  /// The upstream of a device of the driver.
  template <class D>
  requires std::same_as<typename D::Runtime, R>
  explicit SegmentUpstream(const D& device)
      : device_{device.index}, state_{[](int index) -> DeviceState<R>& { return state_of(D{index}); }} {}

  /// throws: std::bad_alloc when the device has no room, GpuError for any other failure
  [[nodiscard]] void* allocate(std::size_t bytes) {
    DeviceState<R>& state = state_(device_); // makes the context, and measures it
    const Using<R> scope{device_};
    void* memory = nullptr;
    Status status = 0;
    if (recorded_graph<R>() != 0) {
      status = R::allocate_while_capturing(&memory, bytes);
    } else if (source_of_segments<R>() != Source::stream_ordered) {
      status = R::allocate(&memory, bytes);
    } else {
      const auto stream = state.side_stream(SideStream::memory);
      status = R::allocate_async(&memory, bytes, stream);
      if (status == 0) check<R>(R::synchronize_stream(stream), "synchronize_stream", device_); // it has no other work
    }
    if (R::is_out_of_memory(status)) throw std::bad_alloc{};
    check<R>(status, "allocate", device_);
    return memory;
  }

  /// Whether each request gets an allocation of its own.
  [[nodiscard]] bool each_alone() const { return source_of_segments<R>() == Source::each_alone; }

  /// Releases memory after the pool has waited for the device. A failed device loses its memory anyway.
  void release(void* memory, std::size_t) noexcept {
    if (process_is_ending) return;
    try {
      const Using<R> scope{device_};
      static_cast<void>(R::release(memory)); // either allocator's
    } catch (...) {                          // no context, no memory
    }
  }

  /// The driver's own memory for this process, where known; a device that was not used has no context.
  [[nodiscard]] std::size_t context_bytes() const {
    const auto* const state =
        device_table<R>().states[static_cast<std::size_t>(device_)].load(std::memory_order_acquire);
    return state != nullptr ? state->context_bytes() : 0;
  }

  /// The memory of kernels and libraries of this process outside the pool.
  [[nodiscard]] std::size_t working_bytes() const {
    const auto* const state =
        device_table<R>().states[static_cast<std::size_t>(device_)].load(std::memory_order_acquire);
    return state != nullptr ? state->working_bytes() : 0;
  }

  /// The bytes of the whole device. throws: GpuError
  [[nodiscard]] std::size_t total_bytes() const { return info().total; }
  /// The bytes that no process uses. throws: GpuError
  [[nodiscard]] std::size_t free_bytes() const { return info().free; }

private:
  struct Info {
    std::size_t free = 0;
    std::size_t total = 0;
  };
  [[nodiscard]] Info info() const {
    static_cast<void>(state_(device_));
    const Using<R> scope{device_};
    Info found{};
    check<R>(R::memory_info(&found.free, &found.total), "memory_info", device_);
    return found;
  }

  int device_;
  DeviceState<R>& (*state_)(int);
};

/// The part of a pool to which a block belongs: that of a stream, and of a recorded graph.
template <Runtime R> struct StreamKey {
  typename R::Stream stream{}; ///< the driver's handle
  bool is_default = true;      ///< twill's own stream of the device, for any handle
  unsigned graph = 0;          ///< the graph that owns the memory; 0 for memory that all share

  constexpr StreamKey() = default;
  /// A stream by its driver's handle.
  constexpr StreamKey(typename R::Stream given) : stream{given}, is_default{false} {}
  friend bool operator==(const StreamKey&, const StreamKey&) = default;
};

/// Stream policy of a GPU's pool; the members are explained at `SeveralStreams`, memory/policies.hpp.
template <Runtime R> class PoolStreams {
public:
  using policy_kind = memory::StreamPolicyKind;
  using Stream = StreamKey<R>;          ///< a part of the pool
  using Event = gpu::Event<R>;          ///< after it memory may be used again
  static constexpr bool several = true; ///< streams, so blocks remember their users

  /// The policy for a device of the driver.
  template <class D>
  requires std::same_as<typename D::Runtime, R>
  explicit PoolStreams(const D& device)
      : device_{device.index}, state_{[](int index) -> DeviceState<R>& { return state_of(D{index}); }} {}

  /// The default stream of twill.
  [[nodiscard]] static Stream default_stream() { return {}; }

  /// The stream of the innermost guard of this thread.
  [[nodiscard]] Stream current_stream() const {
    Stream key{};
    for (const auto* scope = detail::innermost_scope<R>; scope != nullptr; scope = scope->outer) {
      if (scope->device != device_) continue;
      if (scope->stream != &state_(device_).default_stream()) key = Stream{scope->stream->queue.stream()};
      break;
    }
    key.graph = recorded_graph<R>();
    return key;
  }

  /// Whether a free block may move between two parts of the pool.
  [[nodiscard]] static bool may_share(const Stream& left, const Stream& right) {
    return left.graph == 0 && right.graph == 0;
  }
  /// Whether a caller may wait for the device now.
  [[nodiscard]] static bool may_wait() { return recorded_graph<R>() == 0; }

  /// Marks the work of a stream. While the process ends the driver is not called and no memory is handed out any more.
  [[nodiscard]] Event record(const Stream& stream) {
    return process_is_ending ? Event{} : Event{state_(device_), handle(stream)};
  }
  /// Makes later work of the stream wait for the event.
  void wait(const Stream& stream, const Event& event) { event.hold(handle(stream), device_); }
  /// Whether it has passed, as far as this may be asked now.
  [[nodiscard]] bool done(const Event& event) const { return may_wait() && event.is_complete(); }
  /// Blocks the calling thread until it has passed.
  void wait_on_host(const Event& event) const { event.wait(); }
  /// Waits for all streams that twill knows. throws: GpuError
  void synchronize() {
    if (!process_is_ending) state_(device_).synchronize();
  }
  /// Waits for one stream, which twill need not know. throws: GpuError
  void synchronize(const Stream& stream) {
    if (!process_is_ending) state_(device_).synchronize(handle(stream));
  }

private:
  [[nodiscard]] typename R::Stream handle(const Stream& key) const {
    return key.is_default ? state_(device_).default_stream().queue.stream() : key.stream;
  }

  int device_;
  DeviceState<R>& (*state_)(int);
};

}}} // namespace twill::v0::gpu

namespace twill { inline namespace v0 {

/// Memory options of the pools of a kind of GPU.
struct GpuMemoryOptions {
  gpu::Source source = gpu::Source::segments; ///< of segments, or of each tensor by itself
};

/// Chooses the driver's allocator for all devices of a kind, before the first tensor is made; an equal second choice is
/// no error. throws: DeviceError when pools are in use already with another one
template <gpu::GpuDevice D> void configure_memory(const GpuMemoryOptions& options) {
  int chosen = 0;
  const int wanted = 1 + static_cast<int>(options.source);
  if (gpu::detail::chosen_source<typename D::Runtime>.compare_exchange_strong(chosen, wanted) || chosen == wanted)
    return;
  constexpr std::string_view uses[] = {"the plain allocator", "the stream-ordered allocator",
                                       "an allocation for each tensor"};
  throw DeviceError(
      join_text({"configure_memory: the pools of ", std::string_view{D::kind}, " devices are in use with ",
                 uses[chosen - 1], "; call it before the first tensor on one is made"}));
}

}} // namespace twill::v0
