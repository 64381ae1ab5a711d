#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A queue of tasks and the thread that runs them in order. Tasks are numbered from 1; "finished up to n" is all that
// waiting and events need. A task is destroyed before it counts as finished, so whatever it captured is free for whoever
// waited for it. Read next: device/cpu/stream.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/core_set.hpp>
#include <twill/device/cpu/signal.hpp>
#include <twill/device/cpu/thread.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace twill::inline v0::detail {

class Worker;

/// The worker whose task this thread is running; null on every other thread.
TWILL_EXPORT inline constinit thread_local const Worker* current_worker = nullptr;

/// Work of any type, linked into a worker's queue.
struct Task {
  Task* next = nullptr;
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  virtual ~Task() = default;
  virtual void run() noexcept = 0;
};

/// Runs tasks in order on a thread of its own, which starts with the first task.
class Worker {
public:
  using Ticket = std::uint64_t;

  Worker(const std::vector<int>& cores, std::string name, void (*on_start)(int) = nullptr, int index = 0)
      : cores_{cores}, name_{std::move(name)}, on_start_{on_start}, index_{index} {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Appends a task and returns its number.
  Ticket push(std::unique_ptr<Task> task) {
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

  [[nodiscard]] Ticket submitted() const { return submitted_.load(std::memory_order_acquire); }
  [[nodiscard]] bool is_finished(Ticket ticket) const { return finished_.load(std::memory_order_acquire) >= ticket; }
  [[nodiscard]] bool is_idle() const { return is_finished(submitted_.load(std::memory_order_relaxed)); }
  [[nodiscard]] bool is_current() const { return current_worker == this; }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Returns when the task with this number has ended.
  /// throws: DeviceError when the caller is this worker and would wait for itself
  void wait(Ticket ticket) {
    if (is_finished(ticket)) return;
    if (is_current()) refuse_wait_for_itself();
    done_.wait_until([this, ticket] { return is_finished(ticket); });
  }

private:
  [[noreturn]] TWILL_COLD void refuse_wait_for_itself() const {
    throw DeviceError(join_text({"wait: a task on ", name_, " waits for itself or for a later task of ", name_,
                                 ", which would never end; wait outside of the device's own tasks"}));
  }

  TWILL_COLD void serve() {
    current_worker = this;
    if (on_start_ != nullptr) on_start_(index_);
    for (Ticket ticket = 1;; ++ticket) {
      work_.wait_until([this, ticket] { return submitted_.load(std::memory_order_acquire) >= ticket; });
      pop()->run(); // the temporary destroys the task here, before it counts as finished
      finished_.store(ticket, std::memory_order_release);
      done_.notify();
    }
  }

  std::unique_ptr<Task> pop() {
    const std::lock_guard lock{mutex_};
    std::unique_ptr<Task> task{first_};
    first_ = first_->next;
    if (first_ == nullptr) last_ = nullptr;
    return task;
  }

  std::atomic<Ticket> submitted_{0};
  std::atomic<Ticket> finished_{0};
  Signal work_;
  Signal done_;
  std::mutex mutex_;
  Task* first_ = nullptr;
  Task* last_ = nullptr;
  bool started_ = false;
  CoreSet cores_;
  std::string name_;
  void (*on_start_)(int);
  int index_;
};

} // namespace twill::inline v0::detail
