#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a group of threads and of all its sub-groups: the lock that every group of them works under, and whom each rank
// waits for. A rank says so when a call begins to wait; which rank of a collective call is missing is looked up when it is
// asked. An entry that ended in a failure stays and tells who was blamed, since others may still be on their way to it.
// The exceptions of ranks are kept until the last of the groups goes, so that no rank's thread destroys what another has just
// read. Read next: parallel/threads/group.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/group/failure.hpp>

#include <cstddef>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace twill::inline v0::parallel::detail::inline TWILL_ISA {

class ThreadGroup;

class ThreadWorld final : public WaitChain {
public:
  /// A call that a rank waits in. Negative `peer`: a collective one.
  struct Wait {
    const ThreadGroup* group = nullptr;
    int rank = 0; ///< as the group counts
    int peer = -1;
  };

  explicit ThreadWorld(std::vector<std::string> labels)
      : WaitChain{std::move(labels)}, entries_(static_cast<std::size_t>(size())) {}

  [[nodiscard]] std::mutex& mutex() { return mutex_; }

  /// A rank begins to wait.
  void begin(int rank, const Wait& wait);
  /// It goes on; `blamed` is the rank that it has waited for in vain, or negative.
  void end(int rank, int blamed);

  /// requires: `mutex()` is locked
  [[nodiscard]] int next_of(int rank) const override;
  /// Keeps what a rank has thrown.    requires: `mutex()` is locked
  void keep(const std::exception_ptr& cause) { causes_.push_back(cause); }

private:
  struct Entry {
    mutable std::mutex mutex{}; ///< under it the call cannot end, so that its group is there
    Wait wait{};
    int blamed = -1;
  };

  std::mutex mutex_{}; ///< before that of an entry
  std::vector<Entry> entries_;
  std::vector<std::exception_ptr> causes_{};
};

} // namespace twill::inline v0::parallel::detail::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/threads/world.ipp>
#endif
