#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Deterministic simulation of ranks: `Simulation{seed}.run(f)` owns the waits of `f` and of all threads that it starts through
// parallel/. One thread at a time goes on, until its next lock, wait or look at a network; which one is next is drawn from the
// seed. Time is virtual: it passes by little at each step, and jumps to the next time-out when all threads wait. So a seed repeats
// its run to the last step, whose number and hash are `steps()` and `trace()`. When no thread can go on one of them throws `Stuck`,
// which says what each waits for. Threads that compute and wait for nothing, such as those of a device, are not owned.
// ThreadSanitizer does not see the simulation, only what the library itself orders: it finds races in every order of steps.

#include "tests/support/test_seed.hpp"

#include <twill/core/text.hpp>
#include <twill/parallel/group/waiting.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#if defined(__SANITIZE_THREAD__) // g++
#define TEST_HIDES_STEPS 1
#elif defined(__has_feature)
#define TEST_HIDES_STEPS __has_feature(thread_sanitizer)
#else
#define TEST_HIDES_STEPS 0
#endif
#if TEST_HIDES_STEPS
extern "C" {
void AnnotateIgnoreSyncBegin(const char* file, int line);
void AnnotateIgnoreSyncEnd(const char* file, int line);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace twill::test {

using parallel::detail::Moment;

/// Hides what is done in its life from ThreadSanitizer.
class Hidden {
#if TEST_HIDES_STEPS
public:
  Hidden() { hide(); }
  ~Hidden() { show(); }
  static void hide() {
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  static void show() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
  }
#else
public:
  Hidden() {} // of user code, so that no object of it is unused
  static void hide() {}
  static void show() {}
#endif
};

/// No thread of a simulation can go on.
struct Stuck : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Simulation final : public parallel::detail::Scheduler {
  using Condition = parallel::detail::Condition;

public:
  explicit Simulation(std::uint64_t seed) : seed_{seed}, random_{seed} {
    // Every seed has a temper: how often threads stay where they are for a while.
    constexpr std::uint64_t one_in[] = {0, 0, 1000, 100, 20};
    held_up_one_in_ = one_in[random_() % 5];
    most_delay_ = std::chrono::microseconds(1 + random_() % 2000);
    join_in();
  }

  /// The simulation of this thread; null where there is none.
  [[nodiscard]] static Simulation* current() { return static_cast<Simulation*>(parallel::detail::scheduler); }

  /// Calls `f()` in this thread, with all waits owned, and returns what it returns. Communicators made in it end in it.
  template <class F> auto run(const F& f) {
    struct Owning {
      explicit Owning(Simulation* owner) : owner_{owner}, before_{parallel::detail::scheduler} {
        parallel::detail::scheduler = owner;
        self = 0;
      }
      ~Owning() {
        owner_->finish();
        parallel::detail::scheduler = before_;
      }
      Simulation* owner_;
      parallel::detail::Scheduler* before_;
    };
    const Owning owning{this};
    return f();
  }

  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] std::uint64_t trace() const { return trace_; }
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(now_ - Moment{}).count(); }

  /// A number that the seed decides.
  [[nodiscard]] std::uint64_t draw() {
    const Hidden hidden;
    const std::lock_guard system(system_);
    return random_();
  }
  /// Stays here for so long, in virtual time.
  void sleep(std::chrono::nanoseconds time) {
    const Hidden hidden;
    std::unique_lock system(system_);
    stay(system, nullptr, "the end of its sleep", now_ + time);
  }
  /// Something arrives at that time: threads that look for something look again.
  void expect(Moment arrival) {
    const Hidden hidden;
    const std::lock_guard system(system_);
    arrivals_.push(arrival);
  }

  void lock(std::mutex& mutex) override {
    const Hidden hidden;
    std::unique_lock system(system_);
    step(system);
    take(system, mutex);
  }
  void unlock(std::mutex& mutex) override {
    const Hidden hidden;
    const std::lock_guard system(system_);
    give(mutex);
  }
  void wait(Condition& condition, std::mutex& mutex, Moment until) override {
    const Hidden hidden;
    std::unique_lock system(system_);
    give(mutex);
    const bool is_stuck = stay(system, &condition, condition.name(), until);
    take(system, mutex);
    if (is_stuck) throw Stuck(std::exchange(report_, {}));
  }
  void notify(Condition& condition) override {
    const Hidden hidden;
    const std::lock_guard system(system_);
    wake(&condition);
  }
  void pause(Moment until) override {
    const Hidden hidden;
    std::unique_lock system(system_);
    if (stay(system, &arrivals_, "a packet", until)) throw Stuck(std::exchange(report_, {}));
  }
  [[nodiscard]] Moment now() override {
    const Hidden hidden;
    const std::lock_guard system(system_);
    return now_;
  }

  [[nodiscard]] int fork() override {
    const Hidden hidden;
    const std::lock_guard system(system_);
    return join_in();
  }
  void begin(int thread) override {
    const Hidden hidden;
    std::unique_lock system(system_);
    self = thread;
    await_turn(system, thread);
  }
  void end(int thread) noexcept override {
    const Hidden hidden;
    const std::lock_guard system(system_);
    at(thread).has_ended = true;
    at(thread).is_ready = false;
    alive_.erase(std::find(alive_.begin(), alive_.end(), thread));
    wake(&at(thread));
    self = -1;
    hand_over(next());
  }
  void join(int thread) override {
    const Hidden hidden;
    std::unique_lock system(system_);
    while (!at(thread).has_ended)
      if (stay(system, &at(thread), "the end of a thread", Moment::max())) throw Stuck(std::exchange(report_, {}));
  }

private:
  struct Thread {
    bool is_ready = true;
    bool has_ended = false;
    bool is_stuck = false;
    const void* channel = nullptr; ///< of its wait
    const char* awaited = "";
    Moment until = Moment::max();
    int weight = 1; ///< in the draw of the next one
    std::condition_variable turn{};
  };

  static inline thread_local int self = -1;

  [[nodiscard]] Thread& at(int thread) { return *threads_[static_cast<std::size_t>(thread)]; }

  int join_in() {
    const int number = static_cast<int>(threads_.size());
    threads_.push_back(std::make_unique<Thread>());
    constexpr int weights[] = {1, 4, 16};
    at(number).weight = weights[random_() % 3];
    alive_.push_back(number);
    return number;
  }

  // The functions below are called with the system's lock held.

  /// A step of this thread, which may go on.
  void step(std::unique_lock<std::mutex>& system) {
    if (held_up_one_in_ > 0 && random_() % held_up_one_in_ == 0) {
      const auto most = static_cast<std::uint64_t>(most_delay_.count());
      static_cast<void>(stay(system, nullptr, "the end of a delay", now_ + std::chrono::nanoseconds(random_() % most)));
    } else {
      turn_to(system, next());
    }
  }
  /// Waits until woken; true if no thread can go on, and this one is to say so.
  [[nodiscard]] bool wait_here(std::unique_lock<std::mutex>& system) {
    turn_to(system, next());
    return std::exchange(at(self).is_stuck, false);
  }
  bool stay(std::unique_lock<std::mutex>& system, const void* channel, const char* awaited, Moment until) {
    Thread& own = at(self);
    own.is_ready = false;
    own.channel = channel;
    own.awaited = awaited;
    own.until = until;
    return wait_here(system);
  }
  void turn_to(std::unique_lock<std::mutex>& system, int thread) {
    if (thread == self) return;
    hand_over(thread);
    await_turn(system, self);
  }
  void hand_over(int thread) {
    current_ = thread;
    if (thread >= 0) at(thread).turn.notify_one();
  }
  void await_turn(std::unique_lock<std::mutex>& system, int thread) {
    at(thread).turn.wait(system, [&] { return current_ == thread; });
  }

  void take(std::unique_lock<std::mutex>& system, std::mutex& mutex) {
    while (!try_lock(mutex)) {
      if (std::find(held_.begin(), held_.end(), &mutex) == held_.end()) { // by a thread that is not owned
        Hidden::show();
        mutex.lock();
        Hidden::hide();
        break;
      }
      static_cast<void>(stay(system, &mutex, "a lock", Moment::max()));
    }
    held_.push_back(&mutex);
  }
  /// ThreadSanitizer sees the library's own mutexes.
  [[nodiscard]] static bool try_lock(std::mutex& mutex) {
    Hidden::show();
    const bool is_locked = mutex.try_lock();
    Hidden::hide();
    return is_locked;
  }
  void give(std::mutex& mutex) {
    held_.erase(std::find(held_.begin(), held_.end(), &mutex));
    Hidden::show();
    mutex.unlock();
    Hidden::hide();
    wake(&mutex);
  }
  void wake(const void* channel) {
    for (const int thread : alive_)
      if (!at(thread).is_ready && at(thread).channel == channel) at(thread).is_ready = true;
  }

  /// The next thread; -1: all have ended.
  [[nodiscard]] int next() {
    now_ += std::chrono::nanoseconds(random_() % 1000);
    if (alive_.empty()) return -1;
    int weight = wake_due();
    while (weight == 0) {
      Moment first = arrivals_.empty() ? Moment::max() : arrivals_.top();
      for (const int thread : alive_) first = std::min(first, at(thread).until);
      if (first == Moment::max()) {
        give_up();
      } else {
        now_ = std::max(now_, first);
      }
      weight = wake_due();
    }
    int rest = static_cast<int>(random_() % static_cast<std::uint64_t>(weight));
    std::size_t place = 0;
    while (!at(alive_[place]).is_ready || (rest -= at(alive_[place]).weight) >= 0) ++place;
    ++steps_;
    trace_ = (trace_ ^ static_cast<std::uint64_t>(alive_[place])) * 0x100000001B3U + (trace_ >> 47);
    trace_ ^= static_cast<std::uint64_t>(now_.time_since_epoch().count());
    return alive_[place];
  }
  /// Wakes all whose time has come. Returns the weight of those that may go on.
  int wake_due() {
    bool has_arrived = false;
    for (; !arrivals_.empty() && arrivals_.top() <= now_; arrivals_.pop()) has_arrived = true;
    if (has_arrived) wake(&arrivals_);
    int weight = 0;
    for (const int thread : alive_) {
      Thread& each = at(thread);
      if (!each.is_ready && each.until <= now_) each.is_ready = true;
      // A condition variable may wake a thread for no reason.
      if (!each.is_ready && each.channel != nullptr && random_() % 256 == 0 && weight > 0) each.is_ready = true;
      if (!each.is_ready) continue;
      each.until = Moment::max();
      weight += each.weight;
    }
    return weight;
  }
  void give_up() {
    report_ = join_text({"simulation of seed ", seed_, ", step ", steps_, ": no thread can go on"});
    for (const int thread : alive_)
      report_ = join_text({report_, "; thread ", thread, " waits for ", at(thread).awaited});
    Thread& last = at(alive_.back()); // others may go on when it has thrown
    last.is_stuck = true;
    last.is_ready = true;
  }
  void finish() {
    const Hidden hidden;
    const std::lock_guard system(system_);
    self = -1;
    alive_.erase(alive_.begin());
    if (!alive_.empty()) std::terminate(); // a communicator has outlived its simulation
  }

  std::uint64_t seed_;
  std::mt19937_64 random_;
  std::uint64_t held_up_one_in_ = 0;
  std::chrono::nanoseconds most_delay_{};
  std::mutex system_{};
  int current_ = 0;
  Moment now_{std::chrono::hours(1)};
  std::int64_t steps_ = 0;
  std::uint64_t trace_ = 0xCBF29CE484222325U;
  std::string report_{};
  std::vector<std::unique_ptr<Thread>> threads_{};
  std::vector<int> alive_{};
  std::vector<const std::mutex*> held_{};
  std::priority_queue<Moment, std::vector<Moment>, std::greater<>> arrivals_{};
};

/// Lets time pass in this thread: the simulation's where there is one.
inline void pass(std::chrono::nanoseconds time) {
  if (Simulation* const simulation = Simulation::current()) return simulation->sleep(time);
  std::this_thread::sleep_for(time);
}

/// The number of simulations of a test: TWILL_SIMULATIONS of the environment times as many as it asks for.
[[nodiscard]] inline std::uint64_t simulations(std::uint64_t wanted) {
  const char* const given = std::getenv("TWILL_SIMULATIONS");
  return given == nullptr ? wanted : wanted * std::strtoull(given, nullptr, 10);
}

/// Calls `f(seed)` in simulations of so many seeds, and returns the number of their steps. The first seed is that of the
/// environment, TWILL_TEST_SEED, so that one of a failed test can be repeated. throws: what `f` throws, with the seed
template <class F> std::int64_t simulate(std::uint64_t wanted, const F& f) {
  static const std::uint64_t first = std::getenv("TWILL_TEST_SEED") == nullptr ? 1 : test_seed();
  std::int64_t steps = 0;
  for (std::uint64_t seed = first; seed < first + simulations(wanted); ++seed) {
    Simulation simulation{seed};
    try {
      simulation.run([&] { f(seed); });
    } catch (const std::exception& error) {
      throw std::runtime_error(join_text({"simulation of seed ", seed, ": ", error.what()}));
    }
    steps += simulation.steps();
  }
  return steps;
}

} // namespace twill::test
