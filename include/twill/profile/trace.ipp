#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/trace.hpp.

#include <twill/profile/trace.hpp>

namespace twill { inline namespace v0 { namespace profile {

TWILL_BODY LimitShare limit_share(double bytes, double flops, DType dtype, double seconds, const Peaks& peaks) {
  const double arithmetic = peaks.arithmetic(dtype);
  const double for_bytes = peaks.bytes_per_second > 0 ? bytes / peaks.bytes_per_second : 0;
  const double for_flops = arithmetic > 0 ? flops / arithmetic : 0;
  if (seconds <= 0 || (for_bytes <= 0 && for_flops <= 0)) return {-1, false};
  return {std::max(for_bytes, for_flops) / seconds, for_flops > for_bytes};
}

TWILL_BODY Peaks peaks_of(const Trace& trace, std::string_view device) {
  const auto kind = [](std::string_view name) { return name.substr(0, name.find(':')); };
  for (const Peaks& peaks : trace.peaks)
    if (peaks.device == device) return peaks;
  for (const Peaks& peaks : trace.peaks)
    if (kind(peaks.device) == kind(device)) return peaks;
  return {};
}

namespace detail {

/// The record of a launch that is about to run. throws: std::bad_alloc
TWILL_COLD TWILL_BODY RecordedRun launch_record(const kernel::WatchedLaunch& launch, std::string device) {
  RecordedRun run{};
  run.nodes = std::make_shared<const std::vector<NodeInfo>>(1, kernel::launch_info(launch));
  run.devices.push_back(std::move(device));
  run.is_statement = true;
  return run;
}

TWILL_COLD TWILL_BODY std::string device_of(const kernel::WatchedLaunch& launch) {
  return join_text({launch.kind, ":", launch.device});
}

TWILL_COLD TWILL_BODY void record_on_host(RunRecorder& recorder, const kernel::WatchedLaunch& launch) {
  std::optional<RecordedRun> record{};
  try {
    record = launch_record(launch, device_of(launch));
    record->times.resize(1);
  } catch (...) {
    record.reset();
  }
  const double start_s = steady_seconds();
  kernel::run_in_range(launch);
  const double end_s = steady_seconds();
  try {
    if (!record) return recorder.note_lost();
    record->times.front() = {0, start_s, end_s};
    recorder.add(std::make_shared<FinishedRun>(*std::move(record)));
  } catch (...) {
    recorder.note_lost();
  }
}

TWILL_COLD TWILL_BODY void record_on_gpu(RunRecorder& recorder, const kernel::WatchedLaunch& launch) {
  std::shared_ptr<gpu::TimedRun> run{};
  bool is_lost = false;
  try {
    if (!launch.timers->is_capturing(launch.device, launch.stream)) {
      const gpu::TimedDevice place{launch.timers, launch.device, device_of(launch)};
      auto begun = std::make_shared<gpu::TimedRun>(recorder, place, launch.stream, launch_record(launch, place.name));
      begun->begin(launch.stream);
      run = std::move(begun);
    }
  } catch (...) {
    is_lost = true;
  }
  kernel::run_in_range(launch);
  try {
    if (run != nullptr) {
      run->end(launch.stream, 0);
      recorder.add(std::move(run));
    }
  } catch (...) {
    is_lost = true;
  }
  if (is_lost) recorder.note_lost();
}

TWILL_COLD TWILL_BODY void record_launch(const kernel::WatchedLaunch& launch) {
  const auto recorder = run_recorder();
  if (recorder == nullptr)
    kernel::run_in_range(launch); // the trace has just ended
  else if (launch.timers != nullptr)
    record_on_gpu(*recorder, launch);
  else
    record_on_host(*recorder, launch);
}

TWILL_BODY WatchingLaunches::WatchingLaunches() {
  kernel::launch_watch.store(&record_launch, std::memory_order_relaxed);
}

TWILL_BODY WatchingLaunches::~WatchingLaunches() {
  kernel::launch_watch.store(kernel::launch_range.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

} // namespace detail
}}} // namespace twill::v0::profile
