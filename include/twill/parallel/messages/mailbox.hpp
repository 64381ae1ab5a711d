#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Mailbox of one rank: messages between two ranks of a group. Those of one tag are numbered, so the network may deliver
// them in any order; a send is done when its message was taken, which bounds the buffers and exposes a message without
// a receiver. Counts tell whether anything can still arrive from a rank that has left. Not in the umbrella. Read next:
// parallel/messages/member.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/messages/packet.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace messages { inline namespace TWILL_ISA {

class Mailbox {
public:
  explicit Mailbox(int size) : counts_(static_cast<std::size_t>(size)) {}

  /// The numbers of this rank's next message to a peer, and of the next to be taken from one.
  [[nodiscard]] std::int64_t next_send(int peer, int tag) {
    ++of(peer).sent;
    return ++sent_[{peer, tag}];
  }
  [[nodiscard]] std::int64_t next_receive(int peer, int tag) { return ++received_[{peer, tag}]; }

  void arrive(int from, const Header& header, const Packet& packet) {
    ++of(from).arrived;
    inbox_[{from, header.tag, header.number}] = packet;
  }
  /// The message of that number, or an empty packet.
  [[nodiscard]] Packet collect(int from, int tag, std::int64_t number) {
    const auto found = inbox_.find({from, tag, number});
    if (found == inbox_.end()) return {};
    Packet packet = found->second;
    inbox_.erase(found);
    ++of(from).taken;
    return packet;
  }

  void acknowledge(int from, const Header& header) {
    ++of(from).acknowledged;
    acknowledgements_.insert({from, header.tag, header.number});
  }
  /// Whether the peer has taken this message; true only once.
  [[nodiscard]] bool take_acknowledgement(int peer, int tag, std::int64_t number) {
    return acknowledgements_.erase({peer, tag, number}) > 0;
  }

  [[nodiscard]] std::int64_t sent_to(int peer) const { return counts_[static_cast<std::size_t>(peer)].sent; }
  [[nodiscard]] std::int64_t taken_from(int peer) const { return counts_[static_cast<std::size_t>(peer)].taken; }

  /// Whether a packet that a call waits for may still be in flight from a rank that has left.
  [[nodiscard]] bool may_still_come(const Call& call, const Header& leave_notice) {
    const Counts& counts = of(call.peer);
    return call.operation == Operation::receive ? counts.arrived < leave_notice.count
                                                : counts.acknowledged < leave_notice.taken;
  }

private:
  struct Key {
    int peer = 0;
    int tag = 0;
    std::int64_t number = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Counts {
    std::int64_t sent = 0;
    std::int64_t taken = 0;
    std::int64_t arrived = 0;
    std::int64_t acknowledged = 0;
  };

  [[nodiscard]] Counts& of(int peer) { return counts_[static_cast<std::size_t>(peer)]; }

  std::vector<Counts> counts_;
  std::map<std::pair<int, int>, std::int64_t> sent_{};
  std::map<std::pair<int, int>, std::int64_t> received_{};
  std::map<Key, Packet> inbox_{};
  std::set<Key> acknowledgements_{};
};

}}}}} // namespace twill::v0::parallel::messages::TWILL_ISA
