#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The same on GPUs: each slot has timers in the streams of its device, around each launch and around each copy that enters it,
// and all slots together are one run. It is handed to who records when all of it was given to the streams. Read next:
// device/gpu/timed_run.hpp, compile/slot_record.hpp.

#include <twill/compile/gpu/partial_update.hpp>
#include <twill/compile/gpu/run_joined.hpp>
#include <twill/compile/gpu/run_recorded.hpp>
#include <twill/compile/gpu/watch.hpp>
#include <twill/compile/slot_record.hpp>
#include <twill/core/config.hpp>
#include <twill/device/gpu/scope.hpp>
#include <twill/device/gpu/stream.hpp>
#include <twill/device/gpu/timed_run.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace twill::inline v0::compile::inline TWILL_ISA {

/// A run whose slots have timers of their own.
class GpuSlotRun final : public PendingRun {
public:
  explicit GpuSlotRun(RecordedRun run) : run_{std::move(run)} {}

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

  /// The same in the stream of copies that go beside the device's work.
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
class SlotRecord<D> {
  using R = typename D::Runtime;
  using Queue = gpu::Queue<R>;

public:
  SlotRecord() = default;
  /// throws: GpuError
  SlotRecord(std::shared_ptr<RunRecorder> recorder, const std::vector<D>& devices, RecordedRun run)
      : recorder_{std::move(recorder)},
        place_{std::make_shared<RunPlace>(*recorder_)},
        run_{std::make_shared<GpuSlotRun>(std::move(run))} {
    for (const D& device : devices)
      launch(device,
             [&](const Queue& queue) { run_->slots.push_back(timed_run(*recorder_, device, queue, RecordedRun{})); });
  }

  /// Makes the timers of a run of these steps, before it begins. throws: GpuError, std::bad_alloc
  void reserve(const Binding& binding, std::span<const SlotStep> steps) {
    std::vector<std::size_t> launches(run_->slots.size());
    for (const SlotStep& step : steps)
      launches[static_cast<std::size_t>(step.slot)] += launches_between(binding, step.begin, step.end);
    for (std::size_t slot = 0; slot < launches.size(); ++slot) run_->slots[slot]->reserve(launches[slot]);
  }

  [[nodiscard]] explicit operator bool() const { return run_ != nullptr; }

  void run(const Queue& queue, Binding& binding, const SlotStep& step, std::span<const StartedKernel<Queue>> kernels,
           detail::UpdateProgress& progress) const {
    gpu::TimedRun& slot = *slot_of(step);
    slot.begin(gpu::AnyStream{queue.stream()});
    for_each_launch(binding, step.begin, step.end, [&](const BoundInstruction* launch) {
      run_launch(queue, binding, launch, kernels);
      progress.given(number_of(binding, *launch));
      slot.end(gpu::AnyStream{queue.stream()}, number_of(binding, *launch));
    });
  }
  void run_watched(const Queue& queue, const TableView& table, Binding& binding, const SlotStep& step,
                   std::span<const StartedKernel<Queue>> kernels, Watcher& watcher,
                   detail::UpdateProgress& progress) const {
    compile::run_watched(queue, table, binding, step.begin, step.end, kernels, watcher,
                         run_ != nullptr ? slot_of(step).get() : nullptr, progress);
  }

  [[nodiscard]] TimedCopy<D> copy(const SlotStep& step) const {
    return run_ != nullptr ? TimedCopy<D>{slot_of(step), step.begin} : TimedCopy<D>{};
  }

  void end() {
    if (run_ == nullptr) return;
    for (const auto& slot : run_->slots) slot->finish();
    place_->fill(std::exchange(run_, nullptr));
  }

private:
  [[nodiscard]] const std::shared_ptr<gpu::TimedRun>& slot_of(const SlotStep& step) const {
    return run_->slots[static_cast<std::size_t>(step.slot)];
  }

  std::shared_ptr<RunRecorder> recorder_{};
  std::shared_ptr<RunPlace> place_{};
  std::shared_ptr<GpuSlotRun> run_{};
};

} // namespace twill::inline v0::compile::inline TWILL_ISA
