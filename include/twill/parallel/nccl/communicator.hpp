#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Communicator over NCCL between GPUs: a model of `Communicator` over a table of NCCL's functions. `run` puts a call on
// the device's current stream and returns: the elements may be used by later work of that stream. `start` puts it on
// its own stream after all earlier work of the device, and `wait` lets the device's stream wait for it; started sends
// and receives go out together, so two ranks may start a send each before they receive. Tags are ignored: messages
// between two ranks arrive in the order in which they were sent. Reductions are NCCL's: their order depends on size and
// topology. Not in the umbrella. Read next: parallel/nccl/nccl.cuh.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/group/basic_communicator.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/waiting.hpp>
#include <twill/parallel/nccl/group.hpp>
#include <twill/parallel/nccl/rank.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Options of a communicator over NCCL.
struct NcclOptions {
  std::int64_t timeout_ms = 300'000; ///< how long a call may take, from being given to NCCL to the end of its kernels
  bool is_watched = true;            ///< a thread aborts what takes longer, also when no rank asks
};

/// One rank of a group of GPUs. Letting it go in order waits for the other ranks to do so too. `traffic` is what calls
/// have to move at the least; NCCL does not tell what it moves.
template <class D, nccl::Api A> using BasicNcclCommunicator = BasicCommunicator<nccl::Rank<D, A>>;

/// Gives one call of each rank of this process to NCCL in one group: for a thread that plays several ranks, whose first
/// call would otherwise wait for the others. A barrier is not waited for.
/// throws: as `run`
template <class D, nccl::Api A>
void run_together(std::vector<BasicCommunicator<nccl::Rank<D, A>>>& ranks, const std::vector<Call>& calls) {
  if (ranks.size() != calls.size())
    throw ValueError(join_text({"run_together: one call for each rank, got ", calls.size(), " for ", ranks.size()}));
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i].require(calls[i]);
  for (auto& rank : ranks) rank.transport().look();
  std::vector<bool> given(ranks.size());
  std::set<nccl::Group<A>*> groups; // in one order, whichever thread asks
  for (auto& rank : ranks) groups.insert(&rank.transport().group());
  std::vector<std::unique_lock<detail::Mutex>> unharmed;
  for (nccl::Group<A>* const group : groups) unharmed.push_back(group->without_aborts());
  int result = A::begin_group();
  int ended = nccl::success;
  bool is_open = true;
  const auto close = [&] {
    if (std::exchange(is_open, false)) ended = A::end_group();
    unharmed.clear();
  };
  std::exception_ptr error;
  try {
    for (std::size_t i = 0; i < ranks.size() && result == nccl::success; ++i)
      given[i] = ranks[i].transport().give({calls[i]}, A::stream(ranks[i].device()), close);
  } catch (...) {
    error = std::current_exception();
  }
  close(); // also after a failure: the group is the thread's
  if (error) std::rethrow_exception(error);
  if (result == nccl::success) result = ended;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    nccl::Rank<D, A>& rank = ranks[i].transport();
    if (result != nccl::success && result != nccl::in_progress)
      rank.group().fail(rank.member(), calls[i], result, typename A::Comm{});
    rank.group().throw_if_failed();
    ranks[i].count(calls[i]);
    if (given[i]) rank.take_note(calls[i], A::stream(rank.device()));
  }
}

}}}} // namespace twill::v0::parallel::TWILL_ISA
