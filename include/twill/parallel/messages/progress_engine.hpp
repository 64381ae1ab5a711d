#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Progress of the groups of one network: passes packets to their group, sends the groups' packets, and waits for calls,
// up to the group's time-out. It has no thread of its own: a thread that waits, asks or begins a call makes progress
// for all, so a rank that stays away for long is a late rank. A rank in a long wait tells all others which rank it
// waits for, see parallel/messages/waits.hpp. Its functions may be called by several threads. Not in the umbrella. Read
// next: parallel/messages/communicator.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/signal.hpp>
#include <twill/parallel/group/waiting.hpp>
#include <twill/parallel/messages/member.hpp>
#include <twill/parallel/messages/packet.hpp>
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

template <Endpoint W> class ProgressEngine {
public:
  using Ticket = Member::Ticket;

  explicit ProgressEngine(W endpoint)
      : endpoint_{std::move(endpoint)}, waits_{std::make_shared<Waits>(endpoint_.rank(), all_labels())} {}
  ProgressEngine(const ProgressEngine&) = delete;
  ProgressEngine& operator=(const ProgressEngine&) = delete;
  ~ProgressEngine() {
    try {
      endpoint_.close(linger());
    } catch (...) { // the network is lost, and is not used any more
    }
  }

  /// The group of all ranks on the network.
  [[nodiscard]] std::shared_ptr<Member> join(std::int64_t timeout_ms) {
    std::vector<int> ranks;
    for (int rank = 0; rank < endpoint_.size(); ++rank) ranks.push_back(rank);
    const std::lock_guard lock(mutex_);
    timeout_ms_ = timeout_ms;
    return enter(std::make_shared<Member>(root, endpoint_.rank(), std::move(ranks), all_labels(), timeout_ms, waits_));
  }

  /// Begins a call that `check` has passed. throws: CommunicatorError
  [[nodiscard]] Ticket begin(Member& member, const Call& call, int color = 0, int key = 0) {
    const std::lock_guard lock(mutex_);
    try {
      make_progress();
      Ticket ticket = member.begin(call, color, key);
      if (waiting_ == 0) report_wait(-1); // left by a failure
      flush();
      return ticket;
    } catch (...) { // an unfinished call would write into memory after the wait for it
      member.fail(std::current_exception());
      throw;
    }
  }

  /// Waits for a call. throws: CommunicatorError
  void wait(Member& member, const Ticket& ticket) {
    const auto started = detail::now();
    const auto deadline = started + std::chrono::milliseconds(member.timeout_ms());
    const auto patience = started + std::chrono::milliseconds(member.timeout_ms()) / 4;
    const Waiting waiting{*this};
    int told = -2; // the rank that this wait has reported: other threads may wait for others
    for (int turn = 0;; ++turn) {
      bool is_moving = false;
      detail::Moment next = deadline; // at which there is more to do than to look for packets
      {
        const std::lock_guard lock(mutex_);
        const auto now = detail::now(); // before the last look at the arrived packets
        const bool is_late = now >= deadline;
        if (now < patience) next = patience;
        try {
          if (!ticket->is_done && make_progress()) turn = 0;
          if (ticket->is_done) {
            // Other waits report again. Traces of a failure stay while its group's last calls are collected.
            if (!member.has_failed() && (waiting_ == 1 || waits_->of(endpoint_.rank()) == told)) report_wait(-1);
            return;
          }
          if (!ticket->has_failed && (now >= patience || waits_->is_waited_for())) report_wait(member, *ticket, told);
          if (is_late && !ticket->has_failed) member.fail_for_time(*ticket);
          flush();
        } catch (...) { // like in `begin`
          member.fail(std::current_exception());
          throw;
        }
        if (ticket->has_failed) member.throw_if_failed();
        is_moving = !endpoint_.is_idle();
      }
      back_off(turn, is_moving, next);
    }
  }
  [[nodiscard]] bool is_over(const Ticket& ticket) {
    const std::lock_guard lock(mutex_);
    if (!ticket->is_done && !ticket->has_failed) make_progress();
    return ticket->is_done || ticket->has_failed;
  }

  /// This rank's sub-group; nothing for a negative color. throws: CommunicatorError
  [[nodiscard]] std::shared_ptr<Member> split(const std::shared_ptr<Member>& parent, int color, int key) {
    const Ticket ticket = begin(*parent, {Operation::split, {}, {}}, color, key);
    wait(*parent, ticket);
    if (color < 0) return nullptr;
    const CollectiveCall& collective = *ticket->collective;
    std::vector<detail::SplitRequest> requests;
    for (int other = 0; other < parent->size(); ++other)
      requests.push_back({collective.arrival(other).first.color, collective.arrival(other).first.key});
    detail::SubGroup part = parent->sub_group(parent->rank(), requests);
    const std::uint64_t id =
        mixed(mixed(parent->id(), static_cast<std::uint64_t>(collective.number())), static_cast<std::uint64_t>(color));
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
        last = member.last_collective();
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
    explicit Waiting(ProgressEngine& engine) : engine_{&engine} { engine.count_waiting(1); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() { engine_->count_waiting(-1); }

  private:
    ProgressEngine* engine_;
  };
  void count_waiting(int more) {
    const std::lock_guard lock(mutex_);
    waiting_ += more;
  }

  [[nodiscard]] std::vector<std::string> all_labels() const {
    std::vector<std::string> all;
    for (int rank = 0; rank < endpoint_.size(); ++rank) all.push_back(endpoint_.label(rank));
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
  static void back_off(int turn, bool is_moving, detail::Moment until) {
    if (detail::scheduler != nullptr) return detail::scheduler->pause(until);
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
    std::vector<Incoming> unknown = std::exchange(unknown_, {});
    for (const Incoming& incoming : unknown) deliver(incoming);
    flush();
    return member;
  }

  void deliver(const Incoming& incoming) {
    const Header header = header_of(incoming.packet);
    if (header.kind == Kind::waits) return waits_->take(incoming.from, header.root, header.number);
    if (header.group == root && header.kind == Kind::left) {
      ++leave_notices_;
      waits_->leave(incoming.from);
    }
    if (header.kind == Kind::failed) has_failed_ = true;
    const auto found = members_.find(header.group);
    if (found == members_.end()) {
      // From a rank that has made its sub-group already, or to a group that this one has left.
      if (!gone_.contains(header.group)) unknown_.push_back(incoming);
      return;
    }
    Member& member = *found->second;
    int from = 0;
    while (from < member.size() && member.origin(from) != incoming.from) ++from;
    if (from < member.size()) member.take(header, from, incoming.packet);
  }

  bool make_progress() { // returns whether a packet has arrived
    bool has_come = false;
    while (const std::optional<Incoming> incoming = endpoint_.poll()) {
      deliver(*incoming);
      has_come = true;
    }
    flush();
    return has_come;
  }

  // Tells all ranks of the network, so that a rank whose time-out is caused by this one knows why. Not those that have
  // left the group of all, and none once this rank has: others close the network after its leave notice.
  void report_wait(const Member& member, const Member::Pending& pending, int& told) {
    const int rank = member.awaited(pending);
    const int awaited = rank < 0 ? -1 : member.origin(rank);
    if (awaited == told && waits_->of(endpoint_.rank()) >= 0) return;
    told = awaited;
    report_wait(awaited);
  }
  void report_wait(int awaited) {
    const std::int64_t number = waits_->set_own(awaited);
    if (number == 0 || gone_.contains(root)) return;
    Header header;
    header.kind = Kind::waits;
    header.root = awaited;
    header.number = number;
    const Packet packet = pack(header);
    for (int other = 0; other < endpoint_.size(); ++other)
      if (other != endpoint_.rank() && !waits_->has_left(other)) endpoint_.send(other, packet);
  }

  void flush() {
    for (auto& [id, member] : members_)
      for (const Outgoing& outgoing : std::exchange(member->out, {}))
        endpoint_.send(member->origin(outgoing.to), outgoing.packet);
  }

  // Waits until all ranks have left the group of all and everything is sent; true when nothing can arrive any more.
  [[nodiscard]] bool linger() {
    if constexpr (!W::lingers) {
      return false;
    } else {
      const std::int64_t patience_ms = has_failed_ ? 500 : timeout_ms_;
      const detail::Moment deadline = detail::after_ms(patience_ms);
      for (int turn = 0; detail::now() < deadline; ++turn) {
        while (const std::optional<Incoming> incoming = endpoint_.poll()) deliver(*incoming);
        if (endpoint_.is_idle() && leave_notices_ >= endpoint_.size() - 1) return !has_failed_ && !has_outlived_;
        back_off(turn, !endpoint_.is_idle(), deadline);
      }
      return false;
    }
  }

  W endpoint_;
  std::shared_ptr<Waits> waits_;
  int waiting_ = 0; ///< awaited calls
  detail::Mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<Member>> members_{};
  std::vector<Incoming> unknown_{};
  std::set<std::uint64_t> gone_{};
  int leave_notices_ = 0;
  bool has_failed_ = false;
  bool has_outlived_ = false;   ///< a sub-group outlived the group of all ranks: leave notices may still come
  std::int64_t timeout_ms_ = 0; ///< of the group of all ranks
};

}}}}} // namespace twill::v0::parallel::messages::TWILL_ISA
