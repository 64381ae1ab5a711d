#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Two threads for the hand-written references: the calling one, and another that stays awake, so that waking it costs less
// than in any library. A range is cut in two at a multiple of its granule.

#include <atomic>
#include <cstdint>
#include <thread>

#include <pthread.h>
#include <sched.h>

namespace bench {

/// Runs f(begin, end) over [0, n), on one thread or on two.
class Halves {
public:
  explicit Halves(int threads) : threads_{threads} {
    if (threads_ > 1) {
      pin(0);
      other_ = std::thread([this] { serve(); });
    }
  }
  Halves(const Halves&) = delete;
  Halves& operator=(const Halves&) = delete;
  ~Halves() {
    if (!other_.joinable()) return;
    ends_ = true;
    asked_.fetch_add(1, std::memory_order_release);
    other_.join();
  }

  template <class F> void run(std::int64_t n, std::int64_t granule, const F& f) {
    if (threads_ == 1) {
      f(std::int64_t{0}, n);
      return;
    }
    const std::int64_t middle = n / granule / 2 * granule;
    call_ = [](const void* context, std::int64_t begin, std::int64_t end) {
      (*static_cast<const F*>(context))(begin, end);
    };
    context_ = &f;
    begin_ = middle;
    end_ = n;
    const int ticket = asked_.fetch_add(1, std::memory_order_release) + 1;
    f(std::int64_t{0}, middle);
    while (done_.load(std::memory_order_acquire) != ticket) __builtin_ia32_pause();
  }

private:
  static void pin(int which) {
    cpu_set_t granted;
    CPU_ZERO(&granted);
    sched_getaffinity(0, sizeof(granted), &granted);
    for (int core = 0, seen = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &granted) && seen++ == which) {
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET(core, &own);
        pthread_setaffinity_np(pthread_self(), sizeof(own), &own);
        return;
      }
  }
  void serve() {
    pin(1);
    for (int ticket = 1;; ++ticket) {
      while (asked_.load(std::memory_order_acquire) < ticket) __builtin_ia32_pause();
      if (ends_) return;
      call_(context_, begin_, end_);
      done_.store(ticket, std::memory_order_release);
    }
  }

  int threads_;
  std::thread other_{};
  std::atomic<int> asked_{0};
  std::atomic<int> done_{0};
  std::atomic<bool> ends_{false};
  void (*call_)(const void*, std::int64_t, std::int64_t) = nullptr;
  const void* context_ = nullptr;
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
};

} // namespace bench
