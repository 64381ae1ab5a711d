#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Queue of started calls: a thread that carries them out one after another, in the order in which they were started,
// while the rank computes. The thread begins with the first started call and ends with the queue, after the started
// calls. Read next: parallel/threads/communicator.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/threads/rank.hpp>

#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

class ThreadQueue {
public:
  /// A started call, from its start to its end.
  class Job {
  public:
    explicit Job(const Call& call) : call_{call} {}

    void run(ThreadRank& rank);
    /// throws: the call's failure, once; the waiting thread owns the exception, and not the queue's
    void wait();
    [[nodiscard]] bool is_done();

  private:
    Call call_;
    Mutex mutex_;
    Condition done_{"a started call"};
    std::exception_ptr error_;
    bool is_done_ = false;
  };

  explicit ThreadQueue(ThreadRank rank) : rank_{std::move(rank)} {}
  ThreadQueue(const ThreadQueue&) = delete;
  ThreadQueue& operator=(const ThreadQueue&) = delete;
  ~ThreadQueue();

  [[nodiscard]] ThreadRank& rank() { return rank_; }
  [[nodiscard]] const ThreadRank& rank() const { return rank_; }

  /// Appends a collective call.
  [[nodiscard]] std::shared_ptr<Job> start(const Call& call);

  /// Carries out a collective call after those started before, in the calling thread if there are none.
  void run(const Call& call);

  /// Waits until nothing is in flight.
  void drain();

private:
  void serve();

  ThreadRank rank_;
  Mutex mutex_;
  Condition work_{"calls to be started"};
  Condition idle_{"the end of started calls"};
  std::vector<std::shared_ptr<Job>> jobs_; ///< in the order in which they were started
  int unfinished_ = 0;
  bool stopping_ = false;
  std::thread thread_;
  std::optional<Strand> strand_; ///< of the thread
};

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/threads/queue.ipp>
#endif
