#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Failure diagnosis of a group of ranks, for every kind of transport: the progress of each rank, which rank each waits
// for, and the first failure, which ends the group with its sub-groups. If ranks wait for each other in a chain, as in
// a pipeline, they all reach their time-outs together, and only the last one, which waits for none, is at fault: an
// error names the end of the chain. Nothing here is synchronised: a transport calls it under its own lock. Read next:
// parallel/threads/group.hpp, parallel/messages/member.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/group/call_check.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// The failure that ended a group.
struct Failure {
  std::string text{};
  int rank = -1; ///< at fault, by its number in the group; negative: unknown
  bool is_timeout = false;
  std::exception_ptr cause{}; ///< the rank's exception, on transports that can carry it
  int origin = -1;            ///< the rank at fault, by its number in the group of all ranks
};

/// throws: the failure, to each caller in its own exception: a shared one would be destroyed by the last caller that
/// drops it
[[noreturn]] void throw_failure(const Failure& failure);

/// The text of an exception, as sent to other ranks.    requires: there is one
[[nodiscard]] std::string text_of(const std::exception_ptr& cause);

/// The rank that each rank waits for. Ranks are numbered as in the group of all, from which sub-groups come.
class WaitForGraph {
public:
  explicit WaitForGraph(std::vector<std::string> labels) : labels_{std::move(labels)} {}
  WaitForGraph(const WaitForGraph&) = delete;
  WaitForGraph& operator=(const WaitForGraph&) = delete;
  virtual ~WaitForGraph() = default;

  [[nodiscard]] int size() const { return static_cast<int>(labels_.size()); }
  [[nodiscard]] const std::string& label(int rank) const { return labels_[static_cast<std::size_t>(rank)]; }

  /// The rank that one waits for, or waited for when it last failed; negative: none.
  [[nodiscard]] virtual int next_of(int rank) const = 0;

  /// The end of the chain that begins with `rank`, or `rank` itself if the chain is a cycle.
  [[nodiscard]] int culprit(int rank) const;

private:
  std::vector<std::string> labels_;
};

/// Progress of a rank of a group.
struct Progress {
  std::int64_t calls = 0; ///< collective ones begun
  Signature last{};       ///< of them
  bool has_left = false;
  bool has_thrown = false; ///< and has left because of it

  /// The rank begins a collective call. Reports of earlier ones may come later.
  void begins(std::int64_t number, const Signature& call) {
    if (number <= calls) return;
    calls = number;
    last = call;
  }
  /// "after 2 collective calls, the last: barrier".
  [[nodiscard]] std::string last_seen() const;
};

/// A rank's request in a split, and the resulting sub-group: its ranks in their order, and the place of the requesting
/// rank.
struct SplitRequest {
  int color = 0;
  int key = 0;
};
struct SubGroup {
  std::vector<int> members{};
  std::vector<int> origins{};
  std::vector<std::string> labels{};
  int place = 0;
};

/// The diagnosis of one group.
class GroupState {
public:
  /// `origins` are the ranks' numbers in the group of all.
  GroupState(std::vector<std::string> labels, std::vector<int> origins, std::int64_t timeout_ms,
             std::shared_ptr<const WaitForGraph> chain)
      : labels_{std::move(labels)},
        origins_{std::move(origins)},
        timeout_ms_{timeout_ms},
        chain_{std::move(chain)},
        progress_(labels_.size()) {}
  GroupState(const GroupState&) = delete;
  GroupState& operator=(const GroupState&) = delete;
  virtual ~GroupState() = default;

  [[nodiscard]] int size() const { return static_cast<int>(labels_.size()); }
  [[nodiscard]] std::int64_t timeout_ms() const { return timeout_ms_; }
  [[nodiscard]] const std::string& label(int rank) const { return labels_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] int origin(int rank) const { return origins_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Progress& progress(int rank) { return progress_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const Progress& progress(int rank) const { return progress_[static_cast<std::size_t>(rank)]; }

  /// The sub-group of a rank: all ranks that request its color, in order of key, then of rank.
  [[nodiscard]] SubGroup sub_group(int rank, const std::vector<SplitRequest>& requests) const;

  [[nodiscard]] bool has_failed() const { return has_failed_.load(std::memory_order_relaxed); } ///< also without a lock
  [[nodiscard]] const Failure& failure() const { return failure_; } ///< requires: there is one
  void throw_if_failed() const {
    if (has_failed()) throw_failure(failure_);
  }

  /// Keeps the first failure and ends all calls, including those of the sub-groups.
  void fail(const Failure& failure) { keep(failure, true); }
  /// Keeps a failure already known to the other ranks.
  void follow(const Failure& failure) { keep(failure, false); }
  /// Makes a sub-group fail with this one.
  void adopt(const std::shared_ptr<GroupState>& child);
  /// After this its sub-groups continue without it.
  void forget_children() { children_.clear(); }

  /// Reports that a rank threw.
  void fail_for_exception(int rank, const std::exception_ptr& cause);
  /// Reports that an awaited rank has left.
  void fail_for_leaving(int rank);
  /// Reports that the peer of a call of this rank has not answered in time.
  void fail_for_silence(int rank, const Call& call);
  /// Reports that the two sides of a message do not match.
  void fail_for_sides(int rank, const Call& call, int other, const Call& theirs);
  /// Reports ranks for which `awaits(rank)` holds: they have not reached a collective call in time.
  template <class Awaits> TWILL_COLD void fail_for_missing(const Signature& call, const Awaits& awaits) {
    std::vector<int> missing;
    for (int other = 0; other < size(); ++other)
      if (awaits(other)) missing.push_back(other);
    fail_for_missing(call, missing);
  }
  /// Fails unless all ranks have made the call of rank 0; returns whether they have.
  template <class SignatureOf> [[nodiscard]] bool agree(std::int64_t number, const SignatureOf& signature) {
    for (int other = 1; other < size(); ++other) {
      if (signature(other) == signature(0)) continue;
      fail_for_order(number, signature(0), other, signature(other));
      return false;
    }
    return true;
  }

protected:
  /// Ends the calls of this group. `is_news`: the other ranks have to be told.
  virtual void end_calls(const Failure& failure, bool is_news) = 0;

private:
  void keep(const Failure& failure, bool is_news);
  void fail_for_missing(const Signature& call, const std::vector<int>& missing);
  void fail_for_order(std::int64_t number, const Signature& first, int other, const Signature& theirs);
  /// Fails because of a rank that did not come in time, or of the culprit at the end of its chain.
  void fail_for_time(const std::string& text, int missing);
  /// "; rank 1 waits for rank 2", unless it is the culprit itself.
  [[nodiscard]] std::string through(int rank, const char* how, int culprit) const;
  [[nodiscard]] std::string calls(int rank, const Call& call) const;

  std::vector<std::string> labels_;
  std::vector<int> origins_;
  std::int64_t timeout_ms_;
  std::shared_ptr<const WaitForGraph> chain_;
  std::vector<Progress> progress_;
  std::atomic<bool> has_failed_{false};
  Failure failure_{};
  std::vector<std::weak_ptr<GroupState>> children_{};
};

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/group/failure.ipp>
#endif
