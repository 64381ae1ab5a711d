#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Looking into a run on a GPU: instructions run one after the other, and what each has written is copied to the host and shown.
// The queue is waited for behind each of them. Read next: compile/watch.hpp, compile/gpu/executor.hpp.

#include <twill/compile/gpu/partial_update.hpp>
#include <twill/compile/gpu/run_joined.hpp>
#include <twill/compile/watch.hpp>
#include <twill/core/config.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/runtime.hpp>
#include <twill/device/gpu/timed_run.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace twill::inline v0::compile::detail::inline TWILL_ISA {

/// What lies on a device when the queue's work is done, copied into `copy`. throws: GpuError
template <gpu::Runtime R>
const void* on_the_host(const gpu::Queue<R>& queue, const void* data, std::size_t bytes, std::vector<std::byte>& copy) {
  copy.resize(bytes);
  if (bytes > 0) gpu::check<R>(R::copy(copy.data(), data, bytes, queue.stream()), "copy", queue.device());
  gpu::check<R>(R::synchronize_stream(queue.stream()), "synchronize_stream", queue.device());
  return copy.data();
}

} // namespace twill::inline v0::compile::detail::inline TWILL_ISA

namespace twill::inline v0::compile::inline TWILL_ISA {

/// Gives a queue the instructions from `begin` to before `end` one by one; what each has written is copied to the host and
/// shown. Where somebody records, `timed` is told. throws: GpuError
template <gpu::Runtime R>
void run_watched(const gpu::Queue<R>& queue, const TableView& table, Binding& binding, std::size_t begin,
                 std::size_t end, std::span<const StartedKernel<gpu::Queue<R>>> kernels, Watcher& watcher,
                 gpu::TimedRun* timed, detail::UpdateProgress& progress) {
  std::vector<std::byte> copy{};
  run_one_by_one(
      table, binding, begin, end,
      [&](const BoundInstruction& instruction, const kernel::Call& call) {
        if (timed != nullptr) timed->begin(gpu::AnyStream{queue.stream()});
        kernels[instruction.kernel].run(queue, call);
        progress.given(number_of(binding, instruction));
        if (timed != nullptr) timed->end(gpu::AnyStream{queue.stream()}, number_of(binding, instruction));
      },
      [&](int value, const void* data) {
        const std::size_t bytes = binding.value_bytes[static_cast<std::size_t>(value)];
        watcher.see(table, binding.symbols, value, detail::on_the_host(queue, data, bytes, copy));
      });
}

} // namespace twill::inline v0::compile::inline TWILL_ISA
