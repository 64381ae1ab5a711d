#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// State of a GPU device. A kind is a small struct with an ordinal and a `Runtime`; everything else is here and made at
// first use: properties, streams with their working memory, reusable events, a host thread. The state is exported, so
// that a process has it once, and never destroyed, so that nothing calls the driver while the process ends. Until a
// device is used no context exists on it. Read next: device/gpu/stream.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/partition.hpp>
#include <twill/device/cpu/worker.hpp>
#include <twill/device/current.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/runtime.hpp>
#include <twill/device/gpu/scope.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>
#include <string>

namespace twill { inline namespace v0 { namespace gpu {

/// A kind of device whose kernels run through a driver.
template <class D>
concept GpuDevice = DeviceName<D> && Runtime<typename D::Runtime>;

/// Streams of a device in addition to that of its work. They run no kernels of twill's and have no working memory.
enum class SideStream : unsigned char {
  memory,      ///< for the driver's stream-ordered allocator, with no other work
  arrivals,    ///< copies from other devices
  collectives, ///< started calls of a group of ranks
};
/// The number of side streams.
inline constexpr std::size_t side_streams = 3;

/// An event of the driver, shared by handles; unused ones are used again.
template <Runtime R> struct EventRecord {
  typename R::Event event{};
  std::atomic<unsigned> owners{0};
  EventRecord* next = nullptr; ///< in the list of spare ones
};

/// Whether the process is ending: static objects destroyed later must not call the driver.
TWILL_EXPORT inline constinit std::atomic<bool> process_is_ending{false};

/// One device of a driver.
template <Runtime R> class DeviceState {
public:
  /// throws: GpuError when the device cannot be used, with nothing left over
  TWILL_COLD DeviceState(int index, std::string name, void (*on_start)(int))
      : host_{{}, std::move(name), on_start, index}, index_{index} {
    static const int registered = std::atexit([] { process_is_ending = true; });
    static_cast<void>(registered);
    check<R>(R::read_properties(index, &properties_), "read_properties", index);
    const std::size_t used_before = used_bytes_from_outside();
    const Using<R> scope{index};
    typename R::Stream stream{};
    check<R>(R::create_stream(&stream), "create_stream", index); // and with it the context
    const std::size_t used_after = used_bytes_from_outside();
    if (used_before > 0 && used_after > used_before) context_bytes_ = used_after - used_before;
    try {
      default_stream_ = &add_stream(stream);
    } catch (...) {
      static_cast<void>(R::destroy_stream(stream));
      throw;
    }
  }
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;

  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] const Properties& properties() const { return properties_; }
  /// The driver's memory for this process's context; 0 where unknown, or if the context existed before.
  [[nodiscard]] std::size_t context_bytes() const { return context_bytes_; }
  [[nodiscard]] StreamState<R>& default_stream() { return *default_stream_; }

  /// The thread for functions submitted to the device.
  [[nodiscard]] twill::cpu::Worker& host() { return host_; }

  /// The state of a stream, the user's own included. throws: GpuError when there is no room for working memory
  [[nodiscard]] StreamState<R>& stream(typename R::Stream stream) {
    for (StreamState<R>* each = first_stream_.load(std::memory_order_acquire); each != nullptr; each = each->next)
      if (each->queue.stream() == stream) {
        each->is_forgotten.store(false, std::memory_order_relaxed);
        return *each;
      }
    return add_stream(stream);
  }

  /// A new stream of twill's. throws: GpuError
  [[nodiscard]] TWILL_COLD StreamState<R>& make_stream() { return add_new_stream(create_stream()); }

  /// A stream of twill's for one owner, until it is given back. throws: GpuError
  [[nodiscard]] StreamState<R>& borrow_stream() {
    const std::lock_guard lock{recorders_mutex_};
    if (StreamState<R>* spare = spare_streams_) {
      spare_streams_ = spare->next_spare;
      spare->is_forgotten = false;
      return *spare;
    }
    return make_stream();
  }
  void give_back_stream(StreamState<R>& stream) noexcept {
    const std::lock_guard lock{recorders_mutex_};
    stream.next_spare = spare_streams_;
    spare_streams_ = &stream;
  }

  /// The stream on which graphs for another one are recorded, made at first use. Recorded launches run on the other
  /// one, so they use its working memory. throws: GpuError
  [[nodiscard]] StreamState<R>& recorder_of(StreamState<R>& stream) {
    const std::lock_guard lock{recorders_mutex_};
    StreamState<R>* recorder = stream.recorder.load(std::memory_order_relaxed);
    if (recorder == nullptr) stream.recorder = recorder = &add_new_stream(create_stream(), &stream.working);
    return *recorder;
  }

  /// A stream in addition to that of the device's work, made at first use. throws: GpuError
  [[nodiscard]] typename R::Stream side_stream(SideStream which) {
    const std::lock_guard lock{recorders_mutex_};
    std::optional<typename R::Stream>& stream = side_streams_[static_cast<std::size_t>(which)];
    if (!stream) stream = create_stream();
    return *stream;
  }

  /// The stream on which a loader's batches arrive during the device's work, made at first use. Tensors may be made on
  /// it, but it has no working memory for kernels. throws: GpuError
  [[nodiscard]] StreamState<R>& loading_stream() {
    const std::lock_guard lock{recorders_mutex_};
    if (loading_stream_ == nullptr) loading_stream_ = &add_new_stream(create_stream(), &no_working_space_);
    return *loading_stream_;
  }

  /// Memory of kernels and libraries outside the pool: the working memory of all streams, which recorders share.
  [[nodiscard]] std::size_t working_bytes() const {
    std::size_t bytes = 0;
    for (StreamState<R>* each = first_stream_.load(std::memory_order_acquire); each != nullptr; each = each->next)
      if (!each->shares_working) bytes += each->working.held_bytes();
    return bytes;
  }

  /// Stops using a stream until its handle is used again. requires: its work is done
  void forget(typename R::Stream stream) {
    for (StreamState<R>* each = first_stream_.load(std::memory_order_acquire); each != nullptr; each = each->next)
      if (each != default_stream_ && each->queue.stream() == stream) each->is_forgotten = true;
  }

  /// Calls `f(StreamState&)` for every stream in use.
  template <class F> void for_each_stream(F&& f) {
    for (StreamState<R>* each = first_stream_.load(std::memory_order_acquire); each != nullptr; each = each->next)
      if (!each->is_forgotten) f(*each);
  }

  /// Waits for all work of every stream in use and of the side streams, except for recorded work. throws: GpuError
  void synchronize() {
    const Using<R> scope{index_};
    for_each_stream([this](StreamState<R>& each) {
      if (!each.is_recording) synchronize(each.queue.stream());
    });
    std::array<std::optional<typename R::Stream>, side_streams> beside{};
    {
      const std::lock_guard lock{recorders_mutex_};
      beside = side_streams_;
    }
    for (const auto& stream : beside) {
      // One that is captured is in another thread's recording, with the stream that it records.
      if (stream && !is_captured<R>(*stream, index_)) synchronize(*stream);
    }
  }

  /// Waits for one stream, which twill need not know. throws: GpuError
  void synchronize(typename R::Stream stream) {
    const Using<R> scope{index_}; // a driver's default stream is that of the current device
    check<R>(R::synchronize_stream(stream), "synchronize_stream", index_);
  }

  /// An unused event, with one owner. throws: GpuError
  [[nodiscard]] EventRecord<R>* take_event() {
    {
      const std::lock_guard lock{events_mutex_};
      if (EventRecord<R>* record = spare_events_) {
        spare_events_ = record->next;
        record->owners.store(1, std::memory_order_relaxed);
        return record;
      }
    }
    const Using<R> scope{index_};
    auto* const record = new EventRecord<R>{};
    if (const Status status = R::create_event(&record->event); status != 0) {
      delete record;
      fail<R>(status, "create_event", index_);
    }
    record->owners.store(1, std::memory_order_relaxed);
    return record;
  }

  void give_back_event(EventRecord<R>* record) noexcept {
    const std::lock_guard lock{events_mutex_};
    record->next = spare_events_;
    spare_events_ = record;
  }

private:
  /// The bytes in use on the device by all processes, where the driver can tell them without a context.
  [[nodiscard]] std::size_t used_bytes_from_outside() const {
    if constexpr (requires { R::used_bytes_from_outside(index_); }) return R::used_bytes_from_outside(index_);
    return 0;
  }

  /// A stream of the driver; the first one creates the context of the device.
  TWILL_COLD typename R::Stream create_stream() const {
    const Using<R> scope{index_};
    typename R::Stream stream{};
    check<R>(R::create_stream(&stream), "create_stream", index_);
    return stream;
  }

  /// Adds a stream that was just made, and destroys it when that fails.
  TWILL_COLD StreamState<R>& add_new_stream(typename R::Stream stream, WorkingSpace* working = nullptr) {
    try {
      return add_stream(stream, working);
    } catch (...) {
      static_cast<void>(R::destroy_stream(stream));
      throw;
    }
  }

  /// Adds a stream, with its own working memory unless some is given.
  TWILL_COLD StreamState<R>& add_stream(typename R::Stream stream, WorkingSpace* working = nullptr) {
    const std::lock_guard lock{streams_mutex_};
    StreamState<R>* const first = first_stream_.load(std::memory_order_acquire);
    for (StreamState<R>* each = first; each != nullptr; each = each->next)
      if (each->queue.stream() == stream) return *each;
    const Using<R> scope{index_};
    const bool is_shared =
        working != nullptr; // else made in the expression, after the room for the state: nothing leaks
    auto* const state =
        new StreamState<R>{index_, stream, properties_, is_shared ? *working : make_working_space(stream), is_shared};
    state->next = first;
    first_stream_.store(state, std::memory_order_release);
    return *state;
  }

  /// Working memory and counters in one piece; the counters start at zero.
  TWILL_COLD WorkingSpace& make_working_space(typename R::Stream stream) {
    constexpr std::size_t counter_bytes = sizeof(unsigned) * allowance_counters;
    void* memory = nullptr;
    check<R>(R::allocate(&memory, allowance_bytes + counter_bytes), "allocate", index_);
    auto* const counters = static_cast<std::byte*>(memory) + allowance_bytes;
    Status status = R::fill(counters, 0, counter_bytes, stream);
    if (status == 0) status = R::synchronize_stream(stream);
    if (status != 0) {
      static_cast<void>(R::release(memory));
      fail<R>(status, "fill", index_);
    }
    try {
      return *new WorkingSpace{memory, reinterpret_cast<unsigned*>(counters), {allowance_bytes, allowance_counters}};
    } catch (...) {
      static_cast<void>(R::release(memory));
      throw;
    }
  }

  Properties properties_{};
  StreamState<R>* default_stream_ = nullptr;
  std::atomic<StreamState<R>*> first_stream_{nullptr};
  std::mutex streams_mutex_{};
  std::mutex recorders_mutex_{};
  std::size_t context_bytes_ = 0;
  std::array<std::optional<typename R::Stream>, side_streams> side_streams_{};
  StreamState<R>* loading_stream_ = nullptr;
  WorkingSpace no_working_space_{};
  StreamState<R>* spare_streams_ = nullptr;
  EventRecord<R>* spare_events_ = nullptr;
  std::mutex events_mutex_{};
  twill::cpu::Worker host_;
  int index_;
};

/// The devices of a driver that were used so far.
template <Runtime R> struct DeviceTable {
  std::array<std::atomic<DeviceState<R>*>, max_devices> states{}; ///< by ordinal; null for those that were not used
  std::mutex making{};                                            ///< held while a state is made
};

/// The one of the process.
template <Runtime R> TWILL_EXPORT DeviceTable<R>& device_table() {
  static constinit DeviceTable<R> table;
  return table;
}

namespace detail {
template <GpuDevice D> TWILL_COLD DeviceState<typename D::Runtime>& make_state(const D& device) {
  using R = typename D::Runtime;
  require_exists(device, "device");
  DeviceTable<R>& table = device_table<R>();
  auto& slot = table.states[static_cast<std::size_t>(device.index)];
  const std::lock_guard lock{table.making};
  DeviceState<R>* state = slot.load(std::memory_order_acquire);
  if (state == nullptr) {
    state = new DeviceState<R>{device.index, to_string(device), [](int index) {
                                 twill::detail::current_index<D> = index;
                                 static_cast<void>(R::use_device(index));
                               }};
    slot.store(state, std::memory_order_release);
  }
  return *state;
}
} // namespace detail

/// The state of a device, made if it is missing. throws: DeviceError when there is no such device, GpuError
template <GpuDevice D> [[nodiscard]] DeviceState<typename D::Runtime>& state_of(const D& device) {
  using R = typename D::Runtime;
  if (static_cast<unsigned>(device.index) < static_cast<unsigned>(max_devices)) [[likely]] {
    DeviceState<R>* const state =
        device_table<R>().states[static_cast<std::size_t>(device.index)].load(std::memory_order_acquire);
    if (state != nullptr) [[likely]]
      return *state;
  }
  return detail::make_state(device);
}

/// Whether a device was used in this process; the call does not use it.
template <GpuDevice D> [[nodiscard]] bool is_in_use(const D& device) {
  return is_available(device) &&
         device_table<typename D::Runtime>().states[static_cast<std::size_t>(device.index)].load(
             std::memory_order_acquire) != nullptr;
}

/// The driver's properties of a device.
template <GpuDevice D> [[nodiscard]] const Properties& properties(const D& device) {
  return state_of(device).properties();
}

}}} // namespace twill::v0::gpu
