#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The collectives themselves, for one rank of a group of threads, in memory that all ranks can address. A reduction is
// shared out: each rank reduces one range of the elements from all sources and writes it to all targets, so every byte is
// read once and written once and no rank does more than another. Where only copies are needed, each rank fetches its own
// target. Read next: parallel/threads_queue.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/reduction_tree.hpp>
#include <twill/parallel/share.hpp>
#include <twill/parallel/threads_group.hpp>
#include <twill/parallel/threads_mail.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace twill::inline v0::parallel::detail::inline TWILL_ISA {

/// What the ranks of a group share.
struct ThreadHub {
  ThreadHub(const std::vector<std::string>& labels, std::int64_t timeout_ms)
      : ThreadHub{std::make_shared<ThreadGroup>(labels, timeout_ms)} {}
  explicit ThreadHub(std::shared_ptr<ThreadGroup> shared) : group{std::move(shared)}, mail{*group} {}
  std::shared_ptr<ThreadGroup> group;
  ThreadMail mail;
};

class ThreadRank {
public:
  ThreadRank(std::shared_ptr<ThreadHub> hub, int rank)
      : hub_{std::move(hub)}, rank_{rank}, sources_(at(hub_->group->size())), targets_(at(hub_->group->size())) {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return hub_->group->size(); }
  [[nodiscard]] ThreadGroup& group() const { return *hub_->group; }
  [[nodiscard]] ThreadMail& mail() const { return hub_->mail; }

  /// Carries out a call that `check` has passed. A null source or target takes part without data.
  void run(const Call& call) {
    if (is_point_to_point(call.operation)) return mail().wait(mail().post(call, rank_));
    group().slot(rank_).call = call;
    group().meet(rank_);
    work(call);
    group().part();
  }

  /// The hub of this rank's sub-group and its rank there; nothing for a negative color.
  [[nodiscard]] std::pair<std::shared_ptr<ThreadHub>, int> split(int color, int key) const {
    auto& mine = group().slot(rank_);
    mine.call = Call{Operation::split, {}, {}};
    mine.color = color;
    mine.key = key;
    group().meet(rank_);
    std::vector<int> members; // in order of key, then of rank
    for (int other = 0; other < size(); ++other) {
      if (group().slot(other).color != color) continue;
      members.push_back(other);
      for (std::size_t i = members.size() - 1; i > 0 && key_of(members[i - 1]) > key_of(other); --i)
        std::swap(members[i - 1], members[i]);
    }
    try {
      if (color >= 0 && members.front() == rank_) mine.child = make_child(members);
    } catch (...) {
      group().fail(rank_, std::current_exception()); // the others are told below, by the missing child
    }
    group().part();
    std::shared_ptr<ThreadHub> hub =
        color >= 0 ? std::static_pointer_cast<ThreadHub>(group().slot(members.front()).child) : nullptr;
    group().part(); // the first member may clear its slot only now
    mine.child = nullptr;
    if (color >= 0 && hub == nullptr) group().check_alive();
    int place = 0;
    while (members[at(place)] != rank_) ++place;
    return {std::move(hub), place};
  }

private:
  [[nodiscard]] int key_of(int rank) const { return group().slot(rank).key; }

  [[nodiscard]] std::shared_ptr<ThreadHub> make_child(const std::vector<int>& members) const {
    std::vector<std::string> labels;
    std::vector<int> ranks_of_all;
    for (std::size_t place = 0; place < members.size(); ++place) {
      labels.push_back(join_text({"rank ", place, " (", group().label(members[place]), ")"}));
      ranks_of_all.push_back(group().rank_of_all(members[place]));
    }
    auto child = std::make_shared<ThreadHub>(std::make_shared<ThreadGroup>(std::move(labels), group().timeout_ms(),
                                                                           group().waits(), std::move(ranks_of_all)));
    group().adopt(child->group);
    return child;
  }

  [[nodiscard]] const std::byte* source(int rank) const {
    return static_cast<const std::byte*>(group().slot(rank).call.source.data);
  }
  [[nodiscard]] std::byte* target(int rank) const {
    return static_cast<std::byte*>(group().slot(rank).call.target.data);
  }

  void work(const Call& call) {
    const Signature shape = signature_of(call, size());
    const std::size_t part = static_cast<std::size_t>(shape.count) * size_of(shape.dtype);
    switch (call.operation) {
    case Operation::all_reduce:
      return reduce_share(shape, true);
    case Operation::reduce:
      return reduce_share(shape, false);
    case Operation::reduce_scatter:
      return reduce_own_part(shape, part);
    case Operation::all_gather:
      for (int other = 0; other < size(); ++other) copy(target(rank_), at(other) * part, source(other), 0, part);
      return;
    case Operation::gather:
      return copy(target(call.peer), at(rank_) * part, source(rank_), 0, part);
    case Operation::broadcast:
      if (rank_ != call.peer) copy(target(rank_), 0, source(call.peer), 0, part);
      return;
    case Operation::scatter:
      return copy(target(rank_), 0, source(call.peer), at(rank_) * part, part);
    case Operation::all_to_all:
      for (int other = 0; other < size(); ++other)
        copy(target(rank_), at(other) * part, source(other), at(rank_) * part, part);
      return;
    default:
      return;
    }
  }

  [[nodiscard]] static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  static void copy(std::byte* to, std::size_t to_offset, const std::byte* from, std::size_t from_offset,
                   std::size_t bytes) {
    if (to == nullptr || from == nullptr || bytes == 0 || to + to_offset == from + from_offset) return;
    std::memcpy(to + to_offset, from + from_offset, bytes);
  }

  // Reduces this rank's range of the elements into every target, or into the root's.
  void reduce_share(const Signature& shape, bool into_all) {
    const auto [begin, end] = share_of(shape.count, rank_, size());
    if (begin == end || !gather_sources(0)) return;
    std::size_t used = 0;
    for (int other = 0; other < size(); ++other)
      if (into_all || other == shape.root) targets_[used++] = target(other);
    reduce_tree(shape.dtype, shape.reduction, sources_, {targets_.data(), used}, begin, end);
  }

  void reduce_own_part(const Signature& shape, std::size_t part) {
    if (part == 0 || !gather_sources(at(rank_) * part)) return;
    targets_[0] = target(rank_);
    reduce_tree(shape.dtype, shape.reduction, sources_, {targets_.data(), 1}, 0, shape.count);
  }

  // False when a rank takes part without data.
  [[nodiscard]] bool gather_sources(std::size_t offset_bytes) {
    for (int other = 0; other < size(); ++other) {
      if (source(other) == nullptr) return false;
      sources_[at(other)] = source(other) + offset_bytes;
    }
    return true;
  }

  std::shared_ptr<ThreadHub> hub_;
  int rank_;
  // Sized at construction: between meeting and parting nothing is allocated, so nothing can throw.
  std::vector<const void*> sources_;
  std::vector<void*> targets_;
};

} // namespace twill::inline v0::parallel::detail::inline TWILL_ISA
