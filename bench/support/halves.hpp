#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Two threads for the hand-written references: the calling one, and another that stays awake while the object lives, so that
// waking it costs less than in any library. A range is cut in two at a multiple of its granule.

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
    if (threads_ == 1) return;
    CPU_ZERO(&granted_);
    sched_getaffinity(0, sizeof(granted_), &granted_); // before the calling thread gives up the other core
    pin(0);
    other_ = std::thread([this] { serve(); });
  }
  Halves(const Halves&) = delete;
  Halves& operator=(const Halves&) = delete;
  ~Halves() {
    if (!other_.joinable()) return;
    ends_ = true;
    asked_.fetch_add(1, std::memory_order_release);
    other_.join();
    pthread_setaffinity_np(pthread_self(), sizeof(granted_), &granted_);
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
  void pin(int which) const {
    for (int core = 0, seen = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &granted_) && seen++ == which) {
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
  cpu_set_t granted_{};
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
