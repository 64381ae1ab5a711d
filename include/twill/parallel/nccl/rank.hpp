#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Membership of one rank in an NCCL group, a `Transport`: gives calls to NCCL, waits until they are accepted, marks the
// end of their kernels, and leaves in order. Started sends and receives wait here until they go out together.
// Not in the umbrella. Read next: parallel/nccl/communicator.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/group/call_check.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/nccl/group.hpp>
#include <twill/parallel/nccl/steps.hpp>

#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace nccl { inline namespace TWILL_ISA {

/// A rank working with its member of a group. `A::stream(device)` is the device's current stream,
/// `A::side_stream(device)` one for started calls, `A::scratch(device)` a byte of device memory without other users.
/// Requested only if a call needs it.
template <class D, Api A> class Rank {
public:
  Rank(std::shared_ptr<Group<A>> group, std::shared_ptr<Member<A>> member, const D& device)
      : group_{std::move(group)}, member_{std::move(member)}, device_{device} {
    group_->add(member_);
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;
  ~Rank() { leave(std::uncaught_exceptions() > exceptions_); }

  using Device = D;
  /// A call in flight: the mark of the rank's stream at which it ends, or the number of the flush that sends it.
  struct Ticket {
    typename A::Mark mark{};
    int flush = 0; ///< 0: for a collective
  };

  [[nodiscard]] int rank() const { return member_->rank; }
  [[nodiscard]] int size() const { return member_->size; }
  [[nodiscard]] const D& device() const { return device_; }
  [[nodiscard]] std::int64_t timeout_ms() const { return group_->timeout_ms(); }

  /// Gives a call to the device's current stream; a barrier also waits for the other ranks.
  void run(const Call& call) {
    enqueue({call}, A::stream(device_));
    if (call.operation == Operation::barrier) finish();
  }
  /// Begins a call in parallel with the device's own work. Sends and receives go out with the next flush.
  [[nodiscard]] Ticket begin(const Call& call) {
    if (is_point_to_point(call.operation)) {
      postpone(call);
      return {{}, flushes_ + 1};
    }
    flush();
    const auto side = fork();
    enqueue({call}, side);
    return {A::mark(device_.index, side), 0};
  }
  /// Orders the device's later work after a call, without blocking.
  void wait(const Ticket& ticket) { join(mark_of(ticket)); }
  [[nodiscard]] bool is_done(const Ticket& ticket) { return A::has_passed(mark_of(ticket)); }
  /// Aborts running kernels in this process; ranks of other processes lose their connection to it.
  void fail(const std::exception_ptr& cause) { group_->fail(*member_, cause); }

  [[nodiscard]] Group<A>& group() const { return *group_; }
  [[nodiscard]] Member<A>& member() const { return *member_; }

  /// Gives calls to NCCL as one group on a stream. throws: CommunicatorError; ValueError when NCCL reports a wrong
  /// argument, which harms no rank
  void enqueue(const std::vector<Call>& calls, typename A::Stream stream) {
    if (calls.size() == 1 && is_point_to_point(calls[0].operation) && !postponed_.empty()) {
      postponed_.push_back(calls[0]); // one group, or ranks in a ring that have started a receive never send
      flush();
      A::hold(device_.index, stream, flushed_);
      return;
    }
    flush_other(stream);
    enqueue_now(calls, stream);
  }

  /// Postpones a send or receive until the next call or wait.
  void postpone(const Call& call) {
    group_->throw_if_failed();
    postponed_.push_back(call);
  }

  /// Sends the postponed calls, and returns a mark after them.
  void flush() {
    if (postponed_.empty()) return;
    const std::vector<Call> calls = std::exchange(postponed_, {});
    const auto side = fork();
    enqueue_now(calls, side);
    flushed_ = A::mark(device_.index, side);
    ++flushes_;
  }

  /// The stream of started calls, after all earlier work of the device.
  [[nodiscard]] typename A::Stream fork() {
    const auto side = A::side_stream(device_);
    A::hold(device_.index, side, A::mark(device_.index, A::stream(device_)));
    return side;
  }

  /// Orders later work of the device's stream after a mark. throws: CommunicatorError
  void join(const typename A::Mark& mark) {
    group_->look_at(*member_);
    group_->throw_if_failed();
    A::hold(device_.index, A::stream(device_), mark);
  }

  /// Waits on the host until the kernels of all calls are done. throws: CommunicatorError
  void finish() {
    flush();
    Patience patience(group_->timeout_ms());
    while (true) {
      group_->look_at(*member_);
      group_->throw_if_failed();
      {
        const std::lock_guard lock(member_->mutex);
        if (member_->outstanding.empty()) return;
      }
      if (patience.wait()) continue;
      group_->look_at(*member_); // a call that began before this wait is late by now, and is the one to name
      group_->throw_if_failed();
      group_->fail_for_time(*member_, Call::barrier(), "has not finished");
    }
  }

  /// The first half of `enqueue`: the calls between begin_group and end_group when a thread has several ranks. False
  /// when there is nothing to do. A failure aborts all ranks, which NCCL does not accept while the thread's group is
  /// open: `close()` ends it first. throws: like `enqueue`
  template <class Close>
  [[nodiscard]] bool give(const std::vector<Call>& calls, typename A::Stream stream, const Close& close) {
    group_->throw_if_failed();
    std::vector<Step> steps;
    for (const Call& call : calls) {
      void* const scratch = call.operation == Operation::barrier ? A::scratch(device_) : nullptr;
      for (const Step& step : steps_of(call, member_->rank, member_->size, scratch)) steps.push_back(step);
    }
    if (steps.empty()) return false;
    int result = success;
    {
      const std::lock_guard lock(member_->mutex);
      if (!member_->is_gone) result = give_steps(steps, stream);
    }
    group_->throw_if_failed();
    if (result == invalid_argument)
      throw ValueError(join_text({member_->label, ": ", to_string(calls.front(), member_->size),
                                  ": NCCL: ", A::text(result, comm_of(result))}));
    if (result != success && result != in_progress) {
      close();
      group_->fail(*member_, calls.front(), result, comm_of(result));
    }
    group_->throw_if_failed();
    return true;
  }

  /// Checks whether the rank has failed since the last check.
  void look() {
    group_->look_at(*member_);
    group_->throw_if_failed();
  }

  /// The second half: NCCL has accepted the call, and from now on it is watched.
  void take_note(const Call& call, typename A::Stream stream) {
    settle(call);
    if (A::is_capturing(stream)) return;
    auto mark = A::mark(device_.index, stream);
    const std::lock_guard lock(member_->mutex);
    Group<A>::forget_finished(*member_);
    member_->outstanding.push_back({std::move(mark), detail::now(), call});
  }

  /// Waits until the communicator is ready for the next call. throws: CommunicatorError
  void settle(const Call& call) {
    Patience patience(group_->timeout_ms());
    while (true) {
      int state = success;
      int asked = success;
      {
        const std::lock_guard lock(member_->mutex);
        if (!member_->is_gone) asked = A::async_error(member_->comm, &state);
      }
      group_->throw_if_failed();
      if (asked != success) state = asked;
      if (state == success) return;
      if (state != in_progress) {
        group_->fail(*member_, call, state, comm_of(state));
      } else if (!patience.wait()) {
        group_->fail_for_time(*member_, call, "was not taken up");
      }
      group_->throw_if_failed();
    }
  }

  /// Makes this rank's part of a sub-group; nothing for a negative color. throws: CommunicatorError
  [[nodiscard]] std::unique_ptr<Rank> split(int color, int key) {
    flush();
    const Call call{Operation::split, {}, {}};
    group_->throw_if_failed();
    const int number = ++splits_;
    typename A::Comm made{};
    int result = success;
    {
      const std::lock_guard lock(member_->mutex);
      if (!member_->is_gone) result = A::split(member_->comm, color < 0 ? -1 : color, key, &made);
    }
    group_->throw_if_failed();
    if (result != success && result != in_progress) group_->fail(*member_, call, result, comm_of(result));
    settle(call);
    if (color < 0) return nullptr;
    auto member = std::make_shared<Member<A>>();
    member->comm = made;
    member->label = member_->label;
    auto rank = std::make_unique<Rank>(group_->child(number, color), member, device_);
    rank->settle(call);
    const std::lock_guard lock(member->mutex);
    if (!member->is_gone) A::read_place(made, &member->rank, &member->size);
    member->label = join_text({"rank ", member->rank, " (", member_->label, ")"});
    return rank;
  }

private:
  // NCCL's last error is the thread's, not the communicator's, which another thread may have aborted meanwhile.
  [[nodiscard]] static typename A::Comm comm_of(int) { return typename A::Comm{}; }

  /// Orders a collective on the device's own stream after started calls.
  void flush_other(typename A::Stream stream) {
    if (postponed_.empty()) return;
    flush();
    A::hold(device_.index, stream, flushed_);
  }

  void enqueue_now(const std::vector<Call>& calls, typename A::Stream stream) {
    look();
    if (give(calls, stream, [] {})) take_note(calls.front(), stream);
  }

  /// The member is locked.
  [[nodiscard]] int give_steps(const std::vector<Step>& steps, typename A::Stream stream) {
    if (steps.size() == 1) return A::enqueue(steps[0], member_->comm, stream);
    int result = A::begin_group();
    if (result != success) return result;
    for (const Step& step : steps) {
      const int each = A::enqueue(step, member_->comm, stream);
      if (each != success && each != in_progress && result == success) result = each;
    }
    const int ended = A::end_group(); // also after a failure: the group is the thread's
    return result != success ? result : ended;
  }

public:
  /// Ends the membership, once: after its last call, unless an exception ends it or the group has failed.
  void leave(bool by_exception) noexcept {
    if (std::exchange(has_left_, true)) return;
    try {
      if (by_exception)
        group_->fail(
            {join_text({member_->label, " left the group with an exception"}), member_->rank, false, nullptr, -1});
      finish();
      int result = success;
      {
        const std::lock_guard lock(member_->mutex);
        if (!member_->is_gone) result = A::finalize(member_->comm);
      }
      if (result != success && result != in_progress) group_->fail(*member_, Call{}, result, comm_of(result));
    } catch (...) { // the group has failed, which has aborted this rank
    }
    group_->retire();
  }

private:
  [[nodiscard]] typename A::Mark mark_of(const Ticket& ticket) {
    if (ticket.flush > flushes_) flush();
    return ticket.flush > 0 ? flushed_ : ticket.mark;
  }

  std::shared_ptr<Group<A>> group_;
  std::shared_ptr<Member<A>> member_;
  D device_;
  std::vector<Call> postponed_{};
  typename A::Mark flushed_{};
  int flushes_ = 0;
  int splits_ = 0;
  bool has_left_ = false;
  int exceptions_ = std::uncaught_exceptions(); ///< in flight when this rank began
};

}}}}} // namespace twill::v0::parallel::nccl::TWILL_ISA
