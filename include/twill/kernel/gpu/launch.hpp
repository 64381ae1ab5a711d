#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Launches of fused programs on a GPU: `kernel::launch(program, device, grid, operands)` comes here when a device's
// kernels start through a queue. The shape of the program decides the kernel. Operands are copied into the launch, so
// the caller's may go at once. Read next: kernel/gpu/elementwise.hpp, kernel/gpu/columns.hpp, kernel/gpu/rows.hpp.

#include <twill/core/config.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/timer_calls.hpp>
#include <twill/kernel/gpu/columns.hpp>
#include <twill/kernel/gpu/elementwise.hpp>
#include <twill/kernel/gpu/rows.hpp>
#include <twill/kernel/launch_watch.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/summary.hpp>

namespace twill { inline namespace v0 { namespace kernel {

/// The device and stream of a watched launch, whose driver has timers.
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

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// Runs the program at every index of the grid, after the queue's earlier work; returns at once.
/// An output may coincide exactly with an input. throws: GpuError
template <class... Lines, twill::gpu::Runtime R>
void run(Program<Lines...> program, const twill::gpu::Queue<R>& queue, const Grid& grid, const Operand* operands) {
  using P = Program<Lines...>;
  if constexpr (summary_of<P>.shape == KernelShape::elementwise)
    gpu::run_elementwise<P>(queue, grid, operands);
  else if constexpr (summary_of<P>.shape == KernelShape::row)
    gpu::run_row_program(program, queue, grid, operands);
  else
    gpu::run_columns<P>(queue, grid, operands);
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
