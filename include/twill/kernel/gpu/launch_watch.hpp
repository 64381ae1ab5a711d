#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Place of a watched launch on a GPU: its stream, whose driver has timers. Read next: device/gpu/timer_calls.hpp,
// kernel/launch_watch.hpp.

#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/timer_calls.hpp>
#include <twill/kernel/launch_watch.hpp>

namespace twill { inline namespace v0 { namespace kernel {

template <class D>
requires twill::gpu::GpuDevice<D>
class LaunchPlace<D> {
  using R = typename D::Runtime;

public:
  LaunchPlace(const D& device, const twill::gpu::Queue<R>& queue) : device_{device.index}, stream_{queue.stream()} {}
  void note(WatchedLaunch& launch) const {
    launch.kind = D::kind;
    launch.device = device_;
    launch.timers = &twill::gpu::timer_calls<R>;
    launch.stream = twill::gpu::AnyStream{stream_};
  }

private:
  int device_;
  typename R::Stream stream_;
};

}}} // namespace twill::v0::kernel
