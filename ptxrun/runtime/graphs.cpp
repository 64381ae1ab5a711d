// SPDX-License-Identifier: Apache-2.0
#include <ptxrun/runtime/graphs.hpp>

#include <ptxrun/runtime/streams.hpp>

#include <algorithm>
#include <random>

namespace ptxrun::runtime {
namespace {

/// The captures that are under way.
std::vector<std::shared_ptr<Capture>>& open_captures() {
  static auto* const all = new std::vector<std::shared_ptr<Capture>>;
  return *all;
}

thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;

bool forbids_calls_of_this_thread(const Capture& capture) {
  if (mode_of_thread == cudaStreamCaptureModeRelaxed || capture.mode == cudaStreamCaptureModeRelaxed) return false;
  if (capture.thread == std::this_thread::get_id()) return true;
  return capture.mode == cudaStreamCaptureModeGlobal && mode_of_thread == cudaStreamCaptureModeGlobal;
}

} // namespace

void Graph::run() const {
  if (options().shuffle_seed == 0) {
    for (const Node& node : nodes) node.work();
    return;
  }
  thread_local std::minstd_rand random{static_cast<unsigned>(options().shuffle_seed)};
  std::vector<std::size_t> waits_for(nodes.size()); // how many of a node's predecessors have not run
  std::vector<std::vector<std::size_t>> before(nodes.size());
  std::vector<std::size_t> ready{};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    waits_for[i] = nodes[i].after.size();
    for (const std::size_t each : nodes[i].after) before[each].push_back(i);
    if (waits_for[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    const std::size_t chosen = ready.back();
    ready.pop_back();
    nodes[chosen].work();
    for (const std::size_t each : before[chosen])
      if (--waits_for[each] == 0) ready.push_back(each);
  }
}

bool Graph::ends_in(const std::vector<std::size_t>& last) const {
  std::vector<bool> is_reached(nodes.size());
  for (const std::size_t each : last) is_reached[each] = true;
  for (std::size_t i = nodes.size(); i-- > 0;) // a node comes after nodes with smaller numbers
    if (is_reached[i])
      for (const std::size_t each : nodes[i].after) is_reached[each] = true;
  return std::find(is_reached.begin(), is_reached.end(), false) == is_reached.end();
}

cudaError_t refuse_while_capturing() {
  cudaError_t status = cudaSuccess;
  for (const auto& capture : open_captures()) {
    if (!forbids_calls_of_this_thread(*capture)) continue;
    capture->is_invalid = true;
    status = cudaErrorStreamCaptureUnsupported;
  }
  return status;
}

} // namespace ptxrun::runtime

using namespace ptxrun::runtime;

extern "C" {

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, mode_of_thread);
  return finish(cudaSuccess);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  const Lock lock = lock_state();
  const auto stream = stream_of(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (stream->is_default) return finish(cudaErrorStreamCaptureUnsupported);
  if (stream->capture != nullptr) return finish(cudaErrorIllegalState);
  stream->capture = std::make_shared<Capture>();
  stream->capture->origin = stream;
  stream->capture->streams = {stream};
  stream->capture->mode = mode;
  stream->capture->thread = std::this_thread::get_id();
  stream->frontier.clear();
  open_captures().push_back(stream->capture);
  return finish(cudaSuccess);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  const Lock lock = lock_state();
  const auto stream = stream_of(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  *status = stream->capture == nullptr    ? cudaStreamCaptureStatusNone
            : stream->capture->is_invalid ? cudaStreamCaptureStatusInvalidated
                                          : cudaStreamCaptureStatusActive;
  return finish(cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* to) {
  const Lock lock = lock_state();
  *to = nullptr;
  const auto stream = stream_of(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  const auto capture = stream->capture;
  if (capture == nullptr || capture->origin != stream) return finish(cudaErrorIllegalState);
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id())
    return finish(cudaErrorStreamCaptureWrongThread);
  std::erase(open_captures(), capture);
  for (const auto& each : capture->streams) each->capture = nullptr;
  const bool is_joined = capture->graph.ends_in(stream->frontier);
  capture->streams.clear(); // events may still name the capture
  capture->origin = nullptr;
  if (capture->is_invalid) return finish(cudaErrorStreamCaptureInvalidated);
  capture->is_invalid = true;
  if (!is_joined) return finish(cudaErrorStreamCaptureUnjoined);
  *to = reinterpret_cast<cudaGraph_t>(
      new std::shared_ptr<const Graph>(std::make_shared<Graph>(std::move(capture->graph))));
  return finish(cudaSuccess);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* to, cudaGraph_t graph, unsigned long long) {
  *to = reinterpret_cast<cudaGraphExec_t>(
      new std::shared_ptr<const Graph>(*reinterpret_cast<std::shared_ptr<const Graph>*>(graph)));
  return finish(cudaSuccess);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete reinterpret_cast<std::shared_ptr<const Graph>*>(graph);
  return finish(cudaSuccess);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete reinterpret_cast<std::shared_ptr<const Graph>*>(graph); // launches that are under way own theirs
  return finish(cudaSuccess);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  Lock lock = lock_state();
  return finish(
      enqueue(stream, lock, [owned = *reinterpret_cast<std::shared_ptr<const Graph>*>(graph)] { owned->run(); }));
}
}
