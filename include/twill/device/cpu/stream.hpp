#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stream of a host device. `launch` runs a kernel in stream order; on an idle device that is at once, in the calling
// thread. `submit` gives a function to the device's worker thread, as replicas of a data-parallel model need it. A
// submitted task acts as a host thread of its own: nothing in it waits implicitly (two tasks that use each other's
// devices would deadlock), and events order it with other devices' tasks.

#include <twill/core/config.hpp>
#include <twill/device/cpu/cpu.hpp>
#include <twill/device/cpu/pending.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/device/cpu/worker.hpp>

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 {

/// A point in the order of a device's work; an event without a device has passed.
class Cpu::Event {
public:
  Event() = default;
  /// The point after the work with this ticket.
  Event(cpu::Worker& worker, cpu::Worker::Ticket ticket) : worker_{&worker}, ticket_{ticket} {}

  /// Whether the work before it is done; does not wait.
  [[nodiscard]] bool is_complete() const { return worker_ == nullptr || worker_->is_finished(ticket_); }

  /// Blocks the calling thread until all work before the event is done. throws: DeviceError inside a task that itself
  /// comes before the event
  void wait() const {
    if (worker_ != nullptr) worker_->wait(ticket_);
  }

private:
  cpu::Worker* worker_ = nullptr;
  cpu::Worker::Ticket ticket_ = 0;
};

/// Marks the work given to the device so far. Inside a task that is the task's launches, all of them done.
[[nodiscard]] inline Cpu::Event record(Cpu device) {
  auto& worker = detail::cpu_state(device).worker;
  return worker.is_current() ? Cpu::Event{} : Cpu::Event{worker, worker.submitted()};
}

/// Blocks the calling thread until the event has passed.
inline void wait(const Cpu::Event& event) { event.wait(); }

/// Makes all later work that this thread launches on the device wait for the event, which may be of another kind. A
/// launch on a host device runs in the calling thread, so this thread waits.
template <class Event>
requires requires(const Event& event) { event.wait(); }
void wait(Cpu, const Event& event) { event.wait(); }

/// Waits for all work given to the device. Inside one of its own tasks that work is done already.
inline void synchronize(Cpu device) { record(device).wait(); }

/// Runs `f(const Team&)` in stream order: after everything submitted before, and before `launch` returns.
/// throws: what `f` throws    cost: about a nanosecond on an idle device
template <std::same_as<Cpu> D, class F> // the kind first: a kernel for another kind need not compile for teams
requires std::invocable<F&, const Team&>
void launch(D device, F&& f) {
  auto& state = detail::cpu_state(device);
  if (!state.worker.is_idle()) [[unlikely]] {
    // A task never waits for a queue: neither its own, where it is first, nor another's, which may wait for it.
    if (cpu::current_worker == nullptr) state.worker.wait(state.worker.submitted());
  }
  f(state.team);
}

/// Runs `f()` on the device's worker thread, after everything submitted before, with the device as the current one.
/// Returns at once; the handle yields the result, or throws what `f` threw.
template <class F>
requires std::invocable < std::decay_t<F>
& > auto submit(Cpu device, F&& f) -> Pending<std::invoke_result_t<std::decay_t<F>&>> {
  using Result = std::invoke_result_t<std::decay_t<F>&>;
  return Pending<Result>::start(&detail::cpu_state(device).worker, to_string(device),
                                std::decay_t<F>(std::forward<F>(f)));
}

}} // namespace twill::v0
