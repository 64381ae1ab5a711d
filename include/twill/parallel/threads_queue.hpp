#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The asynchronous side of a rank: a thread that carries out started calls one after the other, in the order in which they
// were started, while the rank goes on computing. The thread begins with the first started call and ends with the queue,
// after the calls that were started. Read next: parallel/threads.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/threads_rank.hpp>

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace twill::inline v0::parallel::detail::inline TWILL_ISA {

class ThreadQueue {
public:
  /// A started call, from its start to its end.
  class Job {
  public:
    explicit Job(const Call& call) : call_{call} {}

    void run(ThreadRank& rank) {
      std::exception_ptr error;
      try {
        rank.run(call_);
      } catch (...) {
        error = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      error_ = std::move(error);
      is_done_ = true;
      done_.notify_all();
    }
    /// throws: what went wrong, once; whoever waits owns the exception, and not the queue's thread
    void wait() {
      std::exception_ptr error;
      {
        std::unique_lock lock(mutex_);
        done_.wait(lock, [this] { return is_done_; });
        error = std::exchange(error_, nullptr);
      }
      if (error) std::rethrow_exception(error);
    }
    [[nodiscard]] bool is_done() {
      const std::lock_guard lock(mutex_);
      return is_done_;
    }

  private:
    Call call_;
    std::mutex mutex_;
    std::condition_variable done_;
    std::exception_ptr error_;
    bool is_done_ = false;
  };

  explicit ThreadQueue(ThreadRank rank) : rank_{std::move(rank)} {}
  ThreadQueue(const ThreadQueue&) = delete;
  ThreadQueue& operator=(const ThreadQueue&) = delete;
  ~ThreadQueue() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    work_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

  [[nodiscard]] ThreadRank& rank() { return rank_; }

  /// Appends a collective call.
  [[nodiscard]] std::shared_ptr<Job> start(const Call& call) {
    auto job = std::make_shared<Job>(call);
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
    jobs_.push_back(job);
    ++unfinished_;
    work_.notify_one();
    return job;
  }

  /// Carries out a collective call after those started before, in the calling thread if there are none.
  void run(const Call& call) {
    bool idle = false;
    {
      const std::lock_guard lock(mutex_);
      idle = unfinished_ == 0;
    }
    if (idle) return rank_.run(call);
    start(call)->wait();
  }

  /// Waits until nothing is under way.
  void drain() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return unfinished_ == 0; });
  }

private:
  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      work_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      const std::shared_ptr<Job> job = std::move(jobs_.front());
      jobs_.erase(jobs_.begin()); // few wait at any time
      lock.unlock();
      job->run(rank_);
      lock.lock();
      if (--unfinished_ == 0) idle_.notify_all();
    }
  }

  ThreadRank rank_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable idle_;
  std::vector<std::shared_ptr<Job>> jobs_; ///< in the order in which they were started
  int unfinished_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

} // namespace twill::inline v0::parallel::detail::inline TWILL_ISA
