#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// `MessageCommunicator<W, D>`: a rank that talks to the others in packets over a wire, a model of `Communicator` with the
// results of threads, bit for bit. Calls move on while somebody waits or asks; a started one needs that on all ranks. What
// lies on a device with memory of its own travels through the host. Not in the umbrella. Read next: parallel/messages/mpi.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/device.hpp>
#include <twill/parallel/group/call_check.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/staged_call.hpp>
#include <twill/parallel/messages/exchange.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

namespace twill::inline v0::parallel::messages::inline TWILL_ISA {

/// A started call of a `MessageCommunicator`.
template <Wire W, ComputeDevice D> class MessageHandle {
public:
  MessageHandle(detail::StagedCall<D> staged, std::shared_ptr<Exchange<W>> exchange, std::shared_ptr<Member> member,
                Member::Ticket ticket)
      : staged_{std::move(staged)},
        exchange_{std::move(exchange)},
        member_{std::move(member)},
        ticket_{std::move(ticket)} {}
  MessageHandle(MessageHandle&&) noexcept = default;
  MessageHandle& operator=(MessageHandle&& other) noexcept {
    if (this != &other) {
      wait_quietly();
      staged_ = std::move(other.staged_);
      exchange_ = std::move(other.exchange_);
      member_ = std::move(other.member_);
      ticket_ = std::move(other.ticket_);
    }
    return *this;
  }
  ~MessageHandle() { wait_quietly(); }

  /// Returns when the elements may be used again; a second time at once. throws: what went wrong, once
  void wait() {
    const Member::Ticket ticket = std::exchange(ticket_, nullptr);
    if (ticket == nullptr) return;
    exchange_->wait(*member_, ticket);
    staged_.finish();
  }
  [[nodiscard]] bool is_done() const { return ticket_ == nullptr || exchange_->is_over(ticket_); }

private:
  // A failure that nobody asks about here has reached the group, and with it every later call.
  void wait_quietly() noexcept {
    try {
      wait();
    } catch (...) {
    }
  }

  detail::StagedCall<D> staged_;
  std::shared_ptr<Exchange<W>> exchange_;
  std::shared_ptr<Member> member_;
  Member::Ticket ticket_;
};

/// One rank of a group. Letting it go while others wait for this rank ends their calls with an error that names it.
template <Wire W, ComputeDevice D> class MessageCommunicator {
public:
  using Device = D;
  using Handle = MessageHandle<W, D>;

  /// Belongs to no group: the size is 0.
  MessageCommunicator() = default;
  MessageCommunicator(std::shared_ptr<Exchange<W>> exchange, std::shared_ptr<Member> member, const D& device)
      : exchange_{std::move(exchange)},
        member_{std::move(member)},
        device_{device},
        exceptions_{std::uncaught_exceptions()} {}
  MessageCommunicator(MessageCommunicator&&) noexcept = default;
  MessageCommunicator& operator=(MessageCommunicator&& other) noexcept {
    if (this != &other) {
      leave();
      member_ = std::move(other.member_);
      exchange_ = std::move(other.exchange_);
      device_ = other.device_;
      exceptions_ = other.exceptions_;
    }
    return *this;
  }
  ~MessageCommunicator() { leave(); }

  [[nodiscard]] int rank() const { return member_ ? member_->rank() : 0; }
  [[nodiscard]] int size() const { return member_ ? member_->size() : 0; }
  [[nodiscard]] const D& device() const { return device_; }
  [[nodiscard]] std::int64_t timeout_ms() const { return member_ ? member_->timeout_ms() : 0; }
  /// Counted where packets are made and taken apart, in finished calls.
  [[nodiscard]] OperationTraffic traffic() const { return member_ ? exchange_->traffic(*member_) : OperationTraffic{}; }

  /// Carries out a call. throws: ValueError for a call wrong by itself, else CommunicatorError
  void run(const Call& call) { start(call).wait(); }

  /// Begins a call; its elements belong to it until the handle has been waited for.
  [[nodiscard]] Handle start(const Call& call) {
    require_group(call);
    check(call, rank(), size());
    detail::StagedCall<D> staged(device_, call, rank());
    auto ticket = exchange_->begin(*member_, staged.call());
    return Handle(std::move(staged), exchange_, member_, std::move(ticket));
  }

  /// Sub-groups of equal color, ordered by key, then rank; a negative color gets an empty communicator.
  [[nodiscard]] MessageCommunicator split(int color, int key) {
    require_group({Operation::split, {}, {}});
    auto member = exchange_->split(member_, color, key);
    return member ? MessageCommunicator(exchange_, std::move(member), device_) : MessageCommunicator();
  }

  /// Tells the group that this rank cannot go on: every call of every rank, now or later, throws an error that names it.
  void fail(const std::exception_ptr& cause) {
    if (member_) exchange_->fail(*member_, cause);
  }

private:
  void require_group(const Call& call) const {
    if (!member_) throw ValueError(join_text({name(call.operation), ": this communicator belongs to no group"}));
  }
  void leave() noexcept {
    if (!member_) return;
    const bool by_exception = std::uncaught_exceptions() > exceptions_;
    try {
      exchange_->leave(*member_, by_exception);
    } catch (...) { // a call that was begun has failed, and the group with it
      try {
        exchange_->leave(*member_, true);
      } catch (...) { // no memory to say good-bye: the others run into their time-out
      }
    }
    member_ = nullptr;
    exchange_ = nullptr;
  }

  std::shared_ptr<Exchange<W>> exchange_;
  std::shared_ptr<Member> member_;
  D device_{};
  int exceptions_ = 0; ///< under way when this rank began: more at its end mean that one ended it
};

} // namespace twill::inline v0::parallel::messages::inline TWILL_ISA
