#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// One rank's state in a group that talks in packets: its collective calls, one after the other, and the failure that ends the
// group, if there is one. It is a machine without clock, thread or network: calls and packets go in, packets come out in
// `out`, and who drives it (parallel/messages/exchange.hpp) knows the time. The first failure that a rank finds goes
// to all ranks; one that it was told goes no further. Not in the umbrella. Read next: parallel/messages/letters.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/group/text_of.hpp>
#include <twill/parallel/messages/envelope.hpp>
#include <twill/parallel/messages/failure.hpp>
#include <twill/parallel/messages/letters.hpp>
#include <twill/parallel/messages/peer.hpp>
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

namespace twill::inline v0::parallel::messages::inline TWILL_ISA {

class Member {
public:
  /// A call from its beginning to its end: a collective one or one side of a message.
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
      : id_{id},
        rank_{rank},
        ranks_{std::move(ranks)},
        labels_{std::move(labels)},
        timeout_ms_{timeout_ms},
        waits_{std::move(waits)},
        peers_(ranks_.size()),
        letters_{static_cast<int>(ranks_.size())} {}

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] std::int64_t timeout_ms() const { return timeout_ms_; }
  [[nodiscard]] int rank_on_wire(int rank) const { return ranks_[at(rank)]; }
  [[nodiscard]] const std::string& label(int rank) const { return labels_[at(rank)]; }
  [[nodiscard]] const OperationTraffic& traffic() const { return traffic_; }
  [[nodiscard]] bool has_failed() const { return has_failed_; }
  [[nodiscard]] bool is_busy() const { return !rounds_.empty(); }
  [[nodiscard]] const Ticket& last_round() const { return rounds_.back(); }

  std::vector<Outgoing> out{}; ///< packets to ranks of this group, to be sent

  /// Takes up a call that `check` has passed. throws: CommunicatorError if the group has failed
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

  /// A packet of this group has arrived.
  void take(const Envelope& envelope, int from, const Parcel& parcel) {
    if (has_failed_) return;
    Peer& peer = peers_[at(from)];
    switch (envelope.kind) {
    case Kind::first:
      peer.begins(envelope);
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
      return fail(failure_in(envelope, parcel), false);
    case Kind::left:
      peer.has_left = true;
      peer.farewell = envelope;
      break;
    case Kind::waits: // of no group
      break;
    }
    advance();
  }

  /// Carries everything as far as the packets that have arrived allow.
  void advance() {
    advance_rounds();
    advance_letters();
  }

  /// Keeps the first failure, ends every call, and takes the sub-groups with it.
  void fail(const Failure& failure, bool tells = true) {
    if (has_failed_) return;
    has_failed_ = true;
    failure_ = failure;
    for (const Ticket& pending : rounds_) pending->has_failed = true;
    for (const Ticket& pending : messages_) pending->has_failed = true;
    rounds_.clear();
    messages_.clear();
    early_.clear();
    if (tells) tell(failure);
    for (const auto& child : children_)
      if (const auto alive = child.lock()) alive->fail(failure, false);
  }
  /// This rank threw `cause`.
  TWILL_COLD void fail(const std::exception_ptr& cause) {
    fail({join_text({label(rank_), " failed: ", detail::text_of(cause)}), rank_, false, cause});
  }
  /// Whom a call waits for; negative: nobody.
  [[nodiscard]] int awaited(const Pending& pending) const {
    if (pending.round == nullptr) return pending.call.peer;
    int other = 0;
    while (other < size() && !rounds_.empty() && !rounds_.front()->round->awaits(other)) ++other;
    return rounds_.empty() || other == size() ? -1 : other;
  }
  /// A call has waited for longer than the group allows.
  TWILL_COLD void fail_for_time(const Pending& pending) {
    if (pending.round == nullptr) {
      const int peer = pending.call.peer;
      return fail_for_time(
          join_text({label(rank_), " calls ", to_string(pending.call, size()), ": ", label(peer),
                     " has not answered for ", timeout_ms_, " ms; it was seen ", peers_[at(peer)].last_seen()}),
          peer);
    }
    if (rounds_.empty()) return;
    const Round& round = *rounds_.front()->round; // which is what a later one waits for
    std::string missing;
    for (int other = 0; other < size(); ++other) {
      if (!round.awaits(other)) continue;
      missing =
          join_text({missing, missing.empty() ? "" : ", ", label(other), " (", peers_[at(other)].last_seen(), ")"});
    }
    fail_for_time(join_text({to_string(round.signature()), ": missing after ", timeout_ms_, " ms: ", missing}),
                  awaited(pending));
  }

  void throw_if_failed() const {
    if (has_failed_) throw_failure(failure_);
  }

  /// Tells the others that this rank will make no more calls.
  void leave(bool by_exception) {
    if (has_failed_) return;
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

  /// Ends calls that nobody will move on any more; sub-groups go on.
  void abandon() {
    if (rounds_.empty() && messages_.empty()) return;
    children_.clear();
    fail({join_text({label(rank_), " has left the group with calls under way"}), rank_, false, nullptr}, false);
  }

  /// Makes a sub-group fail with this one.
  void adopt(const std::shared_ptr<Member>& child) {
    std::erase_if(children_, [](const auto& each) { return each.expired(); });
    children_.push_back(child);
    if (has_failed_) child->fail(failure_, false);
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
      traffic_.add(Operation::send, {1, envelope.bytes, 0});
    }
    messages_.push_back(pending);
  }

  void advance_rounds() {
    while (!rounds_.empty() && !has_failed_) {
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
      if (round.phase() == 0 && !are_equal(round)) return;
      if (!round.advance(out)) continue;
      ++finished_;
      traffic_.add(round.call().operation, round.transfer());
      pending->is_done = true;
      rounds_.pop_front();
    }
  }

  void advance_letters() {
    for (std::size_t i = 0; i < messages_.size() && !has_failed_;) {
      const Ticket pending = messages_[i];
      const bool is_done = pending->call.operation == Operation::send
                               ? letters_.take_answer(pending->call.peer, pending->call.tag, pending->number)
                               : receive(*pending);
      if (has_failed_) return;
      if (is_done) {
        pending->is_done = true;
        messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      const Peer& peer = peers_[at(pending->call.peer)];
      if (peer.has_left && !letters_.may_still_come(pending->call, peer.farewell))
        return fail_for_leaving(pending->call.peer);
      ++i;
    }
  }

  [[nodiscard]] bool receive(const Pending& pending) {
    const Call& call = pending.call;
    const Parcel parcel = letters_.collect(call.peer, call.tag, pending.number);
    if (parcel.size() == 0) return false;
    const Envelope envelope = envelope_of(parcel);
    if (envelope.count != call.target.count || envelope.dtype != call.target.dtype) {
      Call sent = Call::send({nullptr, envelope.count, envelope.dtype}, rank_, call.tag);
      fail({join_text({"a message differs on its two sides: ", label(call.peer), " calls ", to_string(sent, size()),
                       ", ", label(rank_), " calls ", to_string(call, size())}),
            -1, false, nullptr});
      return false;
    }
    if (envelope.bytes > 0 && call.target.data != nullptr)
      std::memcpy(call.target.data, content(parcel), static_cast<std::size_t>(envelope.bytes));
    traffic_.add(Operation::receive, {1, 0, envelope.bytes});
    Envelope answer;
    answer.group = id_;
    answer.kind = Kind::taken;
    answer.tag = call.tag;
    answer.number = pending.number;
    out.push_back({call.peer, pack(answer)});
    return true;
  }

  void tell(const Failure& failure) {
    const Parcel parcel = pack(failure, id_);
    for (int other = 0; other < size(); ++other)
      if (other != rank_) out.push_back({other, parcel});
  }

  [[nodiscard]] bool are_equal(const Round& round) {
    const Signature first = round.arrival(0).first.signature();
    for (int other = 1; other < size(); ++other) {
      const Signature signature = round.arrival(other).first.signature();
      if (signature == first) continue;
      fail({join_text({"ranks have lost step in call ", round.number(), ": ", label(0), " calls ", to_string(first),
                       ", ", label(other), " calls ", to_string(signature)}),
            -1, false, nullptr});
      return false;
    }
    return true;
  }

  /// For a rank that did not come in time, or for the one at the end of the chain of those that wait for each other.
  TWILL_COLD void fail_for_time(const std::string& text, int missing) {
    if (missing < 0) return fail({text, missing, true, nullptr});
    const int culprit = waits_->culprit(rank_on_wire(missing));
    int named = missing; // a culprit that is not of this group is reached through one who is
    for (int other = 0; other < size(); ++other)
      if (rank_on_wire(other) == culprit) named = other;
    fail({join_text({text, behind(missing, culprit, " waits for ")}), named, true, nullptr});
  }
  /// "; rank 1 waits for rank 2", unless it is the culprit itself.
  [[nodiscard]] TWILL_COLD std::string behind(int other, int culprit, const char* how) const {
    if (culprit == rank_on_wire(other)) return {};
    return join_text({"; ", label(other), how, waits_->label(culprit)});
  }

  void fail_if_left(const Round& round) {
    for (int other = 0; other < size(); ++other)
      if (round.awaits(other) && peers_[at(other)].has_left && peers_[at(other)].farewell.number < round.number())
        return fail_for_leaving(other);
  }
  TWILL_COLD void fail_for_leaving(int other) {
    const bool has_thrown = peers_[at(other)].farewell.flag != 0;
    const int culprit = waits_->culprit(rank_on_wire(other)); // another may have failed it, perhaps in another group
    fail({join_text({label(other), has_thrown ? " left the group with an exception " : " left the group ",
                     peers_[at(other)].last_seen(),
                     has_thrown ? behind(other, culprit, " had waited for ") : std::string{}}),
          other, false, nullptr});
  }

  std::uint64_t id_;
  int rank_;
  std::vector<int> ranks_;
  std::vector<std::string> labels_;
  std::int64_t timeout_ms_;
  std::shared_ptr<const Waits> waits_;
  std::vector<Peer> peers_;
  Letters letters_;
  std::deque<Ticket> rounds_{};    ///< collective calls in order; only the first is under way
  std::vector<Ticket> messages_{}; ///< both sides of messages, in the order in which they were begun
  std::vector<Packet> early_{};    ///< of collective calls that this rank has not come to
  std::int64_t finished_ = 0;      ///< collective calls
  OperationTraffic traffic_{};
  bool has_failed_ = false;
  Failure failure_{};
  std::vector<std::weak_ptr<Member>> children_{};
};

} // namespace twill::inline v0::parallel::messages::inline TWILL_ISA
