#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Task queue with a thread that runs the tasks in order. Tasks are numbered from 1; "finished up to n" is enough for
// waiting and events. A task is destroyed before it counts as finished, so its captured objects are free for the
// waiting thread. Read next: device/cpu/stream.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/cores.hpp>
#include <twill/device/cpu/signal.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace cpu {

class Worker;

/// The worker whose task this thread is running; null on all other threads.
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
  Ticket push(std::unique_ptr<Task> task);

  [[nodiscard]] Ticket submitted() const { return submitted_.load(std::memory_order_acquire); }
  [[nodiscard]] bool is_finished(Ticket ticket) const { return finished_.load(std::memory_order_acquire) >= ticket; }
  [[nodiscard]] bool is_idle() const { return is_finished(submitted_.load(std::memory_order_relaxed)); }
  [[nodiscard]] bool is_current() const { return current_worker == this; }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Returns when the task with this number has ended.
  /// throws: DeviceError when the caller is this worker and would wait for itself
  void wait(Ticket ticket);

private:
  [[noreturn]] void refuse_wait_for_itself() const;

  void serve();

  std::unique_ptr<Task> pop();

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

}}} // namespace twill::v0::cpu

#if TWILL_HEADER_ONLY
#include <twill/device/cpu/worker.ipp>
#endif
