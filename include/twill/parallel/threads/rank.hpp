#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Collectives of one rank of a group of threads, in memory that all ranks can address. A reduction is divided: each
// rank reduces one range of the elements from all sources and writes it to all targets, so every byte is read once and
// written once in equal shares. If only copies are needed, each rank fetches its own target. Read next:
// parallel/threads/queue.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/group/call_check.hpp>
#include <twill/parallel/group/reduction_tree.hpp>
#include <twill/parallel/threads/group.hpp>
#include <twill/parallel/threads/mailbox.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// State shared by the ranks of a group.
struct ThreadHub {
  explicit ThreadHub(std::shared_ptr<ThreadGroup> shared) : group{std::move(shared)}, mailbox{*group} {}
  std::shared_ptr<ThreadGroup> group;
  ThreadMailbox mailbox;
};

/// A group of all ranks of a new world, on devices of these names. throws: ValueError for no device, or no time
[[nodiscard]] std::shared_ptr<ThreadHub> thread_hub(std::vector<std::string> devices, std::int64_t timeout_ms);

class ThreadRank {
public:
  ThreadRank(std::shared_ptr<ThreadHub> hub, int rank)
      : hub_{std::move(hub)}, rank_{rank}, sources_(at(hub_->group->size())), targets_(at(hub_->group->size())) {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return hub_->group->size(); }
  [[nodiscard]] ThreadGroup& group() const { return *hub_->group; }
  [[nodiscard]] ThreadMailbox& mailbox() const { return hub_->mailbox; }

  /// Carries out a call that `check` has passed. A null source or target takes part without data.
  void run(const Call& call);

  /// The hub of this rank's sub-group and its rank there; nothing for a negative color.
  [[nodiscard]] std::pair<std::shared_ptr<ThreadHub>, int> split(int color, int key) const;

private:
  [[nodiscard]] std::shared_ptr<ThreadHub> make_child(const SubGroup& part) const;

  [[nodiscard]] const std::byte* source(int rank) const;
  [[nodiscard]] std::byte* target(int rank) const;

  void work(const Call& call);

  [[nodiscard]] static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
  // Copies the part that one rank has for another, if any.
  void copy(const Signature& shape, int from, int to) const;

  // Reduces this rank's range of the elements into every target, or into the root's.
  void reduce_share(const Signature& shape, bool into_all);

  void reduce_own_part(const Signature& shape, std::size_t part);

  // False when a rank takes part without data.
  [[nodiscard]] bool gather_sources(std::size_t offset_bytes);

  std::shared_ptr<ThreadHub> hub_;
  int rank_;
  // Sized at construction: between meeting and parting nothing is allocated, so nothing can throw.
  std::vector<const void*> sources_;
  std::vector<void*> targets_;
};

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/threads/rank.ipp>
#endif
