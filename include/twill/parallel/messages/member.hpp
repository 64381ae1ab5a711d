#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Membership of one rank in a group over packets: its collective calls, one after another, and the failure that ends
// the group, if there is one. It is a state machine without clock, thread or network: calls and packets go in, packets
// come out in `out`, and its driver (parallel/messages/exchange.hpp) knows the time. The first failure found by a rank
// goes to all ranks; a received one goes no further. Not in the umbrella. Read next: parallel/messages/letters.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/group/failure.hpp>
#include <twill/parallel/messages/envelope.hpp>
#include <twill/parallel/messages/letters.hpp>
#include <twill/parallel/messages/round.hpp>
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
    std::unique_ptr<Round> round{};
    std::int64_t number = 0; ///< of a message
    bool is_done = false;
    bool has_failed = false;
  };
  using Ticket = std::shared_ptr<Pending>;

  /// `ranks` are those on the wire, in the order of the group.
  Member(std::uint64_t id, int rank, std::vector<int> ranks, std::vector<std::string> labels, std::int64_t timeout_ms,
         std::shared_ptr<const Waits> waits)
      : GroupState{std::move(labels), std::move(ranks), timeout_ms, std::move(waits)},
        id_{id},
        rank_{rank},
        farewells_(static_cast<std::size_t>(size())),
        letters_{size()} {}

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] bool is_busy() const { return !rounds_.empty(); }
  [[nodiscard]] const Ticket& last_round() const { return rounds_.back(); }

  std::vector<Outgoing> out{}; ///< packets to ranks of this group, to be sent

  /// Begins a call that `check` has passed. throws: CommunicatorError if the group has failed
  [[nodiscard]] Ticket begin(const Call& call, int color = 0, int key = 0) {
    throw_if_failed();
    auto pending = std::make_shared<Pending>();
    pending->call = call;
    if (is_point_to_point(call.operation)) {
      begin_letter(pending);
    } else {
      pending->round = std::make_unique<Round>(call, rank_, size());
      pending->round->wish(color, key);
      rounds_.push_back(pending);
    }
    advance();
    return pending;
  }

  /// Takes an arrived packet of this group.
  void take(const Envelope& envelope, int from, const Parcel& parcel) {
    if (has_failed()) return;
    switch (envelope.kind) {
    case Kind::first:
      progress(from).begins(envelope.number, envelope.signature());
      [[fallthrough]];
    case Kind::second:
      early_.push_back({from, parcel});
      break;
    case Kind::message:
      letters_.arrive(from, envelope, parcel);
      break;
    case Kind::taken:
      letters_.answer(from, envelope);
      break;
    case Kind::failed:
      return follow(failure_in(envelope, parcel));
    case Kind::left:
      progress(from).has_left = true;
      progress(from).has_thrown = envelope.flag != 0;
      farewells_[at(from)] = envelope;
      break;
    case Kind::waits: // of no group
      break;
    }
    advance();
  }

  /// Advances everything as far as the arrived packets allow.
  void advance() {
    advance_rounds();
    advance_letters();
  }

  using GroupState::fail;
  /// Reports that this rank threw `cause`.
  void fail(const std::exception_ptr& cause) { fail_for_exception(rank_, cause); }
  /// The rank that a call waits for; negative: none.
  [[nodiscard]] int awaited(const Pending& pending) const {
    if (pending.round == nullptr) return pending.call.peer;
    int other = 0;
    while (other < size() && !rounds_.empty() && !rounds_.front()->round->awaits(other)) ++other;
    return rounds_.empty() || other == size() ? -1 : other;
  }
  /// Reports that a call has waited for longer than the group allows.
  TWILL_COLD void fail_for_time(const Pending& pending) {
    if (pending.round == nullptr) return fail_for_silence(rank_, pending.call);
    if (rounds_.empty()) return;
    const Round& round = *rounds_.front()->round; // which is the one a later one waits for
    fail_for_missing(round.signature(), [&](int other) { return round.awaits(other); });
  }

  /// Tells the others that this rank will make no more calls.
  void leave(bool by_exception) {
    if (has_failed()) return;
    for (int other = 0; other < size(); ++other) {
      if (other == rank_) continue;
      Envelope envelope;
      envelope.group = id_;
      envelope.kind = Kind::left;
      envelope.number = finished_;
      envelope.count = letters_.sent_to(other);
      envelope.taken = letters_.taken_from(other);
      envelope.flag = by_exception ? 1 : 0;
      out.push_back({other, pack(envelope)});
    }
  }

  /// Ends calls without further progress; sub-groups continue.
  void abandon() {
    if (rounds_.empty() && messages_.empty()) return;
    forget_children();
    follow({join_text({label(rank_), " has left the group with calls under way"}), rank_, false, nullptr, -1});
  }

private:
  [[nodiscard]] static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  void begin_letter(const Ticket& pending) {
    const Call& call = pending->call;
    Envelope envelope;
    envelope.group = id_;
    envelope.kind = Kind::message;
    envelope.set(signature_of(call, size()));
    envelope.tag = call.tag;
    if (call.operation == Operation::receive) {
      pending->number = letters_.next_receive(call.peer, call.tag);
    } else {
      envelope.number = pending->number = letters_.next_send(call.peer, call.tag);
      envelope.bytes = call.source.data == nullptr ? 0 : static_cast<std::int64_t>(call.source.bytes());
      out.push_back({call.peer, pack(envelope, call.source.data)});
    }
    messages_.push_back(pending);
  }

  void advance_rounds() {
    while (!rounds_.empty() && !has_failed()) {
      const Ticket pending = rounds_.front();
      Round& round = *pending->round;
      if (!round.has_begun()) round.begin(id_, finished_ + 1, out);
      std::erase_if(early_, [&](const Packet& packet) {
        const Envelope envelope = envelope_of(packet.parcel);
        if (envelope.number != round.number()) return false;
        round.take(packet.from, envelope, packet.parcel);
        return true;
      });
      for (int other = 0; other < size(); ++other)
        if (round.awaits(other)) return fail_if_left(round);
      const auto signature = [&](int other) { return round.arrival(other).first.signature(); };
      if (round.phase() == 0 && !agree(round.number(), signature)) return;
      if (!round.advance(out)) continue;
      ++finished_;
      pending->is_done = true;
      rounds_.pop_front();
    }
  }

  void advance_letters() {
    for (std::size_t i = 0; i < messages_.size() && !has_failed();) {
      const Ticket pending = messages_[i];
      const bool is_done = pending->call.operation == Operation::send
                               ? letters_.take_answer(pending->call.peer, pending->call.tag, pending->number)
                               : receive(*pending);
      if (has_failed()) return;
      if (is_done) {
        pending->is_done = true;
        messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      const int peer = pending->call.peer;
      if (progress(peer).has_left && !letters_.may_still_come(pending->call, farewells_[at(peer)]))
        return fail_for_leaving(peer);
      ++i;
    }
  }

  [[nodiscard]] bool receive(const Pending& pending) {
    const Call& call = pending.call;
    const Parcel parcel = letters_.collect(call.peer, call.tag, pending.number);
    if (parcel.size() == 0) return false;
    const Envelope envelope = envelope_of(parcel);
    if (envelope.count != call.target.count || envelope.dtype != call.target.dtype) {
      fail_for_sides(rank_, call, call.peer, Call::send({nullptr, envelope.count, envelope.dtype}, rank_, call.tag));
      return false;
    }
    if (envelope.bytes > 0 && call.target.data != nullptr)
      std::memcpy(call.target.data, content(parcel), static_cast<std::size_t>(envelope.bytes));
    Envelope answer;
    answer.group = id_;
    answer.kind = Kind::taken;
    answer.tag = call.tag;
    answer.number = pending.number;
    out.push_back({call.peer, pack(answer)});
    return true;
  }

  void end_calls(const detail::Failure& failure, bool is_news) override {
    for (const Ticket& pending : rounds_) pending->has_failed = true;
    for (const Ticket& pending : messages_) pending->has_failed = true;
    rounds_.clear();
    messages_.clear();
    early_.clear();
    if (!is_news) return;
    const Parcel parcel = pack(failure, id_);
    for (int other = 0; other < size(); ++other)
      if (other != rank_) out.push_back({other, parcel});
  }

  void fail_if_left(const Round& round) {
    for (int other = 0; other < size(); ++other)
      if (round.awaits(other) && progress(other).has_left && farewells_[at(other)].number < round.number())
        return fail_for_leaving(other);
  }

  std::uint64_t id_;
  int rank_;
  std::vector<Envelope> farewells_; ///< of ranks that have left
  Letters letters_;
  std::deque<Ticket> rounds_{};    ///< collective calls in order; only the first is in progress
  std::vector<Ticket> messages_{}; ///< both sides of messages, in the order in which they were begun
  std::vector<Packet> early_{};    ///< of collective calls that this rank has not reached
  std::int64_t finished_ = 0;      ///< collective calls
};

}}}}} // namespace twill::v0::parallel::messages::TWILL_ISA
