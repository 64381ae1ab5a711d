#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Communicator over packets, `MessageCommunicator<W, D>`: a rank that exchanges packets with the others over a network,
// with the results of threads, bit for bit. Calls progress while a rank waits or asks; a started one needs that on all
// ranks. Memory of other devices is copied through the host. Not in the umbrella. Read next: parallel/messages/mpi.hpp.

#include <twill/core/config.hpp>
#include <twill/device/device.hpp>
#include <twill/parallel/group/basic_communicator.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/staged_call.hpp>
#include <twill/parallel/messages/progress_engine.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

namespace twill { inline namespace v0 { namespace parallel { namespace messages { inline namespace TWILL_ISA {

/// A rank of a group on a network, for `BasicCommunicator`.
template <Endpoint W, ComputeDevice D> class MessageTransport {
public:
  using Device = D;
  /// A call in flight.
  struct Ticket {
    detail::StagedCall<D> staged;
    Member::Ticket pending{};
  };

  MessageTransport(std::shared_ptr<ProgressEngine<W>> engine, std::shared_ptr<Member> member, const D& device)
      : engine_{std::move(engine)}, member_{std::move(member)}, device_{device} {}

  [[nodiscard]] int rank() const { return member_->rank(); }
  [[nodiscard]] int size() const { return member_->size(); }
  [[nodiscard]] const D& device() const { return device_; }
  [[nodiscard]] std::int64_t timeout_ms() const { return member_->timeout_ms(); }

  void run(const Call& call) {
    Ticket ticket = begin(call);
    wait(ticket);
  }
  [[nodiscard]] Ticket begin(const Call& call) {
    Ticket ticket{detail::StagedCall<D>(device_, call, rank())};
    ticket.pending = engine_->begin(*member_, ticket.staged.call());
    return ticket;
  }
  void wait(Ticket& ticket) {
    engine_->wait(*member_, ticket.pending);
    ticket.staged.finish();
  }
  [[nodiscard]] bool is_done(const Ticket& ticket) const { return engine_->is_over(ticket.pending); }
  [[nodiscard]] std::shared_ptr<MessageTransport> split(int color, int key) {
    auto member = engine_->split(member_, color, key);
    return member ? std::make_shared<MessageTransport>(engine_, std::move(member), device_) : nullptr;
  }
  void fail(const std::exception_ptr& cause) { engine_->fail(*member_, cause); }
  void leave(bool by_exception) noexcept {
    try {
      engine_->leave(*member_, by_exception);
    } catch (...) { // a started call has failed, and the group with it
      try {
        engine_->leave(*member_, true);
      } catch (...) { // no memory for a leave notice: other ranks run into their time-out
      }
    }
  }

private:
  std::shared_ptr<ProgressEngine<W>> engine_;
  std::shared_ptr<Member> member_;
  D device_;
};

/// One rank of a group on a network.
template <Endpoint W, ComputeDevice D> using MessageCommunicator = BasicCommunicator<MessageTransport<W, D>>;

}}}}} // namespace twill::v0::parallel::messages::TWILL_ISA
