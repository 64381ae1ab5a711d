#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/threads/ranks.hpp.

#include <twill/parallel/threads/ranks.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

TWILL_COLD TWILL_BODY twill::cpu::CoreSet cores_of_first_thread() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(getpid(), sizeof(mask), &mask) != 0) return {};
  twill::cpu::CoreSet cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<std::size_t>(core), &mask)) cores.add(core);
  return twill::cpu::cores_before_binding(cores, twill::cpu::OpenMpPlaces{});
}

TWILL_BODY RankThread* RankThread::make() {
  auto own = std::make_unique<RankThread>();
  twill::cpu::start_thread(cores_of_first_thread(), "twill-rank",
                           {[](void* thread, int) { static_cast<RankThread*>(thread)->serve(); }, own.get()});
  return own.release(); // the thread never ends
}

TWILL_BODY void RankThread::start(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = std::move(work);
    strand_.emplace();
  }
  changed_.notify_all();
}

TWILL_BODY void RankThread::wait() {
  strand_->join();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !work_; });
}

TWILL_BODY void RankThread::serve() {
  for (std::unique_lock lock(mutex_);;) {
    changed_.wait(lock, [this] { return static_cast<bool>(work_); });
    lock.unlock();
    strand_->run(work_);
    lock.lock();
    work_ = nullptr;
    changed_.notify_all();
  }
}

TWILL_BODY RankThreads::~RankThreads() {
  for (RankThread* const thread : taken_) thread->wait();
  Idle& idle = idle_threads();
  const std::lock_guard lock(idle.mutex);
  for (std::size_t i = taken_.size(); i-- > 0;) idle.threads.push_back(taken_[i]); // the first is the next first one
}

TWILL_BODY void RankThreads::start(std::function<void()> work) {
  taken_.reserve(taken_.size() + 1);
  RankThread* thread = nullptr;
  {
    Idle& idle = idle_threads();
    const std::lock_guard lock(idle.mutex);
    if (idle.process != getpid()) { // a forked process has memory of threads, but no threads
      idle.process = getpid();
      idle.threads.clear();
    }
    if (idle.threads.empty()) {
      idle.threads.reserve(++idle.made); // so that the return throws nothing
    } else {
      thread = idle.threads.back();
      idle.threads.pop_back();
    }
  }
  if (thread == nullptr) thread = RankThread::make();
  taken_.push_back(thread);
  thread->start(std::move(work));
}

TWILL_BODY void play_all(const std::vector<RankTask>& ranks) {
  struct Thrown {
    std::exception_ptr exception;
    bool tells_of_another;
  };
  Mutex mutex;
  std::vector<Thrown> thrown; // in order; kept until all threads have ended
  thrown.reserve(ranks.size());
  const auto failed = [&](const RankTask& rank, bool tells_of_another) {
    {
      const std::lock_guard lock(mutex);
      thrown.push_back({std::current_exception(), tells_of_another});
    }
    rank.fail(std::current_exception());
  };
  const auto play = [&](const RankTask& rank) {
    try {
      rank.play();
    } catch (const CommunicatorError&) {
      failed(rank, true);
    } catch (...) {
      failed(rank, false);
    }
  };
  {
    RankThreads threads;
    try {
      for (std::size_t rank = 1; rank < ranks.size(); ++rank) threads.start([&, rank] { play(ranks[rank]); });
      if (!ranks.empty()) play(ranks[0]);
    } catch (...) { // the system gave no thread: those that run wait for missing ranks
      ranks[0].fail(std::current_exception());
      throw;
    }
  }
  // A sub-group ended by unwinding may have told others before the rank at fault came here.
  for (const Thrown& each : thrown)
    if (!each.tells_of_another) std::rethrow_exception(each.exception);
  if (!thrown.empty()) std::rethrow_exception(thrown.front().exception);
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
