#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// From a graph to something that runs: the engines that cuDNN proposes for a device, filtered by what the program allows
// (deterministic, no TF32, a bounded workspace), the first that can be built or the fastest of several by the clock, kept
// by problem. A device is one of this machine or a description as JSON, for planning without a GPU. Handles are lent from a
// pool of each device and live as long as the process. Not in the umbrella. Read next: device/cuda/cudnn_convolution.cuh.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cuda/cudnn_graph.cuh>
#include <twill/device/cuda/plan_cache.hpp>
#include <twill/device/cuda/relaxed_capture.cuh>
#include <twill/device/cuda/runtime.cuh>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/library_options.hpp>
#include <twill/device/gpu/queue.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>
#include <cudnn_graph.h>

namespace twill::inline v0::nvidia::dnn {

/// What an engine may need; `memory` is null while planning.
struct Workspace {
  void* memory = nullptr;
  std::size_t bytes = 0;
};

/// An engine that was built for a graph and a device.
class Plan {
public:
  Plan(Descriptor plan, std::vector<std::int64_t> numbers, std::string what)
      : plan_{std::move(plan)},
        numbers_{std::move(numbers)},
        what_{std::move(what)},
        workspace_bytes_{static_cast<std::size_t>(plan_.get_number(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE))} {}

  [[nodiscard]] std::size_t workspace_bytes() const { return workspace_bytes_; }

  /// Runs it on the handle's stream; `pointers` are those of the graph's tensors with memory and numbers, in order.
  [[nodiscard]] cudnnStatus_t run(cudnnHandle_t handle, const std::vector<void*>& pointers, void* workspace) const {
    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, numbers_)
        .set_pointers(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, pointers)
        .set_pointers(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, {workspace});
    pack.finalize(what_);
    return cudnnBackendExecute(handle, plan_.handle(), pack.handle());
  }
  [[nodiscard]] const std::string& what() const { return what_; }

private:
  Descriptor plan_;
  std::vector<std::int64_t> numbers_;
  std::string what_;
  std::size_t workspace_bytes_;
};

/// A device of this machine. throws: GpuError without a driver
[[nodiscard]] inline Descriptor properties_of(int device) {
  Descriptor properties(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  properties.set(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, std::int32_t{device}).finalize("properties of a device");
  return properties;
}
/// A device that is only described.
[[nodiscard]] inline Descriptor properties_from(std::string_view json) {
  Descriptor properties(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  properties.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, std::vector<char>(json.begin(), json.end()));
  properties.finalize("properties of a described device");
  return properties;
}

namespace detail {

inline constexpr std::size_t most_engines = 16;

/// Whether an engine keeps to what the program allows.
[[nodiscard]] inline bool is_allowed(const Descriptor& config, const LibraryOptions& options) {
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t handle = engine.handle();
  std::int64_t count = 0;
  if (cudnnBackendGetAttribute(config.handle(), CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count,
                               &handle) != CUDNN_STATUS_SUCCESS)
    return false;
  std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> notes{};
  if (cudnnBackendGetAttribute(engine.handle(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                               static_cast<std::int64_t>(notes.size()), &count, notes.data()) != CUDNN_STATUS_SUCCESS)
    return false;
  for (std::int64_t i = 0; i < count; ++i) {
    const cudnnBackendNumericalNote_t note = notes[static_cast<std::size_t>(i)];
    if (note == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC && options.is_deterministic) return false;
    if (note == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS && !options.allows_tf32) return false;
    if (note == CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION) return false;
  }
  return true;
}

/// The engine configurations that a mode of the heuristics proposes, best first; none when it knows none.
[[nodiscard]] inline std::vector<Descriptor> proposals(const Descriptor& graph, const Descriptor& device,
                                                       cudnnBackendHeurMode_t mode) {
  Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, mode)
      .set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, device);
  std::vector<Descriptor> configs;
  if (!heuristics.try_finalize()) return configs;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (std::size_t i = 0; i < most_engines; ++i) {
    configs.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    handles.push_back(configs.back().handle());
  }
  std::int64_t count = 0;
  if (cudnnBackendGetAttribute(heuristics.handle(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                               static_cast<std::int64_t>(handles.size()), &count,
                               handles.data()) != CUDNN_STATUS_SUCCESS)
    count = 0;
  while (configs.size() > static_cast<std::size_t>(count)) configs.pop_back();
  return configs;
}

} // namespace detail

/// Up to `wanted` plans for a graph, those first that cuDNN thinks fastest; none when no engine takes it.
/// cost: milliseconds to seconds, some engines are compiled
[[nodiscard]] inline std::vector<std::shared_ptr<const Plan>> plans_for(const Graph& graph, const Descriptor& device,
                                                                        const LibraryOptions& options,
                                                                        std::size_t workspace_limit_bytes,
                                                                        std::size_t wanted) {
  const Descriptor finished = graph.finish();
  std::vector<std::shared_ptr<const Plan>> plans;
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
    for (const Descriptor& config : detail::proposals(finished, device, mode)) {
      if (plans.size() == wanted) return plans;
      if (!detail::is_allowed(config, options)) continue;
      Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config).set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device);
      if (!plan.try_finalize()) continue;
      auto built = std::make_shared<const Plan>(std::move(plan), graph.numbers(), graph.what());
      if (built->workspace_bytes() <= workspace_limit_bytes) plans.push_back(std::move(built));
    }
  return plans;
}

inline constexpr std::size_t key_words = 24;
using Key = std::array<std::uint64_t, key_words>;

namespace detail {

/// What cuDNN keeps for a device.
struct DeviceState {
  std::mutex mutex{};
  std::vector<cudnnHandle_t> spare{};
  PlanCache<key_words, std::shared_ptr<const Plan>> plans{512};
};
[[nodiscard]] TWILL_EXPORT inline DeviceState& state_of(int device) {
  static DeviceState* const states = new DeviceState[max_devices];
  if (device < 0 || device >= max_devices)
    throw DeviceError(join_text({"cuDNN: device ", device, " is outside of [0, ", max_devices, ")"}));
  return states[device];
}

/// A handle for a scope, on the queue's stream. A handle serves one thread at a time.
class Lease {
public:
  Lease(DeviceState& state, const gpu::Queue<CudaRuntime>& queue) : state_{state} {
    {
      const std::lock_guard lock(state.mutex);
      if (!state.spare.empty()) {
        handle_ = state.spare.back();
        state.spare.pop_back();
      }
    }
    if (handle_ == nullptr) {
      const RelaxedCapture relaxed{};
      const gpu::Using<CudaRuntime> scope{queue.device()};
      if (const cudnnStatus_t status = cudnnCreate(&handle_); status != CUDNN_STATUS_SUCCESS)
        fail_cudnn(status, "cudnnCreate", join_text({"device ", queue.device()}));
    }
    if (const cudnnStatus_t status = cudnnSetStream(handle_, queue.stream()); status != CUDNN_STATUS_SUCCESS)
      fail_cudnn(status, "cudnnSetStream", join_text({"device ", queue.device()}));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    const std::lock_guard lock(state_.mutex);
    state_.spare.push_back(handle_);
  }
  [[nodiscard]] cudnnHandle_t handle() const { return handle_; }

private:
  DeviceState& state_;
  cudnnHandle_t handle_ = nullptr;
};

/// The fastest of several plans on these operands: once to warm up, three times against the clock.
[[nodiscard]] inline std::shared_ptr<const Plan> fastest_of(const std::vector<std::shared_ptr<const Plan>>& plans,
                                                            cudnnHandle_t handle, const std::vector<void*>& pointers,
                                                            void* workspace, const gpu::Queue<CudaRuntime>& queue) {
  const auto check = [&](int status, std::string_view call) { gpu::check<CudaRuntime>(status, call, queue.device()); };
  struct Events {
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    ~Events() {
      if (end != nullptr) cudaEventDestroy(end);
      if (begin != nullptr) cudaEventDestroy(begin);
    }
  } events{};
  check(cudaEventCreate(&events.begin), "cudaEventCreate");
  check(cudaEventCreate(&events.end), "cudaEventCreate");
  std::shared_ptr<const Plan> fastest;
  float best_ms = 0;
  for (const auto& plan : plans) {
    bool runs = plan->run(handle, pointers, workspace) == CUDNN_STATUS_SUCCESS;
    check(cudaEventRecord(events.begin, queue.stream()), "cudaEventRecord");
    for (int turn = 0; turn < 3 && runs; ++turn) runs = plan->run(handle, pointers, workspace) == CUDNN_STATUS_SUCCESS;
    check(cudaEventRecord(events.end, queue.stream()), "cudaEventRecord");
    check(cudaEventSynchronize(events.end), "cudaEventSynchronize");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, events.begin, events.end), "cudaEventElapsedTime");
    if (!runs || (fastest != nullptr && ms >= best_ms)) continue;
    best_ms = ms;
    fastest = plan;
  }
  return fastest;
}

} // namespace detail

/// Whether running a graph twice leaves what running it once does.
enum class Repeatable : bool { no, yes };

/// Runs the graph that `build()` describes on a queue; false, and nothing done, when cuDNN has no engine for it. The
/// workspace is the queue's allowance unless another is given. throws: GpuError
template <class Build>
[[nodiscard]] bool run_graph(const gpu::Queue<CudaRuntime>& queue, Key key, Build build,
                             const std::vector<void*>& pointers, Workspace workspace = {},
                             Repeatable repeatable = Repeatable::yes) {
  if (workspace.memory == nullptr) workspace = {queue.allowance().memory, queue.allowance().bytes};
  LibraryOptions options = library_options();
  if (options.autotune) {
    gpu::Capturing capturing = gpu::Capturing::no;
    gpu::check<CudaRuntime>(CudaRuntime::capturing(queue.stream(), &capturing), "cudaStreamIsCapturing",
                            queue.device());
    options.autotune = capturing == gpu::Capturing::no && !options.is_deterministic && repeatable == Repeatable::yes;
  }
  key[key_words - 1] = (options.autotune ? 1U : 0U) | (options.is_deterministic ? 2U : 0U) |
                       (options.allows_tf32 ? 4U : 0U) | (static_cast<std::uint64_t>(workspace.bytes) << 8);
  detail::DeviceState& state = detail::state_of(queue.device());
  const detail::Lease lease(state, queue);
  const auto plan = state.plans.find_or_make(key, [&]() -> std::shared_ptr<const Plan> {
    constexpr std::size_t most_timed = 8;
    const RelaxedCapture relaxed{}; // engines may be compiled and loaded now
    const auto plans =
        plans_for(build(), properties_of(queue.device()), options, workspace.bytes, options.autotune ? most_timed : 1);
    if (plans.size() < 2) return plans.empty() ? nullptr : plans.front();
    return detail::fastest_of(plans, lease.handle(), pointers, workspace.memory, queue);
  });
  if (plan == nullptr) return false;
  if (const cudnnStatus_t status = plan->run(lease.handle(), pointers, workspace.memory);
      status != CUDNN_STATUS_SUCCESS)
    fail_cudnn(status, "cudnnBackendExecute", plan->what());
  return true;
}

} // namespace twill::inline v0::nvidia::dnn
