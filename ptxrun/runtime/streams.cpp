// SPDX-License-Identifier: Apache-2.0
#include <ptxrun/runtime/streams.hpp>

#include <ptxrun/findings.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>

namespace ptxrun::runtime {
namespace {

struct Streams {
  std::map<cudaStream_t, std::shared_ptr<Stream>> by_handle{};
  std::map<int, std::shared_ptr<Stream>> defaults{}; // by device
  std::condition_variable has_moved{};               // some stream has done an operation
};

Streams& streams() {
  static auto* const all = new Streams;
  return *all;
}

std::shared_ptr<Stream> default_stream(int device) {
  auto& stream = streams().defaults[device];
  if (stream == nullptr) {
    stream = std::make_shared<Stream>();
    stream->device = device;
    stream->is_default = true;
  }
  return stream;
}

double now_in_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

cudaError_t create(cudaStream_t* to, unsigned flags) {
  const Lock lock = lock_state();
  auto stream = std::make_shared<Stream>();
  stream->device = current_device();
  stream->is_blocking = (flags & cudaStreamNonBlocking) == 0;
  *to = reinterpret_cast<cudaStream_t>(stream.get());
  streams().by_handle[*to] = std::move(stream);
  return finish(cudaSuccess);
}

/// What the legacy default stream promises: it waits for blocking streams, and they for it.
void keep_order_of_default(const Stream& stream, Lock& lock) {
  if (stream.is_default) {
    const auto all = streams().by_handle;
    for (const auto& [handle, each] : all)
      if (each->is_blocking && each->device == stream.device) run_until(*each, each->issued, lock);
  } else if (stream.is_blocking) {
    const auto legacy = default_stream(stream.device);
    run_until(*legacy, legacy->issued, lock);
  }
}

void add(Stream& stream, Lock& lock, Operation operation) {
  keep_order_of_default(stream, lock);
  stream.pending.push_back(std::move(operation));
  ++stream.issued;
  if (!options().streams_run_late) run_until(stream, stream.issued, lock);
}

} // namespace

std::shared_ptr<Stream> stream_of(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread)
    return default_stream(current_device());
  const auto found = streams().by_handle.find(handle);
  if (found != streams().by_handle.end()) return found->second;
  report_finding("use of a stream that was destroyed", nullptr, nullptr, "or was never created");
  return nullptr;
}

cudaError_t enqueue(cudaStream_t handle, Lock& lock, std::function<void()> work) {
  const auto stream = stream_of(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->capture == nullptr) {
    add(*stream, lock, std::move(work));
    return cudaSuccess;
  }
  Capture& capture = *stream->capture;
  if (capture.is_invalid) return cudaErrorStreamCaptureInvalidated;
  capture.graph.nodes.push_back({std::move(work), std::move(stream->frontier)});
  stream->frontier = {capture.graph.nodes.size() - 1};
  return cudaSuccess;
}

void run_until(Stream& stream, std::uint64_t ticket, Lock& lock) {
  while (stream.done < ticket) {
    if (stream.is_running) {
      streams().has_moved.wait(lock);
      continue;
    }
    stream.is_running = true;
    Operation operation = std::move(stream.pending.front());
    stream.pending.pop_front();
    if (const auto* const wait = std::get_if<Wait>(&operation)) {
      run_until(*wait->stream, wait->ticket, lock);
    } else {
      lock.unlock();
      std::get<std::function<void()>>(operation)();
      lock.lock();
    }
    stream.is_running = false;
    ++stream.done;
    streams().has_moved.notify_all();
  }
}

void run_all(Lock& lock) {
  const auto all = streams().by_handle;
  const auto defaults = streams().defaults;
  for (const auto& [handle, stream] : all) run_until(*stream, stream->issued, lock);
  for (const auto& [device, stream] : defaults) run_until(*stream, stream->issued, lock);
}

} // namespace ptxrun::runtime

using namespace ptxrun::runtime;

namespace {

Event& event_of(cudaEvent_t handle) { return *reinterpret_cast<Event*>(handle); }

/// What CUDA answers to a program that asks how far a stream is whose work is captured.
cudaError_t refuse_captured(const Stream& stream) {
  if (stream.capture == nullptr) return cudaSuccess;
  stream.capture->is_invalid = true;
  return cudaErrorStreamCaptureUnsupported;
}

/// One step further, so that a program that polls comes to an end.
cudaError_t advance(Stream& stream, std::uint64_t ticket, Lock& lock) {
  if (stream.done < ticket) run_until(stream, stream.done + 1, lock);
  return stream.done < ticket ? cudaErrorNotReady : cudaSuccess;
}

cudaError_t wait_for_captured(Stream& stream, const std::shared_ptr<Stream>& owner, const Event& event) {
  if (event.capture->origin == nullptr) return cudaErrorCapturedEvent; // that capture has ended
  if (stream.capture == nullptr) {                                     // the stream is captured, too, from now on
    stream.capture = event.capture;
    stream.frontier.clear();
    event.capture->streams.push_back(owner);
  }
  if (stream.capture != event.capture) return cudaErrorStreamCaptureMerge;
  for (const std::size_t each : event.frontier)
    if (std::find(stream.frontier.begin(), stream.frontier.end(), each) == stream.frontier.end())
      stream.frontier.push_back(each);
  return cudaSuccess;
}

} // namespace

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* to, unsigned flags) { return create(to, flags); }
cudaError_t cudaStreamCreate(cudaStream_t* to) { return create(to, cudaStreamDefault); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* to, unsigned flags, int) { return create(to, flags); }

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  Lock lock = lock_state();
  const auto stream = stream_of(handle);
  if (stream == nullptr || stream->is_default) return finish(cudaErrorInvalidResourceHandle);
  run_until(*stream, stream->issued, lock);
  streams().by_handle.erase(handle);
  return finish(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  Lock lock = lock_state();
  const auto stream = stream_of(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (const cudaError_t status = refuse_captured(*stream); status != cudaSuccess) return finish(status);
  run_until(*stream, stream->issued, lock);
  return finish(cudaSuccess);
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  Lock lock = lock_state();
  const auto stream = stream_of(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (const cudaError_t status = refuse_captured(*stream); status != cudaSuccess) return finish(status);
  return finish(advance(*stream, stream->issued, lock));
}

cudaError_t cudaDeviceSynchronize() {
  Lock lock = lock_state();
  if (const cudaError_t status = refuse_while_capturing(); status != cudaSuccess) return finish(status);
  run_all(lock);
  return finish(cudaSuccess);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t call, void* data) {
  Lock lock = lock_state();
  return finish(enqueue(stream, lock, [call, data] { call(data); }));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* to, unsigned flags) {
  auto* const event = new Event;
  event->device = current_device();
  event->has_time = (flags & cudaEventDisableTiming) == 0;
  *to = reinterpret_cast<cudaEvent_t>(event);
  return finish(cudaSuccess);
}
cudaError_t cudaEventCreate(cudaEvent_t* to) { return cudaEventCreateWithFlags(to, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const Lock lock = lock_state();
  delete &event_of(event);
  return finish(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle) {
  Lock lock = lock_state();
  Event& event = event_of(handle);
  const auto stream = stream_of(stream_handle);
  if (stream == nullptr || stream->device != event.device) return finish(cudaErrorInvalidResourceHandle);
  event.capture = stream->capture;
  event.frontier = stream->frontier;
  event.stream = nullptr;
  if (event.capture != nullptr) return finish(cudaSuccess);
  event.stream = stream;
  event.ticket = stream->issued + 1;
  add(*stream, lock, [seconds = event.seconds] { *seconds = now_in_seconds(); });
  return finish(cudaSuccess);
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  Lock lock = lock_state();
  const Event& event = event_of(handle);
  if (event.capture != nullptr) return finish(cudaErrorCapturedEvent);
  if (const cudaError_t status = refuse_while_capturing(); status != cudaSuccess) return finish(status);
  const auto stream = event.stream;
  return finish(stream == nullptr ? cudaSuccess : advance(*stream, event.ticket, lock));
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  Lock lock = lock_state();
  const Event& event = event_of(handle);
  if (event.capture != nullptr) return finish(cudaErrorCapturedEvent);
  if (const auto stream = event.stream; stream != nullptr) run_until(*stream, event.ticket, lock);
  return finish(cudaSuccess);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  const Lock lock = lock_state();
  for (const Event* each : {&event_of(from), &event_of(to)}) {
    if (!each->has_time || each->stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
    if (each->stream->done < each->ticket) return finish(cudaErrorNotReady);
  }
  *milliseconds = static_cast<float>((*event_of(to).seconds - *event_of(from).seconds) * 1e3);
  return finish(cudaSuccess);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle, unsigned) {
  Lock lock = lock_state();
  const Event& event = event_of(event_handle);
  const auto stream = stream_of(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (event.capture != nullptr) return finish(wait_for_captured(*stream, stream, event));
  if (stream->capture != nullptr && event.stream != nullptr) {
    stream->capture->is_invalid = true;
    return finish(cudaErrorStreamCaptureIsolation);
  }
  if (event.stream != nullptr && event.stream != stream) add(*stream, lock, Wait{event.stream, event.ticket});
  return finish(cudaSuccess);
}
}
