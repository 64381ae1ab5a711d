#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Whom each rank of a group of threads waits for, in the group itself or in one of its sub-groups. Where ranks wait for each
// other in a chain, as in a pipeline, all of them run into their time-outs at once, and only the last one, who waits for nobody, is
// at fault: whoever is first follows the chain to its end. An entry that ended in a failure stays and tells who was blamed, since
// others may still be on their way to it. What ranks have thrown is kept here, too, until the last of the groups goes, so that
// no rank's thread destroys what another one has just read. Read next: parallel/threads/group.hpp.

#include <twill/core/config.hpp>

#include <cstddef>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace twill::inline v0::parallel::detail::inline TWILL_ISA {

/// Ranks are numbered as in the group that all sub-groups come from.
class ThreadWaits {
public:
  /// Tells whom a call that is under way waits for; negative: for nobody. It is asked while the call goes on.
  class Asked {
  public:
    virtual ~Asked() = default;
    [[nodiscard]] virtual int waits_for() = 0;
  };

  explicit ThreadWaits(std::vector<std::string> labels) : labels_{std::move(labels)}, entries_(labels_.size()) {}

  [[nodiscard]] const std::string& label(int rank) const { return labels_[static_cast<std::size_t>(rank)]; }

  /// A rank begins to wait.    requires: `asked` lives until it ends
  void begin(int rank, Asked& asked);
  /// It goes on; `blamed` is whom it has waited for in vain, or negative.
  void end(int rank, int blamed);

  /// The end of the chain that begins with `rank`, or `rank` itself where it leads back.    requires: no group is locked
  [[nodiscard]] int culprit(int rank);

  /// Whom a rank has waited for in vain, or negative.    requires: no group is locked
  [[nodiscard]] int blamed_by(int rank);

  /// Keeps what a rank has thrown.
  void keep(const std::exception_ptr& cause);

private:
  struct Entry {
    std::mutex mutex{};
    Asked* asked = nullptr;
    int blamed = -1;
  };

  // Under the entry's lock the call cannot end, so that its group is there.
  [[nodiscard]] int next_of(int rank);

  std::vector<std::string> labels_;
  std::vector<Entry> entries_;
  std::mutex mutex_{};
  std::vector<std::exception_ptr> causes_{};
};

} // namespace twill::inline v0::parallel::detail::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/threads/waits.ipp>
#endif
