#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Membership of one rank in a group over packets: its collective calls, one after another, and the failure that ends
// the group, if there is one. It is a state machine without clock, thread or network: calls and packets go in, packets
// come out in `out`, and its driver (parallel/messages/progress_engine.hpp) knows the time. The first failure found by
// a rank goes to all ranks; a received one goes no further. Not in the umbrella. Read next:
// parallel/messages/mailbox.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/group/failure.hpp>
#include <twill/parallel/messages/collective_call.hpp>
#include <twill/parallel/messages/mailbox.hpp>
#include <twill/parallel/messages/packet.hpp>
#include <twill/parallel/messages/waits.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace messages { inline namespace TWILL_ISA {

class Member final : public detail::GroupState {
public:
  /// A call from begin to end: a collective one or one side of a message.
  struct Pending {
    Call call{};
    std::unique_ptr<CollectiveCall> collective{};
    std::int64_t number = 0; ///< of a message
    bool is_done = false;
    bool has_failed = false;
  };
  using Ticket = std::shared_ptr<Pending>;

  /// `ranks` are those on the network, in the order of the group.
  Member(std::uint64_t id, int rank, std::vector<int> ranks, std::vector<std::string> labels, std::int64_t timeout_ms,
         std::shared_ptr<const Waits> waits)
      : GroupState{std::move(labels), std::move(ranks), timeout_ms, std::move(waits)},
        id_{id},
        rank_{rank},
        leave_notices_(static_cast<std::size_t>(size())),
        mailbox_{size()} {}

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] bool is_busy() const { return !collectives_.empty(); }
  [[nodiscard]] const Ticket& last_collective() const { return collectives_.back(); }

  std::vector<Outgoing> out{}; ///< packets to ranks of this group, to be sent

  /// Begins a call that `check` has passed. throws: CommunicatorError if the group has failed
  [[nodiscard]] Ticket begin(const Call& call, int color = 0, int key = 0) {
    throw_if_failed();
    auto pending = std::make_shared<Pending>();
    pending->call = call;
    if (is_point_to_point(call.operation)) {
      begin_message(pending);
    } else {
      pending->collective = std::make_unique<CollectiveCall>(call, rank_, size());
      pending->collective->request_split(color, key);
      collectives_.push_back(pending);
    }
    advance();
    return pending;
  }

  /// Takes an arrived packet of this group.
  void take(const Header& header, int from, const Packet& packet) {
    if (has_failed()) return;
    switch (header.kind) {
    case Kind::first:
      progress(from).begins(header.number, header.signature());
      [[fallthrough]];
    case Kind::second:
      early_.push_back({from, packet});
      break;
    case Kind::message:
      mailbox_.arrive(from, header, packet);
      break;
    case Kind::acknowledged:
      mailbox_.acknowledge(from, header);
      break;
    case Kind::failed:
      return follow(failure_in(header, packet));
    case Kind::left:
      progress(from).has_left = true;
      progress(from).has_thrown = header.flag != 0;
      leave_notices_[at(from)] = header;
      break;
    case Kind::waits: // of no group
      break;
    }
    advance();
  }

  /// Advances everything as far as the arrived packets allow.
  void advance() {
    advance_collectives();
    advance_messages();
  }

  using GroupState::fail;
  /// Reports that this rank threw `cause`.
  void fail(const std::exception_ptr& cause) { fail_for_exception(rank_, cause); }
  /// The rank that a call waits for; negative: none.
  [[nodiscard]] int awaited(const Pending& pending) const {
    if (pending.collective == nullptr) return pending.call.peer;
    int other = 0;
    while (other < size() && !collectives_.empty() && !collectives_.front()->collective->awaits(other)) ++other;
    return collectives_.empty() || other == size() ? -1 : other;
  }
  /// Reports that a call has waited for longer than the group allows.
  TWILL_COLD void fail_for_time(const Pending& pending) {
    if (pending.collective == nullptr) return fail_for_silence(rank_, pending.call);
    if (collectives_.empty()) return;
    const CollectiveCall& collective = *collectives_.front()->collective; // which is the one a later one waits for
    fail_for_missing(collective.signature(), [&](int other) { return collective.awaits(other); });
  }

  /// Tells the others that this rank will make no more calls.
  void leave(bool by_exception) {
    if (has_failed()) return;
    for (int other = 0; other < size(); ++other) {
      if (other == rank_) continue;
      Header header;
      header.group = id_;
      header.kind = Kind::left;
      header.number = finished_;
      header.count = mailbox_.sent_to(other);
      header.taken = mailbox_.taken_from(other);
      header.flag = by_exception ? 1 : 0;
      out.push_back({other, pack(header)});
    }
  }

  /// Ends calls without further progress; sub-groups continue.
  void abandon() {
    if (collectives_.empty() && messages_.empty()) return;
    forget_children();
    follow({join_text({label(rank_), " has left the group with calls under way"}), rank_, false, nullptr, -1});
  }

private:
  [[nodiscard]] static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  void begin_message(const Ticket& pending) {
    const Call& call = pending->call;
    Header header;
    header.group = id_;
    header.kind = Kind::message;
    header.set(signature_of(call, size()));
    header.tag = call.tag;
    if (call.operation == Operation::receive) {
      pending->number = mailbox_.next_receive(call.peer, call.tag);
    } else {
      header.number = pending->number = mailbox_.next_send(call.peer, call.tag);
      header.bytes = call.source.data == nullptr ? 0 : static_cast<std::int64_t>(call.source.bytes());
      out.push_back({call.peer, pack(header, call.source.data)});
    }
    messages_.push_back(pending);
  }

  void advance_collectives() {
    while (!collectives_.empty() && !has_failed()) {
      const Ticket pending = collectives_.front();
      CollectiveCall& collective = *pending->collective;
      if (!collective.has_begun()) collective.begin(id_, finished_ + 1, out);
      std::erase_if(early_, [&](const Incoming& incoming) {
        const Header header = header_of(incoming.packet);
        if (header.number != collective.number()) return false;
        collective.take(incoming.from, header, incoming.packet);
        return true;
      });
      for (int other = 0; other < size(); ++other)
        if (collective.awaits(other)) return fail_if_left(collective);
      const auto signature = [&](int other) { return collective.arrival(other).first.signature(); };
      if (collective.phase() == 0 && !agree(collective.number(), signature)) return;
      if (!collective.advance(out)) continue;
      ++finished_;
      pending->is_done = true;
      collectives_.pop_front();
    }
  }

  void advance_messages() {
    for (std::size_t i = 0; i < messages_.size() && !has_failed();) {
      const Ticket pending = messages_[i];
      const bool is_done = pending->call.operation == Operation::send
                               ? mailbox_.take_acknowledgement(pending->call.peer, pending->call.tag, pending->number)
                               : receive(*pending);
      if (has_failed()) return;
      if (is_done) {
        pending->is_done = true;
        messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      const int peer = pending->call.peer;
      if (progress(peer).has_left && !mailbox_.may_still_come(pending->call, leave_notices_[at(peer)]))
        return fail_for_leaving(peer);
      ++i;
    }
  }

  [[nodiscard]] bool receive(const Pending& pending) {
    const Call& call = pending.call;
    const Packet packet = mailbox_.collect(call.peer, call.tag, pending.number);
    if (packet.size() == 0) return false;
    const Header header = header_of(packet);
    if (header.count != call.target.count || header.dtype != call.target.dtype) {
      fail_for_sides(rank_, call, call.peer, Call::send({nullptr, header.count, header.dtype}, rank_, call.tag));
      return false;
    }
    if (header.bytes > 0 && call.target.data != nullptr)
      std::memcpy(call.target.data, payload(packet), static_cast<std::size_t>(header.bytes));
    Header acknowledgement;
    acknowledgement.group = id_;
    acknowledgement.kind = Kind::acknowledged;
    acknowledgement.tag = call.tag;
    acknowledgement.number = pending.number;
    out.push_back({call.peer, pack(acknowledgement)});
    return true;
  }

  void end_calls(const detail::Failure& failure, bool is_news) override {
    for (const Ticket& pending : collectives_) pending->has_failed = true;
    for (const Ticket& pending : messages_) pending->has_failed = true;
    collectives_.clear();
    messages_.clear();
    early_.clear();
    if (!is_news) return;
    const Packet packet = pack(failure, id_);
    for (int other = 0; other < size(); ++other)
      if (other != rank_) out.push_back({other, packet});
  }

  void fail_if_left(const CollectiveCall& collective) {
    for (int other = 0; other < size(); ++other)
      if (collective.awaits(other) && progress(other).has_left &&
          leave_notices_[at(other)].number < collective.number())
        return fail_for_leaving(other);
  }

  std::uint64_t id_;
  int rank_;
  std::vector<Header> leave_notices_; ///< of ranks that have left
  Mailbox mailbox_;
  std::deque<Ticket> collectives_{}; ///< collective calls in order; only the first is in progress
  std::vector<Ticket> messages_{};   ///< both sides of messages, in the order in which they were begun
  std::vector<Incoming> early_{};    ///< of collective calls that this rank has not reached
  std::int64_t finished_ = 0;        ///< collective calls
};

}}}}} // namespace twill::v0::parallel::messages::TWILL_ISA
