#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Time-outs and aborts of a group of NCCL ranks. Communicators are non-blocking: a call returns immediately, its
// outcome is polled later. Every call on a communicator is made under its member's lock, so that any thread can abort
// it at any moment; aborting ends its kernels, which frees a stream that waits for a missing rank. The first failure of
// a group is kept, aborts all its ranks in this process, and is thrown by every later call. A watching thread aborts
// late calls even when no rank asks. Written against a table of NCCL's functions: tests inject every fault,
// in simulations, since all waits are those of parallel/group/waiting.hpp.
// Not in the umbrella. Read next: parallel/nccl/rank.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/failure.hpp>
#include <twill/parallel/group/waiting.hpp>
#include <twill/parallel/nccl/steps.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace nccl { inline namespace TWILL_ISA {

/// NCCL's functions, and the driver functions used with them. Calls return NCCL's result and may return in_progress.
/// `mark` is a point in the order of a stream; `hold` lets a stream wait for one.
template <class A>
concept Api = requires(typename A::Comm comm, typename A::Comm* new_comm, typename A::Stream stream,
                       const typename A::Mark& mark, const Step& step, int number, int* status) {
  { A::text(number, comm) } -> std::convertible_to<std::string>; // NCCL's text for a result
  { A::enqueue(step, comm, stream) } -> std::same_as<int>;
  { A::begin_group() } -> std::same_as<int>;
  { A::end_group() } -> std::same_as<int>;
  { A::async_error(comm, status) } -> std::same_as<int>;
  { A::split(comm, number, number, new_comm) } -> std::same_as<int>;
  { A::finalize(comm) } -> std::same_as<int>;
  { A::destroy(comm) } -> std::same_as<int>;
  { A::abort(comm) } -> std::same_as<int>;
  { A::mark(number, stream) } -> std::same_as<typename A::Mark>;
  { A::has_passed(mark) } -> std::same_as<bool>;
  A::hold(number, stream, mark);
  { A::is_capturing(stream) } -> std::same_as<bool>; // marks cannot be queried then
  A::read_place(comm, status, status);               // rank and size
};

/// Sleeps a little longer each time, from no time to a millisecond.
class Patience {
public:
  explicit Patience(std::int64_t timeout_ms) : deadline_{detail::after_ms(timeout_ms)} {}
  /// False when the time is over.
  [[nodiscard]] bool wait() {
    const detail::Moment now = detail::now();
    if (now >= deadline_) return false;
    if (detail::scheduler != nullptr)
      detail::scheduler->pause(now + std::chrono::milliseconds(1));
    else if (++turns_ < 100)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(turns_ < 200 ? 50 : 1000));
    return true;
  }

private:
  detail::Moment deadline_;
  int turns_ = 0;
};

/// One rank in this process. `comm` is used only under `mutex`, and not after it was aborted.
template <Api A> struct Member {
  /// A call whose kernels have not finished.
  struct Outstanding {
    typename A::Mark mark{};
    detail::Moment began{};
    Call call{};
  };

  detail::Mutex mutex{};
  typename A::Comm comm{};
  bool is_gone = false; ///< aborted or destroyed
  int rank = 0;
  int size = 0;
  std::string label{}; ///< "rank 1 (cuda:1)"
  std::vector<Outstanding> outstanding{};
};

/// The ranks of a group in this process.
template <Api A> class Group {
public:
  /// throws: nothing; the watching thread begins with the first rank
  Group(std::int64_t timeout_ms, bool is_watched) : timeout_ms_{timeout_ms}, is_watched_{is_watched} {}
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_all();
    if (!watcher_.joinable()) return;
    strand_->join();
    watcher_.join();
  }

  [[nodiscard]] std::int64_t timeout_ms() const { return timeout_ms_; }
  [[nodiscard]] bool is_watched() const { return is_watched_; }

  /// Adds a rank of this process.
  void add(const std::shared_ptr<Member<A>>& member) {
    const std::lock_guard lock(mutex_);
    members_.push_back(member);
    if (!is_watched_ || watcher_.joinable()) return;
    strand_.emplace();
    watcher_ = std::thread([this] { strand_->run([this] { watch(); }); });
  }
  /// Counts a rank that has asked NCCL to finalise, or was aborted. The last of this process waits until NCCL is quiet
  /// and destroys all: one thread may destroy its ranks one after another.
  void retire() noexcept {
    std::vector<std::shared_ptr<Member<A>>> members;
    {
      const std::lock_guard lock(mutex_);
      if (++retired_ < members_.size()) return;
      retired_ = 0;
      members.swap(members_);
    }
    Patience patience(timeout_ms_);
    for (const auto& member : members) {
      int state = in_progress;
      while (state == in_progress) {
        {
          const std::lock_guard lock(member->mutex);
          if (member->is_gone) break;
          if (A::async_error(member->comm, &state) != success) state = -1;
        }
        if (state == in_progress && !patience.wait()) state = -1;
      }
      const std::lock_guard lock(member->mutex);
      if (std::exchange(member->is_gone, true)) continue;
      static_cast<void>(state == success ? A::destroy(member->comm) : A::abort(member->comm));
    }
  }

  /// The group of the sub-group made for a color by split number `number`; its ranks here share it.
  [[nodiscard]] std::shared_ptr<Group> child(int number, int color) {
    const std::lock_guard lock(mutex_);
    for (const Child& each : children_)
      if (each.number == number && each.color == color)
        if (auto alive = each.group.lock()) return alive;
    auto made = std::make_shared<Group>(timeout_ms_, is_watched_);
    children_.push_back({number, color, made});
    return made;
  }

  /// throws: the failure, if there is one; each caller gets its own exception
  void throw_if_failed() const {
    if (!has_failed_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(failure_mutex_);
    detail::throw_failure(failure_);
  }
  [[nodiscard]] bool has_failed() const { return has_failed_.load(std::memory_order_acquire); }

  /// Prevents aborts of ranks while the lock is held: for a thread with an open group of calls, which names
  /// communicators until it is closed.
  [[nodiscard]] std::unique_lock<detail::Mutex> without_aborts() { return std::unique_lock(aborting_); }

  /// Keeps the first failure and aborts every rank of this process, including those of sub-groups.
  TWILL_COLD void fail(const detail::Failure& failure) {
    {
      const std::lock_guard lock(failure_mutex_);
      if (has_failed_.load(std::memory_order_relaxed)) return;
      failure_ = failure;
      has_failed_.store(true, std::memory_order_release);
    }
    std::vector<std::shared_ptr<Member<A>>> members;
    std::vector<std::shared_ptr<Group>> children;
    {
      const std::lock_guard lock(mutex_);
      members = members_;
      for (const Child& each : children_)
        if (auto alive = each.group.lock()) children.push_back(std::move(alive));
    }
    for (const auto& group : children) group->fail(failure);
    const std::lock_guard aborts(aborting_);
    for (const auto& member : members) {
      const std::lock_guard lock(member->mutex);
      if (std::exchange(member->is_gone, true)) continue;
      static_cast<void>(A::abort(member->comm)); // nothing can be reported any more
    }
  }

  /// Rank `rank` cannot continue because of `cause`.
  TWILL_COLD void fail(const Member<A>& member, const std::exception_ptr& cause) {
    fail({join_text({member.label, " failed: ", detail::text_of(cause)}), member.rank, false, cause, -1});
  }

  /// NCCL refused or lost a call of a member.
  TWILL_COLD void fail(const Member<A>& member, const Call& call, int result, typename A::Comm comm) {
    fail({join_text({member.label, ": ", to_string(call, member.size), ": NCCL: ", A::text(result, comm)}), member.rank,
          false, nullptr, -1});
  }

  TWILL_COLD void fail_for_time(const Member<A>& member, const Call& call, const char* what) {
    fail({join_text({member.label, ": ", to_string(call, member.size), " ", what, " after ", timeout_ms_,
                     " ms; NCCL does not tell which rank is missing"}),
          -1, true, nullptr, -1});
  }

  /// Checks one rank: forgets finished calls; a failure or a late call ends the group.
  void look_at(Member<A>& member) {
    int state = success;
    Call call{};
    bool is_late = false;
    std::string words{};
    {
      const std::lock_guard lock(member.mutex);
      if (member.is_gone) return;
      forget_finished(member);
      const int asked = A::async_error(member.comm, &state);
      if (asked != success) state = asked;
      if (!member.outstanding.empty()) {
        call = member.outstanding.front().call;
        is_late = detail::now() - member.outstanding.front().began > std::chrono::milliseconds(timeout_ms_);
      }
      if (state != success && state != in_progress) words = A::text(state, member.comm);
    }
    if (state != success && state != in_progress)
      fail({join_text({member.label, ": ", to_string(call, member.size), ": NCCL: ", words}), member.rank, false,
            nullptr, -1});
    else if (is_late)
      fail_for_time(member, call, "has not finished");
  }

  /// Drops finished calls at the front. The member is locked.
  static void forget_finished(Member<A>& member) {
    std::size_t finished = 0;
    while (finished < member.outstanding.size() && A::has_passed(member.outstanding[finished].mark)) ++finished;
    member.outstanding.erase(member.outstanding.begin(),
                             member.outstanding.begin() + static_cast<std::ptrdiff_t>(finished));
  }

private:
  struct Child {
    int number = 0;
    int color = 0;
    std::weak_ptr<Group> group{};
  };

  void watch() {
    const std::int64_t pause_ms = timeout_ms_ < 400 ? timeout_ms_ / 4 + 1 : 100;
    std::unique_lock lock(mutex_);
    while (!is_ending_ && !has_failed()) {
      const detail::Moment until = detail::after_ms(pause_ms);
      while (!is_ending_ && changed_.wait_until(lock, until)) {
      }
      if (is_ending_) return;
      const std::vector<std::shared_ptr<Member<A>>> members = members_;
      lock.unlock();
      for (const auto& member : members) {
        try {
          look_at(*member);
        } catch (...) { // the driver itself failed: the next call reports it
        }
      }
      lock.lock();
    }
  }

  std::int64_t timeout_ms_;
  bool is_watched_;
  mutable detail::Mutex failure_mutex_{};
  detail::Failure failure_{};
  std::atomic<bool> has_failed_{false};
  detail::Mutex aborting_{}; ///< locked before a member
  detail::Mutex mutex_{};
  detail::Condition changed_{"the end of an NCCL group"};
  std::vector<std::shared_ptr<Member<A>>> members_{};
  std::size_t retired_ = 0;
  std::vector<Child> children_{};
  bool is_ending_ = false;
  std::optional<detail::Strand> strand_{}; ///< of the watching thread
  std::thread watcher_{};
};

}}}}} // namespace twill::v0::parallel::nccl::TWILL_ISA
