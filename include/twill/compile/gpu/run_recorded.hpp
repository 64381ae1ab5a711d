#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A recorded run of a table on a GPU: timers stand around its launches. Read next: device/gpu/timed_run.hpp,
// compile/gpu/executor.hpp.

#include <twill/core/config.hpp>
#include <twill/core/run_recorder.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/timed_run.hpp>
#include <twill/device/gpu/timer_calls.hpp>

#include <memory>
#include <utility>

namespace twill::inline v0::compile {

/// A run on a device's queue that will be told when each launch is given to it. throws: GpuError
template <gpu::GpuDevice D>
[[nodiscard]] std::shared_ptr<gpu::TimedRun> timed_run(RunRecorder& recorder, const D& device,
                                                       const gpu::Queue<typename D::Runtime>& queue, RecordedRun run) {
  const auto stream = queue.stream();
  return std::make_shared<gpu::TimedRun>(
      recorder, gpu::TimedDevice{&gpu::timer_calls<typename D::Runtime>, device.index, to_string(device)},
      gpu::AnyStream{stream}, std::move(run));
}

} // namespace twill::inline v0::compile
