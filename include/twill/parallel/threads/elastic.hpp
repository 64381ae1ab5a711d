#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Elastic training on ranks that are threads: when a rank fails, the others stop, the group is made again without it,
// or with a spare device in its place, and the function of each rank begins anew, from what was committed to an
// `ElasticState`. A failure wakes all ranks at once; a rank that does not come is noticed after the time-out, and its
// thread, which cannot be ended from outside, is waited for. Not in twill.hpp. Read next:
// parallel/data/elastic_state.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/group/waiting.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Failures that an elastic run survives, and what takes the place of a failed rank.
template <ComputeDevice D> struct ElasticOptions {
  int least = 1;                     ///< ranks of a group; with fewer the run ends in an ElasticError
  int most_restarts = 3;             ///< groups after the first, before the run ends in an ElasticError
  int tries = 1;                     ///< failures of a rank until its device is given up; 2: it is tried once more
  std::vector<D> spares{};           ///< devices that take the place of those given up, in order
  std::int64_t timeout_ms = 300'000; ///< how long a rank waits for its peers in one call
};

/// A rank at fault.
struct RankFailure {
  int restarts = 0;           ///< that came before it
  int rank = 0;               ///< its number in that group
  std::string device{};       ///< of the rank
  std::string text{};         ///< of the exception
  std::exception_ptr cause{}; ///< what the rank threw, or another rank's CommunicatorError that names it
};

/// The course of an elastic run.
struct ElasticReport {
  std::vector<RankFailure> failures{}; ///< in order
  std::vector<std::string> devices{};  ///< of the last group, by rank
  int restarts = 0;                    ///< groups after the first
  double longest_stop_s = 0;           ///< from the first exception of a group to the start of the next
};

/// An elastic run that cannot go on; the text names every failure.
class TWILL_EXPORT ElasticError : public Error {
public:
  /// The reason, and the failures up to it.
  ElasticError(const std::string& text, std::vector<RankFailure> failures)
      : Error{text}, failures_{std::move(failures)} {}

  /// All failures of the run, in order.
  [[nodiscard]] const std::vector<RankFailure>& failures() const { return failures_; }

private:
  std::vector<RankFailure> failures_;
};

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// The members of the groups of an elastic run, places in the list of its devices followed by the spares.
class ElasticMembers {
public:
  struct Limits {
    int least;
    int most_restarts;
    int tries;
  };
  /// The first `ranks` of the devices begin. throws: ValueError for limits that no run can keep
  ElasticMembers(std::vector<std::string> devices, std::size_t ranks, const Limits& limits);

  [[nodiscard]] const std::vector<std::size_t>& places() const { return places_; }
  /// A new group starts.
  void begin();
  /// Keeps the current exception of a rank, in its handler.
  void note(int rank);
  /// Makes the next group after one that ended in an exception. Returns false when no rank is at fault.
  /// throws: ElasticError
  [[nodiscard]] bool regroup();
  [[nodiscard]] ElasticReport report() const;

private:
  struct Thrown {
    int rank; ///< at fault; negative: unknown
    std::exception_ptr exception;
    bool tells_of_another;
  };
  struct Device {
    std::string name{};
    int failures = 0;
  };

  [[nodiscard]] std::vector<Thrown> at_fault();
  [[noreturn]] void give_up(const std::string& reason) const;

  std::vector<Device> devices_{};
  std::size_t spare_; ///< the next one
  Limits limits_;
  std::vector<std::size_t> places_{};
  ElasticReport report_{};
  Mutex mutex_{};
  std::vector<Thrown> thrown_{}; ///< in the present group, in order
  Moment stopped_{};             ///< at the first of them
};

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Calls `body(communicator)` for each device, in its own thread, until a group ends without an exception. After one,
/// the ranks at fault are left out or replaced, and `body` is called again on all ranks of the new group: it makes
/// network and step, restores an `ElasticState`, trains on from there, and commits. Ranks at fault are those that threw
/// anything but a CommunicatorError, so let these through; if no rank did, the one that the first CommunicatorError
/// names by its number in this group. Ranks keep their order. Under `Reproducible` a run ends in the bits of one
/// without failures.
/// throws: ElasticError; the exception itself when nobody is at fault, as when ranks make different calls; ValueError
/// for .least beyond the number of devices
template <ComputeDevice D, class F>
ElasticReport run_elastic(const std::vector<D>& devices, const ElasticOptions<D>& options, F body) {
  std::vector<D> all = devices;
  all.insert(all.end(), options.spares.begin(), options.spares.end());
  std::vector<std::string> names;
  for (const D& device : all) names.push_back(twill::to_string(device));
  detail::ElasticMembers members{
      std::move(names), devices.size(), {options.least, options.most_restarts, options.tries}};
  for (;;) {
    std::vector<D> group;
    for (const std::size_t place : members.places()) group.push_back(all[place]);
    auto communicators = thread_communicators(group, {.timeout_ms = options.timeout_ms});
    members.begin();
    try {
      run_ranks(communicators, [&](ThreadCommunicator<D>& communicator) {
        try {
          body(communicator);
        } catch (...) {
          members.note(communicator.rank());
          throw;
        }
      });
      return members.report();
    } catch (...) {
      if (!members.regroup()) throw;
    }
  }
}

}}}} // namespace twill::v0::parallel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/threads/elastic.ipp>
#endif
