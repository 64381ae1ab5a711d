#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/threads/queue.hpp.

#include <twill/parallel/threads/queue.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY void ThreadQueue::Job::run(ThreadRank& rank) {
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

TWILL_BODY void ThreadQueue::Job::wait() {
  std::exception_ptr error;
  {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return is_done_; });
    error = std::exchange(error_, nullptr);
  }
  if (error) std::rethrow_exception(error);
}

TWILL_BODY bool ThreadQueue::Job::is_done() {
  const std::lock_guard lock(mutex_);
  return is_done_;
}

TWILL_BODY ThreadQueue::~ThreadQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  if (!thread_.joinable()) return;
  strand_->join();
  thread_.join();
}

TWILL_BODY std::shared_ptr<ThreadQueue::Job> ThreadQueue::start(const Call& call) {
  auto job = std::make_shared<Job>(call);
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) {
    strand_.emplace();
    thread_ = std::thread([this] { strand_->run([this] { serve(); }); });
  }
  jobs_.push_back(job);
  ++unfinished_;
  work_.notify_all();
  return job;
}

TWILL_BODY void ThreadQueue::run(const Call& call) {
  bool idle = false;
  {
    const std::lock_guard lock(mutex_);
    idle = unfinished_ == 0;
  }
  if (idle) return rank_.run(call);
  start(call)->wait();
}

TWILL_BODY void ThreadQueue::drain() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return unfinished_ == 0; });
}

TWILL_BODY void ThreadQueue::serve() {
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

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
