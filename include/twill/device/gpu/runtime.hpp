#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// GPU driver interface: memory, streams, events, copies, captured graphs, and nothing else. All code above (pools,
// copies, queues, capture) is written against this concept, in headers that need no CUDA, so that tests run all of it
// on a machine without a GPU over a runtime that keeps its promises on the host. Calls return a status and never throw;
// `gpu::check` turns a status into an exception. Read next: device/gpu/queue.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

namespace twill { inline namespace v0 {

/// A call to a GPU's driver that failed. The message names the call, the device and the driver's own words.
class TWILL_EXPORT GpuError : public DeviceError {
public:
  /// With the driver's number, and whether the device is lost to this process.
  GpuError(const std::string& message, int status, bool is_sticky)
      : DeviceError{message}, status_{status}, is_sticky_{is_sticky} {}

  /// The driver's own number of the error.
  [[nodiscard]] int status() const { return status_; }
  /// Whether no later call on this device can succeed in this process, as after an illegal address.
  [[nodiscard]] bool is_sticky() const { return is_sticky_; }

private:
  int status_;
  bool is_sticky_;
};

/// A step that the driver stopped when some of its launches had changed weights, or may have; the other weights are
/// unchanged. Load a checkpoint before the next step. Any other error of a step leaves all weights unchanged.
class TWILL_EXPORT PartialUpdateError : public GpuError {
public:
  /// Takes the error that stopped the step.
  explicit PartialUpdateError(const GpuError& error)
      : PartialUpdateError{error.what(), error.status(), error.is_sticky()} {}
  explicit PartialUpdateError(const std::string& reason) : PartialUpdateError{reason, 0, false} {}

private:
  TWILL_COLD PartialUpdateError(const std::string& reason, int status, bool is_sticky)
      : GpuError{"step: stopped after it had begun to change weights, so only some are updated; load a checkpoint "
                 "(load_state_dict) before the next step: " +
                     reason,
                 status, is_sticky} {}
};

/// An operation that a graph of recorded work cannot hold: it waits, or reads a value back.
class TWILL_EXPORT CaptureError : public DeviceError {
  using DeviceError::DeviceError;
};

}} // namespace twill::v0

namespace twill { inline namespace v0 { namespace gpu {

/// The result of a driver's call: 0 for success.
using Status = int;

/// Device properties for launches and memory plans. Read once.
struct Properties {
  std::string name{};                  ///< "NVIDIA H200"
  int processors = 1;                  ///< streaming multiprocessors
  int threads_per_processor = 2048;    ///< that can be resident
  std::size_t shared_bytes = 48 << 10; ///< that a block may ask for at most, opted in
  int major = 0;                       ///< compute capability
  int minor = 0;                       ///< the part after the point
  std::size_t total_bytes = 0;         ///< memory of the device
  std::string bus{};                   ///< "0000:1b:00.0": the device's name in NVML
};

/// Whether work on a stream is being recorded instead of run.
enum class Capturing : unsigned char { no, yes, invalidated };

/// A driver. Its type is empty; `Stream`, `Event` and `Graph` are handles that are cheap to copy, value-initialised to
/// none. A value-initialised `Stream` is the driver's default stream. Not checked by the compiler: work on a stream
/// runs in order; between `begin_capture` and `end_capture` nothing given to the stream runs, and `launch_graph` runs
/// all of it with the arguments it was given then.
template <class R>
concept Runtime = std::is_empty_v<R> && std::copyable<typename R::Stream> &&
    std::equality_comparable<typename R::Stream> && std::copyable<typename R::Event> &&
    std::copyable<typename R::Graph> &&
    requires(int device, int* device_number, void* memory, void** to, const void* from, std::size_t bytes,
             std::size_t* number, typename R::Stream stream, typename R::Stream* new_stream, typename R::Event event,
             typename R::Event* new_event, typename R::Graph graph, typename R::Graph* new_graph,
             Properties* properties, Capturing* capturing, Status status, float* milliseconds) {
  { R::name } -> std::convertible_to<std::string_view>;
  { R::text(status) } -> std::same_as<std::string>;
  { R::is_sticky(status) } -> std::same_as<bool>;
  { R::is_out_of_memory(status) } -> std::same_as<bool>;
  { R::is_not_ready(status) } -> std::same_as<bool>;
  { R::device_count() } -> std::same_as<int>;                  // 0 without a driver; never throws, creates no context
  { R::use_device(device) } -> std::same_as<Status>;           // of the calling thread
  { R::device_in_use(device_number) } -> std::same_as<Status>; // creates no context
  { R::has_context(device) } -> std::same_as<bool>;            // whether any code in this process uses the device
  { R::read_properties(device, properties) } -> std::same_as<Status>;
  { R::memory_info(number, number) } -> std::same_as<Status>; // free, total, of the device in use
  { R::allocate(to, bytes) } -> std::same_as<Status>;
  { R::release(memory) } -> std::same_as<Status>;
  { R::allocate_while_capturing(to, bytes) } -> std::same_as<Status>; // the capture of this thread goes on
  { R::allocate_async(to, bytes, stream) } -> std::same_as<Status>;
  { R::release_async(memory, stream) } -> std::same_as<Status>;
  { R::allocate_pinned(to, bytes) } -> std::same_as<Status>;
  { R::release_pinned(memory) } -> std::same_as<Status>;
  { R::create_stream(new_stream) } -> std::same_as<Status>; // does not wait for the default stream
  { R::destroy_stream(stream) } -> std::same_as<Status>;
  { R::synchronize_stream(stream) } -> std::same_as<Status>;
  { R::create_event(new_event) } -> std::same_as<Status>;
  { R::create_timer(new_event) } -> std::same_as<Status>; // an event that records its time
  { R::destroy_event(event) } -> std::same_as<Status>;
  { R::record_event(event, stream) } -> std::same_as<Status>;
  { R::query_event(event) } -> std::same_as<Status>;
  { R::query_event_while_capturing(event) } -> std::same_as<Status>; // the capture of this thread goes on
  { R::synchronize_event(event) } -> std::same_as<Status>;
  { R::elapsed_ms(milliseconds, event, event) } -> std::same_as<Status>; // from one passed timer to another
  { R::wait_event(stream, event) } -> std::same_as<Status>;              // later work of the stream waits
  {
    R::copy(memory, from, bytes, stream)
    } -> std::same_as<Status>; // between host and device, either way, or within one
  { R::copy_peer(memory, device, from, device, bytes, stream) } -> std::same_as<Status>;
  { R::can_access_peer(device, device) } -> std::same_as<bool>;
  { R::enable_peer(device) } -> std::same_as<Status>;                 // the device in use may read that one's memory
  { R::fill(memory, device, bytes, stream) } -> std::same_as<Status>; // with a byte
  { R::begin_capture(stream) } -> std::same_as<Status>;
  {
    R::end_capture(stream, new_graph)
    } -> std::same_as<Status>; // ready to launch; none when the capture was invalidated
  { R::capturing(stream, capturing) } -> std::same_as<Status>;
  { R::launch_graph(graph, stream) } -> std::same_as<Status>;
  { R::destroy_graph(graph) } -> std::same_as<Status>;
};

/// Turns a failure into an exception. `call` is the function of the runtime; the message has its name in the driver's
/// manual.
/// throws: GpuError; std::bad_alloc is left to the caller
template <Runtime R> [[noreturn]] TWILL_COLD void fail(Status status, std::string_view call, int device) {
  const bool is_sticky = R::is_sticky(status);
  if constexpr (requires { R::manual_name(call); }) call = R::manual_name(call);
  throw GpuError(join_text({call, " on ", R::name, ":", device, ": ", R::text(status),
                            is_sticky ? "; an earlier kernel or copy failed and no call on this device can succeed any "
                                        "more: restart the process"
                                      : ""}),
                 status, is_sticky);
}
/// Throws as `fail` does unless the call succeeded.
template <Runtime R> void check(Status status, std::string_view call, int device) {
  if (status != 0) [[unlikely]]
    fail<R>(status, call, device);
}

/// Whether work on a stream of a device is being recorded in a graph instead of run. throws: GpuError
template <Runtime R> [[nodiscard]] bool is_captured(const typename R::Stream& stream, int device) {
  auto state = Capturing::no;
  check<R>(R::capturing(stream, &state), "capturing", device);
  return state != Capturing::no;
}

}}} // namespace twill::v0::gpu
