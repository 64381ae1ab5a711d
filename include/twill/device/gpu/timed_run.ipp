#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/gpu/timed_run.hpp.

#include <twill/device/gpu/timed_run.hpp>

namespace twill { inline namespace v0 { namespace gpu {

TWILL_BODY Clock::Clock(const TimerCalls& calls, int device, AnyStream stream) : moment{calls, device, stream} {
  moment.wait();
  moment_s = steady_seconds();
}

TWILL_BODY TimedRun::TimedRun(RunRecorder& recorder, const TimedDevice& place, AnyStream stream, RecordedRun run)
    : calls_{place.timers},
      device_{place.device},
      clock_{recorder.shared<Clock>(place.name,
                                    [&] { return std::make_shared<Clock>(*place.timers, place.device, stream); })},
      run_{std::move(run)} {}

TWILL_BODY void TimedRun::reserve(std::size_t launches) {
  const std::size_t most = 2 * launches; // one before each and one after it
  timers_.reserve(most);
  launches_.reserve(launches);
  spare_.reserve(most);
  while (spare_.size() < most) spare_.push_back(std::make_unique<Timer>(*calls_, device_));
}

TWILL_BODY void TimedRun::end(AnyStream stream, std::size_t node) {
  mark(stream);
  launches_.push_back({node, timers_.size() - 1});
}

TWILL_BODY RecordedRun TimedRun::take() {
  if (timers_.empty()) return std::move(run_);
  for (const auto& timer : timers_) timer->wait(); // of several streams, perhaps
  const Timer& first = *timers_.front();
  const double start_s = clock_->moment_s + first.seconds_since(clock_->moment); // the rest by short, exact distances
  const auto time_of = [&](std::size_t timer) { return start_s + timers_[timer]->seconds_since(first); };
  for (const auto& [node, timer] : launches_) run_.times.push_back({node, time_of(timer - 1), time_of(timer)});
  return std::move(run_);
}

TWILL_BODY void TimedRun::mark(AnyStream stream) {
  if (spare_.empty()) spare_.push_back(std::make_unique<Timer>(*calls_, device_));
  spare_.back()->place(stream);
  timers_.push_back(std::move(spare_.back()));
  spare_.pop_back();
}

}}} // namespace twill::v0::gpu
