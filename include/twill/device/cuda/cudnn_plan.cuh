#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Execution plans of cuDNN graphs: cuDNN proposes engines for a device, device/cuda/plan_choice.hpp chooses one, kept
// by problem. A device is one of this machine or, without a GPU, a JSON description. Handles come from a pool for each
// device and live as long as the process. Not in the umbrella. Read next: device/cuda/cudnn_convolution.cuh.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cuda/cudnn_graph.cuh>
#include <twill/device/cuda/plan_cache.hpp>
#include <twill/device/cuda/plan_choice.hpp>
#include <twill/device/cuda/runtime.cuh>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/library_memory.hpp>
#include <twill/device/gpu/library_options.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/timer_calls.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cuda_runtime.h>
#include <cudnn_graph.h>

namespace twill { inline namespace v0 { namespace nvidia { namespace dnn {

/// Working memory of an engine; `memory` is null while planning.
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
/// A device from a description.
[[nodiscard]] inline Descriptor properties_from(std::string_view json) {
  Descriptor properties(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  properties.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, std::vector<char>(json.begin(), json.end()));
  properties.finalize("properties of a described device");
  return properties;
}

namespace detail {

inline constexpr std::int64_t most_proposals = 128;

/// An engine's notes about its arithmetic; nothing when it has none.
[[nodiscard]] inline std::optional<EngineNotes> notes_of(const Descriptor& config) {
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t handle = engine.handle();
  std::int64_t count = 0;
  if (cudnnBackendGetAttribute(config.handle(), CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count,
                               &handle) != CUDNN_STATUS_SUCCESS)
    return std::nullopt;
  std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> words{};
  if (cudnnBackendGetAttribute(engine.handle(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                               static_cast<std::int64_t>(words.size()), &count, words.data()) != CUDNN_STATUS_SUCCESS)
    return std::nullopt;
  EngineNotes notes{};
  for (std::int64_t i = 0; i < count; ++i) {
    const cudnnBackendNumericalNote_t word = words[static_cast<std::size_t>(i)];
    notes.is_nondeterministic = notes.is_nondeterministic || word == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC;
    notes.uses_tensor_cores = notes.uses_tensor_cores || word == CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
    notes.rounds_factors = notes.rounds_factors || word == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS;
    notes.sums_in_less_precision =
        notes.sums_in_less_precision || word == CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION;
  }
  return notes;
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
  std::int64_t count = 0;
  if (cudnnBackendGetAttribute(heuristics.handle(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0,
                               &count, nullptr) != CUDNN_STATUS_SUCCESS)
    return configs;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (std::int64_t i = 0; i < std::min(count, most_proposals); ++i) {
    configs.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    handles.push_back(configs.back().handle());
  }
  if (cudnnBackendGetAttribute(heuristics.handle(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                               static_cast<std::int64_t>(handles.size()), &count,
                               handles.data()) != CUDNN_STATUS_SUCCESS)
    count = 0;
  while (configs.size() > static_cast<std::size_t>(count)) configs.pop_back();
  return configs;
}

/// cuDNN's proposals for a graph on a device, in the form that choose_plan takes: those of the heuristics, then those
/// that always work.
class Proposals {
public:
  Proposals(const Graph& graph, const Descriptor& device)
      : graph_{&graph}, device_{&device}, finished_{graph.finish()} {}

  template <class Visit> void for_each(Visit visit) const {
    for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
      for (const Descriptor& config : proposals(finished_, *device_, mode)) {
        const std::optional<EngineNotes> notes = notes_of(config);
        const auto build = [&]() -> std::shared_ptr<const Plan> {
          Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
          plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config).set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *device_);
          if (!plan.try_finalize()) return nullptr;
          return std::make_shared<const Plan>(std::move(plan), graph_->numbers(), graph_->what());
        };
        if (notes && !visit(*notes, build)) return;
      }
  }

private:
  const Graph* graph_;
  const Descriptor* device_;
  Descriptor finished_;
};

[[nodiscard]] inline PlanLimits limits_of(const Graph& graph, const LibraryOptions& options,
                                          std::size_t workspace_bytes) {
  return {.factors = graph.factor_type(),
          .must_be_deterministic = options.is_deterministic,
          .allows_tf32 = options.allows_tf32_in_convolutions,
          .workspace_bytes = workspace_bytes};
}

} // namespace detail

inline constexpr std::size_t key_words = 24;
using Key = std::array<std::uint64_t, key_words>;

namespace detail {

/// cuDNN's state for a device.
struct DeviceState {
  std::mutex mutex{};
  std::vector<cudnnHandle_t> spare{};
  PlanCache<key_words, ChosenPlan<Plan>> plans{512};
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

/// Tries plans on operands, in the memory that `memory_for(plan)` gives, unless trying is impossible now.
template <class MemoryFor> class PlanTrial {
public:
  PlanTrial(const gpu::Queue<CudaRuntime>& queue, cudnnHandle_t handle, const std::vector<void*>& pointers,
            const MemoryFor& memory_for, Timing timing)
      : queue_{&queue}, handle_{handle}, pointers_{&pointers}, memory_for_{&memory_for}, timing_{timing} {}

  /// Whether a plan can be given to the stream; assumed where trying is impossible.
  [[nodiscard]] bool runs(const Plan& plan) const { return timing_ == Timing::impossible || run(plan); }

  /// The time of a run; nothing when the plan does not run.
  [[nodiscard]] std::optional<double> seconds_of(const Plan& plan) const {
    return gpu::seconds_of_run(*queue_, [&] { return run(plan); });
  }

private:
  [[nodiscard]] bool run(const Plan& plan) const {
    void* const memory = (*memory_for_)(plan);
    return memory != nullptr && plan.run(handle_, *pointers_, memory) == CUDNN_STATUS_SUCCESS;
  }

  const gpu::Queue<CudaRuntime>* queue_;
  cudnnHandle_t handle_;
  const std::vector<void*>* pointers_;
  const MemoryFor* memory_for_;
  Timing timing_;
};

} // namespace detail

/// Whether running a graph twice gives the result of running it once.
enum class Repeatable : bool { no, yes };

/// Runs the graph that `build()` describes on a queue, unless cuDNN has no engine for it; then nothing is done, and the
/// summary tells why. The workspace is the stream's memory for libraries unless another is given. throws: GpuError
template <class Build>
PlanSummary run_planned(const gpu::Queue<CudaRuntime>& queue, const Key& key, Build build,
                        const std::vector<void*>& pointers, Workspace workspace = {},
                        Repeatable repeatable = Repeatable::yes) {
  const bool has_workspace = workspace.memory != nullptr;
  if (!has_workspace) workspace.bytes = gpu::library_bytes(queue);
  const gpu::WorkingMemory working = queue.working_memory(); // an engine may be several kernels
  // null where there is no room
  const auto memory_for = [&](const Plan& plan) {
    return has_workspace ? workspace.memory : gpu::library_memory(queue, working, plan.workspace_bytes());
  };
  const LibraryOptions options = library_options();
  Timing timing = Timing::impossible;
  if (repeatable == Repeatable::yes && !gpu::is_captured<CudaRuntime>(queue.stream(), queue.device()))
    timing = Timing::possible;
  const auto key_of = [&](bool is_timed) {
    Key whole = key;
    whole[key_words - 1] = key_bits(options, is_timed) | static_cast<std::uint64_t>(workspace.bytes) << 8;
    return whole;
  };
  detail::DeviceState& state = detail::state_of(queue.device());
  const detail::Lease lease(state, queue);
  const auto chosen = find_or_choose(state.plans, options, timing, key_of, [&](bool is_timed) {
    constexpr std::size_t most_timed = 8;
    const RelaxedCapture relaxed{}; // engines may be compiled and loaded now
    const Graph graph = build();
    const Descriptor device = properties_of(queue.device());
    const auto limits = detail::limits_of(graph, options, workspace.bytes);
    const detail::Proposals proposals{graph, device};
    return choose_plan<Plan>(proposals, limits, is_timed ? most_timed : 1,
                             detail::PlanTrial{queue, lease.handle(), pointers, memory_for, timing});
  });
  if (chosen.plan == nullptr) return chosen.summary;
  void* const memory = memory_for(*chosen.plan);
  if (memory == nullptr)
    throw GpuError(join_text({"cuDNN: a stream of device ", queue.device(), " has no room for ", workspace.bytes,
                              " bytes of working memory; ", chosen.plan->what()}),
                   static_cast<int>(cudaErrorMemoryAllocation), false);
  if (const cudnnStatus_t status = chosen.plan->run(lease.handle(), pointers, memory); status != CUDNN_STATUS_SUCCESS)
    fail_cudnn(status, "cudnnBackendExecute", chosen.plan->what());
  return chosen.summary;
}

}}}} // namespace twill::v0::nvidia::dnn
