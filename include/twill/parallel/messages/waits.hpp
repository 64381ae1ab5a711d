#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Waits between the ranks of a network, as reported to this one. A rank in a long wait, or with another rank waiting
// for it meanwhile, tells all others which rank it waits for, and tells again when that is over; an entry that ended in
// a failure stays until its rank continues. Ranks are those of the network, for all groups together, as long as they
// are in the group of all: one that has left it neither sends nor receives reports. Not in the umbrella. Read next:
// parallel/messages/member.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/group/failure.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace messages { inline namespace TWILL_ISA {

class Waits final : public detail::WaitForGraph {
public:
  Waits(int rank, std::vector<std::string> labels)
      : WaitForGraph{std::move(labels)}, rank_{rank}, entries_(static_cast<std::size_t>(size())) {}

  /// The rank that one waits for; negative: none, or unknown.
  [[nodiscard]] int of(int rank) const { return entries_[at(rank)].awaited; }
  [[nodiscard]] int next_of(int rank) const override { return of(rank); }

  /// Records the rank that another waits for. An earlier report arrives later on some networks, and is dropped.
  void take(int from, int awaited, std::int64_t number) {
    Entry& entry = entries_[at(from)];
    if (number <= entry.number || awaited >= static_cast<int>(entries_.size())) return;
    entry.awaited = awaited;
    entry.number = number;
  }

  /// Records that a rank has left the group of all. Its last report stays: it may be why it left.
  void leave(int from) { entries_[at(from)].has_left = true; }
  [[nodiscard]] bool has_left(int rank) const { return entries_[at(rank)].has_left; }

  /// Sets the rank that this one waits for, or none any more. Returns the number of the report; 0 if it is none.
  [[nodiscard]] std::int64_t set_own(int awaited) {
    Entry& own = entries_[at(rank_)];
    if (own.awaited == awaited) return 0;
    own.awaited = awaited;
    return ++own.number;
  }

  /// Whether a rank that would receive the report has said that it waits for this one.
  [[nodiscard]] bool is_waited_for() const {
    for (const Entry& entry : entries_)
      if (entry.awaited == rank_ && !entry.has_left) return true;
    return false;
  }

private:
  struct Entry {
    int awaited = -1;
    std::int64_t number = 0;
    bool has_left = false;
  };

  [[nodiscard]] static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  int rank_;
  std::vector<Entry> entries_;
};

}}}}} // namespace twill::v0::parallel::messages::TWILL_ISA
