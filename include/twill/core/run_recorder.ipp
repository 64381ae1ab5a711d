#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of core/run_recorder.hpp.

#include <twill/core/run_recorder.hpp>

namespace twill { inline namespace v0 {

TWILL_BODY void RunRecorder::add(std::shared_ptr<PendingRun> run) {
  const std::lock_guard lock{mutex_};
  if (is_closed_) return;
  make_room();
  runs_.push_back(std::move(run));
}

TWILL_BODY void RunRecorder::reserve() {
  const std::lock_guard lock{mutex_};
  make_room();
  ++reserved_;
}

TWILL_BODY void RunRecorder::add_reserved(std::shared_ptr<PendingRun> run) noexcept {
  const std::lock_guard lock{mutex_};
  --reserved_;
  if (run != nullptr && !is_closed_) runs_.push_back(std::move(run));
}

TWILL_BODY std::vector<std::shared_ptr<PendingRun>> RunRecorder::close() {
  const std::lock_guard lock{mutex_};
  is_closed_ = true;
  return std::exchange(runs_, {});
}

TWILL_BODY void RunRecorder::make_room() {
  const std::size_t wanted = runs_.size() + reserved_ + 1;
  if (runs_.capacity() < wanted) runs_.reserve(2 * wanted);
}

TWILL_BODY void RunPlace::fill(std::shared_ptr<PendingRun> run) noexcept {
  if (RunRecorder* const recorder = std::exchange(recorder_, nullptr)) recorder->add_reserved(std::move(run));
}

TWILL_COLD TWILL_BODY std::shared_ptr<RunRecorder> run_recorder() {
  detail::ActiveRecorder& active = detail::active_recorder();
  const std::lock_guard lock{active.mutex};
  return active.recorder;
}

TWILL_BODY RecordingRuns::RecordingRuns(std::shared_ptr<RunRecorder> recorder) {
  detail::ActiveRecorder& active = detail::active_recorder();
  const std::lock_guard lock{active.mutex};
  if (active.recorder != nullptr) throw ValueError("trace: another trace is being taken in this process; end it first");
  active.recorder = std::move(recorder);
  detail::is_recording_runs.store(true, std::memory_order_relaxed);
}

TWILL_BODY RecordingRuns::~RecordingRuns() {
  detail::ActiveRecorder& active = detail::active_recorder();
  const std::lock_guard lock{active.mutex};
  detail::is_recording_runs.store(false, std::memory_order_relaxed);
  active.recorder = nullptr;
}

}} // namespace twill::v0
