#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/worker.hpp.

#include <twill/device/cpu/worker.hpp>

namespace twill { inline namespace v0 { namespace cpu {

TWILL_BODY Worker::Ticket Worker::push(std::unique_ptr<Task> task) {
  Ticket ticket = 0;
  {
    const std::lock_guard lock{mutex_};
    if (!started_) {
      start_thread(cores_, name_, {[](void* worker, int) { static_cast<Worker*>(worker)->serve(); }, this});
      started_ = true;
    }
    Task* const raw = task.release();
    (last_ != nullptr ? last_->next : first_) = raw;
    last_ = raw;
    ticket = submitted_.load(std::memory_order_relaxed) + 1;
    submitted_.store(ticket, std::memory_order_release);
  }
  work_.notify();
  return ticket;
}

TWILL_BODY void Worker::wait(Ticket ticket) {
  if (is_finished(ticket)) return;
  if (is_current()) refuse_wait_for_itself();
  done_.wait_until([this, ticket] { return is_finished(ticket); });
}

TWILL_COLD TWILL_BODY void Worker::refuse_wait_for_itself() const {
  throw DeviceError(join_text({"wait: a task on ", name_, " waits for itself or for a later task of ", name_,
                               ", which would never end; wait outside of the device's own tasks"}));
}

TWILL_COLD TWILL_BODY void Worker::serve() {
  current_worker = this;
  if (on_start_ != nullptr) on_start_(index_);
  for (Ticket ticket = 1;; ++ticket) {
    work_.wait_until([this, ticket] { return submitted_.load(std::memory_order_acquire) >= ticket; });
    pop()->run(); // the temporary destroys the task here, before it counts as finished
    finished_.store(ticket, std::memory_order_release);
    done_.notify();
  }
}

TWILL_BODY std::unique_ptr<Task> Worker::pop() {
  const std::lock_guard lock{mutex_};
  std::unique_ptr<Task> task{first_};
  first_ = first_->next;
  if (first_ == nullptr) last_ = nullptr;
  return task;
}

}}} // namespace twill::v0::cpu
