#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// `EmulatedRuntime`, a model of gpu::Runtime that keeps a GPU driver's promises on the host, and no more than those: see
// emulated_machine.hpp for how late work runs. It counts calls, knows what was not given back, fails on demand, refuses
// during a capture what CUDA refuses and spoils the capture then. Read next: emulated_device.hpp.

#include <tests/support/emulated_machine.hpp>

#include <twill/core/clock.hpp>
#include <twill/device/gpu/runtime.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

namespace twill { inline namespace v0 {

struct EmulatedRuntime {
  using Status = gpu::Status;
  using Machine = emulation::Machine;
  struct Stream {
    emulation::StreamData* data = nullptr;
    friend bool operator==(Stream, Stream) = default;
  };
  struct Event {
    emulation::EventData* data = nullptr;
  };
  struct Graph {
    emulation::GraphData* data = nullptr;
  };
  static constexpr std::string_view name = "emulated";
  static constexpr std::size_t others_bytes = std::size_t{7} << 20; ///< what other processes use of each device

  [[nodiscard]] static std::string text(Status status) {
    namespace error = emulation::error;
    switch (status) {
    case error::out_of_memory:
      return "out of memory";
    case error::not_ready:
      return "not ready";
    case error::illegal_address:
      return "an illegal memory access was encountered";
    case error::capture_unsupported:
      return "operation not permitted when stream is capturing";
    case error::capture_invalidated:
      return "operation failed due to a previous error during capture";
    case error::capture_unjoined:
      return "capturing stream has unjoined work";
    case error::capture_isolation:
      return "dependency created on uncaptured work in another stream";
    case error::captured_event:
      return "operation not permitted on an event last recorded in a capturing stream";
    default:
      return "error " + std::to_string(status);
    }
  }
  [[nodiscard]] static bool is_sticky(Status status) { return status == emulation::error::illegal_address; }
  [[nodiscard]] static bool is_out_of_memory(Status status) { return status == emulation::error::out_of_memory; }
  [[nodiscard]] static bool is_not_ready(Status status) { return status == emulation::error::not_ready; }

  // Devices ----------------------------------------------------------------------------------------------------------

  [[nodiscard]] static int device_count() { return Machine::get().device_count; }
  [[nodiscard]] static Status device_in_use(int* device) {
    *device = Machine::device_in_use();
    return 0;
  }
  [[nodiscard]] static bool has_context(int device) {
    const std::lock_guard lock{Machine::get().mutex};
    return Machine::get().devices[static_cast<std::size_t>(device)].has_context;
  }
  [[nodiscard]] static Status use_device(int device) {
    if (device < 0 || device >= device_count()) return emulation::error::invalid_device;
    const Call call{"use_device", true, device};
    if (call.status == 0) Machine::device_in_use() = device;
    return call.status;
  }
  [[nodiscard]] static Status read_properties(int device, gpu::Properties* properties) {
    if (device < 0 || device >= device_count()) return emulation::error::invalid_device;
    *properties = {.name = "Emulated GPU " + std::to_string(device),
                   .processors = 4,
                   .threads_per_processor = 2048,
                   .shared_bytes = 227 << 10,
                   .major = 9,
                   .minor = 0,
                   .total_bytes = emulation::DeviceMemory::capacity,
                   .bus = "0000:0" + std::to_string(device) + ":00.0"};
    return 0;
  }

  // Memory -----------------------------------------------------------------------------------------------------------

  [[nodiscard]] static Status memory_info(std::size_t* free, std::size_t* total) {
    const Call call{"memory_info"};
    *total = call.device().memory.limit;
    *free = *total - std::min(*total, call.machine.used_bytes(Machine::device_in_use()));
    return call.status;
  }
  [[nodiscard]] static std::size_t used_bytes_from_outside(int device) {
    const std::lock_guard lock{Machine::get().mutex};
    return Machine::get().used_bytes(device) + others_bytes;
  }
  [[nodiscard]] static Status allocate(void** to, std::size_t bytes) {
    const Call call{"allocate", false};
    return call.status != 0 ? call.status : take(call, to, bytes);
  }
  [[nodiscard]] static Status allocate_while_capturing(void** to, std::size_t bytes) {
    const Call call{"allocate_while_capturing"};
    return call.status != 0 ? call.status : take(call, to, bytes);
  }
  [[nodiscard]] static Status release(void* memory) {
    const Call call{"release", false};
    if (call.status != 0) return call.status;
    call.machine.run_all();
    return call.device().memory.release(memory) ? 0 : emulation::error::invalid_value;
  }
  /// Memory that the stream's later work may use.
  [[nodiscard]] static Status allocate_async(void** to, std::size_t bytes, Stream) {
    const Call call{"allocate_async", false};
    return call.status != 0 ? call.status : take(call, to, bytes);
  }
  [[nodiscard]] static Status release_async(void* memory, Stream stream) {
    const Call call{"release_async", false};
    if (call.status != 0) return call.status;
    auto& own = call.device().memory;
    return call.give(stream, 0, [&own, memory] { static_cast<void>(own.release(memory)); });
  }
  [[nodiscard]] static Status allocate_pinned(void** to, std::size_t bytes) {
    const Call call{"allocate_pinned", false};
    if (call.status != 0) return call.status;
    *to = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (*to == nullptr) return emulation::error::out_of_memory;
    call.machine.pinned.emplace(*to, bytes);
    return 0;
  }
  [[nodiscard]] static Status release_pinned(void* memory) {
    const Call call{"release_pinned", false};
    if (call.status != 0) return call.status;
    call.machine.run_all();
    if (call.machine.pinned.erase(memory) == 0) return emulation::error::invalid_value;
    std::free(memory);
    return 0;
  }

  // Streams and events -----------------------------------------------------------------------------------------------

  [[nodiscard]] static Status create_stream(Stream* stream) {
    const Call call{"create_stream"};
    if (call.status != 0) return call.status;
    stream->data = new emulation::StreamData{.device = Machine::device_in_use()};
    call.machine.streams.push_back(stream->data);
    ++call.machine.live_streams;
    return 0;
  }
  /// What it was given still runs; the handle is no more to be used.
  [[nodiscard]] static Status destroy_stream(Stream stream) {
    const Call call{"destroy_stream"};
    if (call.status != 0) return call.status;
    call.machine.run_until(*stream.data, stream.data->queued);
    stream.data->destroyed = true;
    --call.machine.live_streams;
    return 0;
  }
  [[nodiscard]] static Status synchronize_stream(Stream stream) {
    const Call call{"synchronize_stream", false,
                    stream.data != nullptr ? stream.data->device : Machine::device_in_use()};
    auto& data = call.machine.stream_of(stream.data);
    if (data.destroyed) return emulation::error::invalid_handle;
    if (data.capture != nullptr) {
      data.capture->invalidated = true;
      return emulation::error::capture_unsupported;
    }
    if (call.status == 0) call.machine.run_until(data, data.queued);
    return call.status != 0 ? call.status : call.device_of(data).sticky;
  }
  [[nodiscard]] static Status create_event(Event* event) {
    const Call call{"create_event"};
    if (call.status != 0) return call.status;
    event->data = new emulation::EventData{};
    ++call.machine.live_events;
    return 0;
  }
  [[nodiscard]] static Status destroy_event(Event event) {
    const Call call{"destroy_event"};
    delete event.data; // also where the call brings an earlier failure to light
    --call.machine.live_events;
    return call.status;
  }
  [[nodiscard]] static Status record_event(Event event, Stream stream) {
    const Call call{"record_event"};
    if (call.status != 0) return call.status;
    auto& data = call.machine.stream_of(stream.data);
    if (data.destroyed) return emulation::error::invalid_handle;
    if (data.device != Machine::device_in_use()) return emulation::error::invalid_handle;
    const std::shared_ptr<double> passed_s = event.data->passed_s;
    if (passed_s != nullptr)
      if (const Status status = call.give(stream, 0, [passed_s] { *passed_s = steady_seconds(); }); status != 0)
        return status;
    *event.data = {&data, data.capture != nullptr ? data.captured : data.queued, data.capture, passed_s};
    return 0;
  }
  [[nodiscard]] static Status create_timer(Event* event) {
    auto passed_s = std::make_shared<double>(0); // which may fail, before there is an event
    const Status status = create_event(event);
    if (status == 0) event->data->passed_s = std::move(passed_s);
    return status;
  }
  [[nodiscard]] static Status elapsed_ms(float* milliseconds, Event from, Event to) {
    const Call call{"elapsed_ms"};
    if (call.status != 0) return call.status;
    for (const Event event : {from, to}) {
      if (event.data->passed_s == nullptr) return emulation::error::invalid_handle;
      if (event.data->stream->finished < event.data->position) return emulation::error::not_ready;
    }
    *milliseconds = static_cast<float>(1e3 * (*to.data->passed_s - *from.data->passed_s));
    return 0;
  }
  [[nodiscard]] static Status query_event(Event event) {
    const Call call{"query_event", false};
    return call.status != 0 ? call.status : query(call, event);
  }
  [[nodiscard]] static Status query_event_while_capturing(Event event) {
    const Call call{"query_event"};
    return call.status != 0 ? call.status : query(call, event);
  }
  [[nodiscard]] static Status synchronize_event(Event event) {
    const Call call{"synchronize_event", false};
    if (call.status != 0) return call.status;
    if (const Status status = refuse_captured(event); status != 0) return status;
    auto* const stream = event.data->stream;
    if (stream == nullptr) return 0;
    call.machine.run_until(*stream, event.data->position);
    return call.device_of(*stream).sticky;
  }
  [[nodiscard]] static Status wait_event(Stream stream, Event event) {
    const Call call{"wait_event"};
    if (call.status != 0) return call.status;
    auto& data = call.machine.stream_of(stream.data);
    auto* const recorded = event.data->stream;
    if (const auto capture = event.data->capture) {
      if (capture->ended) return emulation::error::captured_event;
      if (data.capture == nullptr) { // a stream that waits for captured work is captured, too
        data.capture = capture;
        data.captured = data.joined = 0;
        capture->streams.push_back(&data);
      }
      if (data.capture != capture) return emulation::error::capture_isolation;
      if (&data == capture->origin && event.data->position > recorded->joined) recorded->joined = event.data->position;
      return 0;
    }
    if (data.capture != nullptr) {
      data.capture->invalidated = true;
      return emulation::error::capture_isolation;
    }
    if (recorded == nullptr || recorded == &data || recorded->finished >= event.data->position) return 0;
    return call.give(stream, 0, [&machine = call.machine, recorded, position = event.data->position] {
      machine.run_until(*recorded, position);
    });
  }

  // Copies -----------------------------------------------------------------------------------------------------------

  [[nodiscard]] static Status copy(void* to, const void* from, std::size_t bytes, Stream stream) {
    const Call call{"copy"};
    return call.status != 0 ? call.status : copy_when_it_runs(call, to, from, bytes, stream);
  }
  [[nodiscard]] static Status copy_peer(void* to, int, const void* from, int, std::size_t bytes, Stream stream) {
    const Call call{"copy_peer"};
    return call.status != 0 ? call.status : copy_when_it_runs(call, to, from, bytes, stream);
  }
  [[nodiscard]] static bool can_access_peer(int, int) { return true; }
  [[nodiscard]] static Status enable_peer(int device) {
    const Call call{"enable_peer"};
    if (call.status != 0) return call.status;
    unsigned& peers = call.device().peers;
    if ((peers >> device & 1U) != 0) return emulation::error::peer_already_enabled;
    peers |= 1U << device;
    return 0;
  }
  [[nodiscard]] static Status fill(void* memory, int byte, std::size_t bytes, Stream stream) {
    const Call call{"fill"};
    if (call.status != 0) return call.status;
    unsigned touched = 0;
    if (!call.machine.touched(memory, bytes, touched)) return emulation::error::invalid_value;
    return call.give(stream, touched, [=] { std::memset(memory, byte, bytes); });
  }

  // Captures ---------------------------------------------------------------------------------------------------------

  [[nodiscard]] static Status begin_capture(Stream stream) {
    const Call call{"begin_capture"};
    if (call.status != 0) return call.status;
    if (stream.data == nullptr) return emulation::error::capture_unsupported; // the legacy stream
    if (stream.data->capture != nullptr) return emulation::error::illegal_state;
    auto capture = std::make_shared<emulation::CaptureData>();
    capture->origin = stream.data;
    capture->streams.push_back(stream.data);
    stream.data->capture = capture;
    stream.data->captured = stream.data->joined = 0;
    Machine::capture_of_thread() = std::move(capture);
    return 0;
  }
  [[nodiscard]] static Status end_capture(Stream stream, Graph* graph) {
    const Call call{"end_capture"};
    graph->data = nullptr;
    if (stream.data == nullptr || stream.data->capture == nullptr) return emulation::error::illegal_state;
    const std::shared_ptr<emulation::CaptureData> capture = stream.data->capture;
    if (capture->origin != stream.data) return emulation::error::illegal_state;
    bool unjoined = false;
    for (emulation::StreamData* each : capture->streams) {
      unjoined = unjoined || (each != stream.data && each->captured > each->joined);
      each->capture = nullptr;
    }
    capture->ended = true;
    Machine::capture_of_thread() = nullptr;
    if (call.status != 0) return call.status;
    if (capture->invalidated) return emulation::error::capture_invalidated;
    if (unjoined) return emulation::error::capture_unjoined;
    graph->data = new emulation::GraphData{stream.data->device, capture->work};
    call.machine.graphs.insert(graph->data);
    ++call.machine.live_graphs;
    return 0;
  }
  [[nodiscard]] static Status capturing(Stream stream, gpu::Capturing* state) {
    const std::lock_guard lock{Machine::get().mutex};
    const auto& capture = Machine::get().stream_of(stream.data).capture;
    *state = capture == nullptr     ? gpu::Capturing::no
             : capture->invalidated ? gpu::Capturing::invalidated
                                    : gpu::Capturing::yes;
    return 0;
  }
  [[nodiscard]] static Status launch_graph(Graph graph, Stream stream) {
    const Call call{"launch_graph"};
    if (call.status != 0) return call.status;
    if (call.machine.stream_of(stream.data).capture != nullptr) return emulation::error::capture_unsupported;
    return call.give(stream, 0, [&machine = call.machine, work = graph.data->work] {
      for (const auto& each : work) machine.run(*each);
    });
  }
  [[nodiscard]] static Status destroy_graph(Graph graph) {
    const std::lock_guard lock{Machine::get().mutex};
    Machine::get().graphs.erase(graph.data);
    delete graph.data; // work that runs keeps its own share
    --Machine::get().live_graphs;
    return 0;
  }

  /// How often a call was made so far, by the name that gpu::Runtime gives it.
  [[nodiscard]] static long calls_of(std::string_view call) {
    const std::lock_guard lock{Machine::get().mutex};
    for (std::size_t i = 0; i < emulation::calls.size(); ++i)
      if (emulation::calls[i] == call) return Machine::get().counts[i];
    return -1;
  }
  /// Lets the n-th call of a name from now on fail, n from 1.
  static void fail_call(std::string_view call, long n, Status status) {
    const std::lock_guard lock{Machine::get().mutex};
    Machine::get().fault = {call, n, status};
  }

  /// A call to the driver: the lock, and what it returns before it does anything.
  struct Call {
    Machine& machine = Machine::get();
    std::lock_guard<std::recursive_mutex> lock{machine.mutex};
    emulation::UnderWay under_way{};
    Status status;
    explicit Call(std::string_view call, bool allowed_in_capture = true, int device = Machine::device_in_use())
        : status{machine.enter(call, device, allowed_in_capture)} {}

    [[nodiscard]] emulation::DeviceData& device() const {
      return machine.devices[static_cast<std::size_t>(Machine::device_in_use())];
    }
    [[nodiscard]] emulation::DeviceData& device_of(const emulation::StreamData& stream) const {
      return machine.devices[static_cast<std::size_t>(stream.device)];
    }
    template <class F> [[nodiscard]] Status give(Stream stream, unsigned touched, F work) const {
      auto& data = machine.stream_of(stream.data);
      return machine.give(data, std::make_unique<emulation::WorkOf<F>>(touched, std::move(work)));
    }
  };

private:
  [[nodiscard]] static Status query(const Call& call, Event event) {
    if (const Status status = refuse_captured(event); status != 0) return status;
    auto* const stream = event.data->stream;
    if (stream == nullptr || stream->finished >= event.data->position) return 0;
    call.machine.run_until(*stream, stream->finished + 1); // who asks again and again sees it pass
    return emulation::error::not_ready;
  }
  [[nodiscard]] static Status take(const Call& call, void** to, std::size_t bytes) {
    *to = call.device().memory.allocate(bytes);
    return *to != nullptr ? 0 : emulation::error::out_of_memory;
  }
  [[nodiscard]] static Status refuse_captured(Event event) {
    if (event.data->capture == nullptr) return 0;
    event.data->capture->invalidated = true;
    return emulation::error::captured_event;
  }
  [[nodiscard]] static Status copy_when_it_runs(const Call& call, void* to, const void* from, std::size_t bytes,
                                                Stream stream) {
    unsigned touched = 0;
    if (!call.machine.touched(to, bytes, touched) || !call.machine.touched(from, bytes, touched))
      return emulation::error::invalid_value;
    return call.give(stream, touched, [=] { std::memmove(to, from, bytes); });
  }
};

static_assert(gpu::Runtime<EmulatedRuntime>);

}} // namespace twill::v0
