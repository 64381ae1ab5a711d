#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Waiting ranks of a wire and the ranks that they wait for, as far as this one was told. A rank that waits for long, or
// knows that another waits for it meanwhile, tells all others for whom, and tells again when that is over; an entry
// that ended in a failure stays until its rank goes on. Ranks are those of the wire, for all groups together, as long
// as they are in the group of all: one that has left it tells no more and is told nothing. Not in the umbrella. Read
// next: parallel/messages/member.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/group/failure.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace messages { inline namespace TWILL_ISA {

class Waits final : public detail::WaitChain {
public:
  Waits(int rank, std::vector<std::string> labels)
      : WaitChain{std::move(labels)}, rank_{rank}, entries_(static_cast<std::size_t>(size())) {}

  /// The rank that one waits for; negative: none, or unknown.
  [[nodiscard]] int of(int rank) const { return entries_[at(rank)].whom; }
  [[nodiscard]] int next_of(int rank) const override { return of(rank); }

  /// A rank tells whom it waits for. What it said before comes later on some wires, and is no news.
  void take(int from, int whom, std::int64_t number) {
    Entry& entry = entries_[at(from)];
    if (number <= entry.number || whom >= static_cast<int>(entries_.size())) return;
    entry.whom = whom;
    entry.number = number;
  }

  /// A rank has left the group of all. What it said last stays: it may be why it left.
  void leave(int from) { entries_[at(from)].has_left = true; }
  [[nodiscard]] bool has_left(int rank) const { return entries_[at(rank)].has_left; }

  /// This rank waits for another, or for none any more. The number of the news; 0 where it is none.
  [[nodiscard]] std::int64_t set_own(int whom) {
    Entry& own = entries_[at(rank_)];
    if (own.whom == whom) return 0;
    own.whom = whom;
    return ++own.number;
  }

  /// Whether a rank that would hear of it has told that it waits for this one.
  [[nodiscard]] bool is_waited_for() const {
    for (const Entry& entry : entries_)
      if (entry.whom == rank_ && !entry.has_left) return true;
    return false;
  }

private:
  struct Entry {
    int whom = -1;
    std::int64_t number = 0;
    bool has_left = false;
  };

  [[nodiscard]] static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  int rank_;
  std::vector<Entry> entries_;
};

}}}}} // namespace twill::v0::parallel::messages::TWILL_ISA
