#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Progress of the groups of one wire: passes packets to their group, sends the groups' packets, and waits for calls, up
// to the group's time-out. It has no thread of its own: a thread that waits, asks or begins a call makes progress for
// all, so a rank that stays away for long is a late rank. A rank in a long wait tells all others which rank it waits
// for, see parallel/messages/waits.hpp. Its functions may be called by several threads. Not in the umbrella. Read next:
// parallel/messages/communicator.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/signal.hpp>
#include <twill/parallel/messages/envelope.hpp>
#include <twill/parallel/messages/member.hpp>
#include <twill/parallel/messages/waits.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace messages { inline namespace TWILL_ISA {

template <Wire W> class Exchange {
public:
  using Ticket = Member::Ticket;

  explicit Exchange(W wire) : wire_{std::move(wire)}, waits_{std::make_shared<Waits>(wire_.rank(), all_labels())} {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() {
    try {
      wire_.close(linger());
    } catch (...) { // the wire is lost, and is not used any more
    }
  }

  /// The group of all ranks on the wire.
  [[nodiscard]] std::shared_ptr<Member> join(std::int64_t timeout_ms) {
    std::vector<int> ranks;
    for (int rank = 0; rank < wire_.size(); ++rank) ranks.push_back(rank);
    const std::lock_guard lock(mutex_);
    timeout_ms_ = timeout_ms;
    return enter(std::make_shared<Member>(root, wire_.rank(), std::move(ranks), all_labels(), timeout_ms, waits_));
  }

  /// Begins a call that `check` has passed. throws: CommunicatorError
  [[nodiscard]] Ticket begin(Member& member, const Call& call, int color = 0, int key = 0) {
    const std::lock_guard lock(mutex_);
    try {
      move_on();
      Ticket ticket = member.begin(call, color, key);
      if (waiting_ == 0) tell_of_waiting(-1); // left by a failure
      flush();
      return ticket;
    } catch (...) { // an unfinished call would write into memory after the wait for it
      member.fail(std::current_exception());
      throw;
    }
  }

  /// Waits for a call. throws: CommunicatorError
  void wait(Member& member, const Ticket& ticket) {
    const auto started = std::chrono::steady_clock::now();
    const auto deadline = started + std::chrono::milliseconds(member.timeout_ms());
    const auto patience = started + std::chrono::milliseconds(member.timeout_ms()) / 4;
    const Waiting waiting{*this};
    int told = -2; // the rank that this wait has reported: other threads may wait for others
    for (int turn = 0;; ++turn) {
      bool is_moving = false;
      {
        const std::lock_guard lock(mutex_);
        const auto now = std::chrono::steady_clock::now(); // before the last look at the arrived packets
        const bool is_late = now >= deadline;
        try {
          if (!ticket->is_done && move_on()) turn = 0;
          if (ticket->is_done) {
            // Other waits report again. Traces of a failure stay while its group's last calls are collected.
            if (!member.has_failed() && (waiting_ == 1 || waits_->of(wire_.rank()) == told)) tell_of_waiting(-1);
            return;
          }
          if (!ticket->has_failed && (now >= patience || waits_->is_waited_for()))
            tell_of_waiting(member, *ticket, told);
          if (is_late && !ticket->has_failed) member.fail_for_time(*ticket);
          flush();
        } catch (...) { // like in `begin`
          member.fail(std::current_exception());
          throw;
        }
        if (ticket->has_failed) member.throw_if_failed();
        is_moving = !wire_.is_idle();
      }
      rest(turn, is_moving);
    }
  }
  [[nodiscard]] bool is_over(const Ticket& ticket) {
    const std::lock_guard lock(mutex_);
    if (!ticket->is_done && !ticket->has_failed) move_on();
    return ticket->is_done || ticket->has_failed;
  }

  /// This rank's sub-group; nothing for a negative color. throws: CommunicatorError
  [[nodiscard]] std::shared_ptr<Member> split(const std::shared_ptr<Member>& parent, int color, int key) {
    const Ticket ticket = begin(*parent, {Operation::split, {}, {}}, color, key);
    wait(*parent, ticket);
    if (color < 0) return nullptr;
    const Round& round = *ticket->round;
    std::vector<detail::Wish> wishes;
    for (int other = 0; other < parent->size(); ++other)
      wishes.push_back({round.arrival(other).first.color, round.arrival(other).first.key});
    detail::SubGroup part = parent->sub_group(parent->rank(), wishes);
    const std::uint64_t id =
        mixed(mixed(parent->id(), static_cast<std::uint64_t>(round.number())), static_cast<std::uint64_t>(color));
    const std::lock_guard lock(mutex_);
    auto child = std::make_shared<Member>(id, part.place, std::move(part.origins), std::move(part.labels),
                                          parent->timeout_ms(), waits_);
    parent->adopt(child);
    return enter(std::move(child));
  }

  void fail(Member& member, const std::exception_ptr& cause) {
    const std::lock_guard lock(mutex_);
    member.fail(cause);
    flush();
  }

  /// Finishes started calls, unless an exception ends the rank, and tells the others.
  void leave(Member& member, bool by_exception) {
    while (!by_exception) {
      Ticket last;
      {
        const std::lock_guard lock(mutex_);
        if (!member.is_busy()) break;
        last = member.last_round();
      }
      wait(member, last);
    }
    const std::lock_guard lock(mutex_);
    member.leave(by_exception);
    flush();
    member.abandon();
    has_failed_ = has_failed_ || member.has_failed() || by_exception;
    has_outlived_ = has_outlived_ || gone_.contains(root);
    members_.erase(member.id());
    gone_.insert(member.id());
  }

private:
  static constexpr std::uint64_t root = 1;

  /// Marks a call as awaited.
  class Waiting {
  public:
    explicit Waiting(Exchange& exchange) : exchange_{&exchange} { exchange.count_waiting(1); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() { exchange_->count_waiting(-1); }

  private:
    Exchange* exchange_;
  };
  void count_waiting(int more) {
    const std::lock_guard lock(mutex_);
    waiting_ += more;
  }

  [[nodiscard]] std::vector<std::string> all_labels() const {
    std::vector<std::string> all;
    for (int rank = 0; rank < wire_.size(); ++rank) all.push_back(wire_.label(rank));
    return all;
  }

  // Numbers of groups are computed, not negotiated: by the mixing step of splitmix64 (Steele, Lea, Flood 2014).
  [[nodiscard]] static std::uint64_t mixed(std::uint64_t id, std::uint64_t with) {
    std::uint64_t x = id * 0x9E3779B97F4A7C15U + with + 0x632BE59BD9B4E019U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
  }

  // A little longer each time: ranks may outnumber cores. A small packet arrives as soon as its sender is there. A
  // large one in flight moves some kilobytes each time that both sides look, so sleeping between looks slows both down.
  static void rest(int turn, bool is_moving) {
    using std::chrono::microseconds;
    constexpr int spins = 200;
    const int yields = is_moving ? 2000 : 50;
    if (turn < spins && !is_moving)
      twill::cpu::spin_pause();
    else if (turn < spins + yields)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(microseconds(is_moving || turn < spins + yields + 150 ? 20 : 250));
  }

  // The functions below are called with the lock held.
  std::shared_ptr<Member> enter(std::shared_ptr<Member> member) {
    members_[member->id()] = member;
    std::vector<Packet> unknown = std::exchange(unknown_, {});
    for (const Packet& packet : unknown) deliver(packet);
    flush();
    return member;
  }

  void deliver(const Packet& packet) {
    const Envelope envelope = envelope_of(packet.parcel);
    if (envelope.kind == Kind::waits) return waits_->take(packet.from, envelope.root, envelope.number);
    if (envelope.group == root && envelope.kind == Kind::left) {
      ++farewells_;
      waits_->leave(packet.from);
    }
    if (envelope.kind == Kind::failed) has_failed_ = true;
    const auto found = members_.find(envelope.group);
    if (found == members_.end()) {
      // From a rank that has made its sub-group already, or to a group that this one has left.
      if (!gone_.contains(envelope.group)) unknown_.push_back(packet);
      return;
    }
    Member& member = *found->second;
    int from = 0;
    while (from < member.size() && member.origin(from) != packet.from) ++from;
    if (from < member.size()) member.take(envelope, from, packet.parcel);
  }

  bool move_on() { // returns whether a packet has arrived
    bool has_come = false;
    while (const std::optional<Packet> packet = wire_.poll()) {
      deliver(*packet);
      has_come = true;
    }
    flush();
    return has_come;
  }

  // Tells all ranks of the wire, so that a rank whose time-out is caused by this one knows why. Not those that have
  // left the group of all, and none once this rank has: others close the wire after its farewell.
  void tell_of_waiting(const Member& member, const Member::Pending& pending, int& told) {
    const int awaited = member.awaited(pending);
    const int whom = awaited < 0 ? -1 : member.origin(awaited);
    if (whom == told && waits_->of(wire_.rank()) >= 0) return;
    told = whom;
    tell_of_waiting(whom);
  }
  void tell_of_waiting(int whom) {
    const std::int64_t number = waits_->set_own(whom);
    if (number == 0 || gone_.contains(root)) return;
    Envelope envelope;
    envelope.kind = Kind::waits;
    envelope.root = whom;
    envelope.number = number;
    const Parcel parcel = pack(envelope);
    for (int other = 0; other < wire_.size(); ++other)
      if (other != wire_.rank() && !waits_->has_left(other)) wire_.send(other, parcel);
  }

  void flush() {
    for (auto& [id, member] : members_)
      for (const Outgoing& packet : std::exchange(member->out, {}))
        wire_.send(member->origin(packet.to), packet.parcel);
  }

  // Waits until all ranks have left the group of all and everything is sent; true when nothing can arrive any more.
  [[nodiscard]] bool linger() {
    if constexpr (!W::lingers) {
      return false;
    } else {
      const std::int64_t patience_ms = has_failed_ ? 500 : timeout_ms_;
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(patience_ms);
      for (int turn = 0; std::chrono::steady_clock::now() < deadline; ++turn) {
        while (const std::optional<Packet> packet = wire_.poll()) deliver(*packet);
        if (wire_.is_idle() && farewells_ >= wire_.size() - 1) return !has_failed_ && !has_outlived_;
        rest(turn, !wire_.is_idle());
      }
      return false;
    }
  }

  W wire_;
  std::shared_ptr<Waits> waits_;
  int waiting_ = 0; ///< awaited calls
  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<Member>> members_{};
  std::vector<Packet> unknown_{};
  std::set<std::uint64_t> gone_{};
  int farewells_ = 0;
  bool has_failed_ = false;
  bool has_outlived_ = false;   ///< a sub-group outlived the group of all ranks: farewells may still come
  std::int64_t timeout_ms_ = 0; ///< of the group of all ranks
};

}}}}} // namespace twill::v0::parallel::messages::TWILL_ISA
