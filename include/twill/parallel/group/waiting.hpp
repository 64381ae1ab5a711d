#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Waits of ranks: the mutex, the condition variable, the clock, the pauses and the threads of parallel/ are these, and
// those of the system in every program. A test may put a `Scheduler` in their place: it then decides which thread goes
// on at every lock and every wait, and what time it is, so that a run with its delays and time-outs is repeated by a
// seed and takes no real time. Read next: parallel/threads/group.hpp, tests/support/simulation.hpp.

#include <twill/core/config.hpp>

#include <condition_variable> // brings the clocks along; all of <chrono>, with calendars, would be costly in every file
#include <cstdint>
#include <mutex>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

using Moment = std::chrono::steady_clock::time_point;

class Condition;

/// Owner of the waits of some threads.
class Scheduler {
public:
  Scheduler() = default;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  virtual ~Scheduler() = default;

  virtual void lock(std::mutex& mutex) = 0;
  virtual void unlock(std::mutex& mutex) = 0;
  /// Unlocks the mutex until the condition is notified, or the time has come, and locks it again.
  virtual void wait(Condition& condition, std::mutex& mutex, Moment until) = 0;
  virtual void notify(Condition& condition) = 0;
  /// A turn of a loop that looks for something to arrive, and does nothing else before `until`.
  virtual void pause(Moment until) = 0;
  [[nodiscard]] virtual Moment now() = 0;

  /// The number of a thread to be started by this one, called before the thread is there; its first and its last act;
  /// and another thread's wait for the last act.
  [[nodiscard]] virtual int fork() = 0;
  virtual void begin(int thread) = 0;
  virtual void end(int thread) noexcept = 0;
  virtual void join(int thread) = 0;
};

/// The owner of this thread's waits; null in every program but tests.
inline constinit thread_local Scheduler* scheduler = nullptr;

/// The present time.
[[nodiscard]] Moment now();
[[nodiscard]] Moment after_ms(std::int64_t milliseconds);

/// A mutex for short critical sections.
class Mutex {
public:
  void lock() {
    if (scheduler != nullptr) [[unlikely]]
      return scheduler->lock(system_);
    system_.lock();
  }
  void unlock() {
    if (scheduler != nullptr) [[unlikely]]
      return scheduler->unlock(system_);
    system_.unlock();
  }

private:
  friend class Condition;
  std::mutex system_{};
};

/// A condition variable. Its name says what is waited for.
class Condition {
public:
  explicit Condition(const char* name) : name_{name} {}

  [[nodiscard]] const char* name() const { return name_; }

  void notify_all();
  /// Waits until notified, or a little less.
  void wait(std::unique_lock<Mutex>& lock);
  /// Returns false once the time has come.
  [[nodiscard]] bool wait_until(std::unique_lock<Mutex>& lock, Moment until);
  template <class Ready> void wait(std::unique_lock<Mutex>& lock, const Ready& ready) {
    while (!ready()) wait(lock);
  }

private:
  const char* name_;
  std::condition_variable system_{};
};

/// Work for another thread, with the owner of this thread's waits.
class Strand {
public:
  Strand() : owner_{scheduler}, number_{owner_ == nullptr ? 0 : owner_->fork()} {}

  /// Calls a function, in the other thread.
  template <class F> void run(const F& f) const {
    if (owner_ == nullptr) return f();
    const Part part{*this};
    f();
  }
  /// Waits for the end of the function; called before the system's wait for its thread, which is short then.
  void join() const {
    if (owner_ != nullptr) owner_->join(number_);
  }

private:
  /// The part of a thread's life that belongs to the owner.
  class Part {
  public:
    explicit Part(const Strand& strand);
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    ~Part();

  private:
    Scheduler* owner_;
    int number_;
    Scheduler* before_;
  };

  Scheduler* owner_;
  int number_;
};

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/group/waiting.ipp>
#endif
