#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The watch of an eager launch on a GPU: a timer stands in its stream before the launch and one behind it. Launches into a
// graph that the program records are not told, as no trace looks into graphs. Read next: device/gpu/timed_run.hpp.

#include <twill/core/config.hpp>
#include <twill/core/run_recorder.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/timed_run.hpp>
#include <twill/kernel/launch_watch.hpp>

#include <memory>
#include <utility>

namespace twill::inline v0::kernel::inline TWILL_ISA {

template <class D>
requires twill::gpu::GpuDevice<D>
class LaunchWatch<D> {
  using R = typename D::Runtime;
  using Queue = twill::gpu::Queue<R>;

public:
  template <class Describe>
  TWILL_COLD LaunchWatch(const D& device, const Queue& queue, const Describe& what) noexcept
      : recorder_{records_runs() ? run_recorder() : nullptr}, stream_{queue.stream()} {
    if (recorder_ == nullptr) return;
    try {
      auto outer = twill::gpu::Capturing::no;
      twill::gpu::check<R>(R::capturing(stream_, &outer), "capturing", device.index);
      if (outer == twill::gpu::Capturing::no) {
        run_ = std::make_shared<twill::gpu::TimedRun<D>>(device, twill::gpu::clock_of(*recorder_, device, stream_),
                                                         launch_record(to_string(device), what()));
        run_->begin(stream_);
      }
    } catch (...) {
      lose();
    }
  }

  TWILL_COLD void end() noexcept {
    if (run_ == nullptr) return;
    try {
      run_->end(stream_, 0);
      recorder_->add(std::move(run_));
    } catch (...) {
      lose();
    }
  }

private:
  void lose() noexcept {
    recorder_->note_lost();
    run_ = nullptr;
  }

  std::shared_ptr<RunRecorder> recorder_;
  typename R::Stream stream_;
  std::shared_ptr<twill::gpu::TimedRun<D>> run_{};
};

} // namespace twill::inline v0::kernel::inline TWILL_ISA
