#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Launches of a segment on a GPU's queue, and observers of a run on GPUs. Each slot has timers in the streams of its
// device, around each launch and each copy that enters it, and all slots are one run, passed to the recorder when all
// of it was given to the streams. Values for a watcher are copied to the host after each instruction. Read next:
// device/gpu/timed_run.hpp, compile/run/observer.hpp.

#include <twill/compile/passes/join.hpp>
#include <twill/compile/program_type.hpp>
#include <twill/compile/run/launch.hpp>
#include <twill/compile/run/observer.hpp>
#include <twill/compile/run/partial_update.hpp>
#include <twill/core/config.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/scope.hpp>
#include <twill/device/gpu/stream.hpp>
#include <twill/device/gpu/timed_run.hpp>
#include <twill/device/gpu/timer_calls.hpp>
#include <twill/kernel/gpu/blocks.hpp>
#include <twill/kernel/gpu/index_sums.hpp>
#include <twill/kernel/gpu/joined.hpp>
#include <twill/kernel/gpu/row_orders.hpp>
#include <twill/kernel/program.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Gives a queue a launch, which begins with this instruction.
template <gpu::Runtime R>
void run_launch(const gpu::Queue<R>& queue, const Binding& binding, const BoundInstruction* launch,
                std::span<const StartedKernel<gpu::Queue<R>>> kernels) {
  [[maybe_unused]] const LaunchRange range{binding, launch};
  const StartedKernel<gpu::Queue<R>>& started = kernels[launch->kernel];
  if (launch->members == 1) {
    started.run(queue, binding.launch_of(*launch));
    return;
  }
  const kernel::Operand* const operands = binding.operands.data();
  std::array<kernel::JoinedLaunch, most_joined_launches> joined{};
  for (std::size_t i = 0; i < launch->members; ++i) joined[i] = {&launch[i].grid, operands + launch[i].first_operand};
  started.run_joined(queue, joined.data(), launch->members);
}

/// Gives a queue an instruction by itself.
template <gpu::Runtime R>
void run_alone(const gpu::Queue<R>& queue, const Binding& binding, const BoundInstruction& instruction,
               std::span<const StartedKernel<gpu::Queue<R>>> kernels) {
  kernels[instruction.kernel].run(queue, binding.launch_of(instruction));
}

/// Gives a queue all launches of a segment.
template <gpu::Runtime R>
void run_segment(const gpu::Queue<R>& queue, Binding& binding, const Segment& segment,
                 std::span<const StartedKernel<gpu::Queue<R>>> kernels, detail::UpdateProgress& progress) {
  for_each_launch(binding, segment, [&](const BoundInstruction* launch) {
    run_launch(queue, binding, launch, kernels);
    progress.given(number_of(binding, *launch));
  });
}

/// A run whose slots have timers of their own.
class GpuTimedRun final : public PendingRun {
public:
  explicit GpuTimedRun(RecordedRun run) : run_{std::move(run)} {}

  std::vector<std::shared_ptr<gpu::TimedRun>> slots{};

  [[nodiscard]] RecordedRun take() override {
    for (const auto& slot : slots) {
      const std::vector<NodeTime> times = slot->take().times;
      run_.times.insert(run_.times.end(), times.begin(), times.end());
    }
    return std::move(run_);
  }

private:
  RecordedRun run_;
};

template <ComputeDevice D>
requires gpu::GpuDevice<D>
class TimedCopy<D> {
  using R = typename D::Runtime;

public:
  TimedCopy() = default;
  TimedCopy(std::shared_ptr<gpu::TimedRun> slot, std::size_t node) : slot_{std::move(slot)}, node_{node} {}

  void begin(const D& device) const {
    if (slot_ != nullptr)
      launch(device, [&](const gpu::Queue<R>& queue) { slot_->begin(gpu::AnyStream{queue.stream()}); });
  }
  void end(const D& device) const {
    if (slot_ != nullptr)
      launch(device, [&](const gpu::Queue<R>& queue) { slot_->end(gpu::AnyStream{queue.stream()}, node_); });
  }

  /// Begins in the stream of copies that run beside the device's work.
  template <class Events> void begin_arrival(const D& device, const Events& ready) const {
    if (slot_ == nullptr) return;
    const auto stream = gpu::state_of(device).side_stream(gpu::SideStream::arrivals);
    record(device).hold(stream, device.index);
    for (const auto& event : ready) event.hold(stream, device.index);
    const gpu::Using<R> scope{device.index};
    slot_->begin(gpu::AnyStream{stream});
  }
  void end_arrival(const D& device) const {
    if (slot_ == nullptr) return;
    const auto stream = gpu::state_of(device).side_stream(gpu::SideStream::arrivals);
    const gpu::Using<R> scope{device.index};
    slot_->end(gpu::AnyStream{stream}, node_);
  }

private:
  std::shared_ptr<gpu::TimedRun> slot_{};
  std::size_t node_ = 0;
};

template <ComputeDevice D>
requires gpu::GpuDevice<D>
class RunObserver<D> {
  using R = typename D::Runtime;
  using Queue = gpu::Queue<R>;
  using Kernels = std::span<const StartedKernel<Queue>>;

public:
  RunObserver() = default;
  /// Either may be null. The recorder does not see a run that becomes part of a graph which the program itself records.
  /// throws: GpuError, std::bad_alloc; CaptureError for a watcher of such a run
  RunObserver(std::shared_ptr<RunRecorder> recorder, Watcher* watcher, std::span<const D> devices,
              const TableView& table, Binding& binding)
      : watcher_{watcher} {
    bool is_capturing = false;
    for (const D& device : devices) {
      if (watcher != nullptr) gpu::require_no_recording<R>("watch", device.index);
      launch(device, [&](const Queue& queue) {
        auto outer = gpu::Capturing::no;
        gpu::check<R>(R::capturing(queue.stream(), &outer), "capturing", device.index);
        is_capturing = is_capturing || outer != gpu::Capturing::no;
      });
    }
    objection_ = is_capturing         ? "the program itself is recording a graph, which no trace looks into"
                 : watcher == nullptr ? "the run was traced"
                                      : "the run was watched";
    if (recorder == nullptr || is_capturing) return;
    recorder_ = std::move(recorder);
    place_ = std::make_shared<RunPlace>(*recorder_);
    run_ = std::make_shared<GpuTimedRun>(new_record(table, binding, names_of(devices), watcher != nullptr));
    add_timers(devices, binding);
  }

  [[nodiscard]] explicit operator bool() const { return watcher_ != nullptr || run_ != nullptr; }
  [[nodiscard]] bool watches() const { return watcher_ != nullptr; }
  [[nodiscard]] const char* objection() const { return objection_; }

  /// Gives a queue the launches of a segment. requires: not empty
  void run(const Queue& queue, const TableView& table, Binding& binding, const Segment& segment, Kernels kernels,
           detail::UpdateProgress* progress) const {
    run_observed(queue, table, binding, segment, kernels,
                 See{queue, table, binding, watcher_, slot_of(segment), *progress, {}});
  }

  /// Makes a call of the host in place of a launch.
  template <class F> void time(const D& device, const Segment& segment, const F& call) const {
    const TimedCopy<D> timed = copy(segment);
    timed.begin(device);
    call();
    timed.end(device);
  }

  /// The copy of a segment that is one.
  [[nodiscard]] TimedCopy<D> copy(const Segment& segment) const {
    return run_ != nullptr ? TimedCopy<D>{run_->slots[place_of(segment)], segment.begin} : TimedCopy<D>{};
  }

  /// Ends the record after all of the run was given to its devices.
  void end() {
    if (run_ == nullptr) return;
    for (const auto& slot : run_->slots) slot->finish();
    place_->fill(std::exchange(run_, nullptr));
  }

private:
  struct See {
    const Queue& queue;
    const TableView& table;
    const Binding& binding;
    Watcher* watcher;
    gpu::TimedRun* times;
    detail::UpdateProgress& progress;
    std::vector<std::byte> copy;

    [[nodiscard]] bool watches() const { return watcher != nullptr; }
    void begin() const {
      if (times != nullptr) times->begin(gpu::AnyStream{queue.stream()});
    }
    void end(std::size_t instruction) const {
      progress.given(instruction);
      if (times != nullptr) times->end(gpu::AnyStream{queue.stream()}, instruction);
    }
    /// throws: GpuError
    void show(int value, const void* data) {
      copy.resize(binding.value_bytes[static_cast<std::size_t>(value)]);
      if (!copy.empty()) gpu::check<R>(R::copy(copy.data(), data, copy.size(), queue.stream()), "copy", queue.device());
      gpu::check<R>(R::synchronize_stream(queue.stream()), "synchronize_stream", queue.device());
      watcher->see(table, binding.symbols, value, copy.data());
    }
  };

  /// The timers of all segments, before the run begins.
  void add_timers(std::span<const D> devices, const Binding& binding) {
    for (const D& device : devices)
      launch(device, [&](const Queue& queue) {
        run_->slots.push_back(std::make_shared<gpu::TimedRun>(
            *recorder_, gpu::TimedDevice{&gpu::timer_calls<R>, device.index, to_string(device)},
            gpu::AnyStream{queue.stream()}, RecordedRun{}));
      });
    std::vector<std::size_t> launches(devices.size());
    for (const Segment& segment : binding.segments.list)
      launches[place_of(segment)] += launches_of(binding, segment, watches());
    for (std::size_t slot = 0; slot < launches.size(); ++slot) run_->slots[slot]->reserve(launches[slot]);
  }

  [[nodiscard]] std::size_t place_of(const Segment& segment) const {
    return run_->slots.size() == 1 ? 0 : static_cast<std::size_t>(segment.slot);
  }
  [[nodiscard]] gpu::TimedRun* slot_of(const Segment& segment) const {
    return run_ == nullptr ? nullptr : run_->slots[place_of(segment)].get();
  }

  Watcher* watcher_ = nullptr;
  const char* objection_ = nullptr;
  std::shared_ptr<RunRecorder> recorder_{};
  std::shared_ptr<RunPlace> place_{};
  std::shared_ptr<GpuTimedRun> run_{};
};

}}}} // namespace twill::v0::compile::TWILL_ISA
