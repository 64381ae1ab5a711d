#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A rank of a group of GPUs that talk through NCCL: a model of `Communicator` over a table of NCCL's functions. `run` puts a
// call on the device's current stream and returns: the elements may be used by later work of that stream. `start` puts it
// on a stream of its own behind what the device was given so far, and `wait` lets the device's stream wait for it; sends
// and receives that were started go out together, so two ranks may start a send each before they receive. Tags are not
// told apart: messages between two ranks arrive in the order in which they were sent. Reductions are NCCL's: their order
// depends on size and topology. Not in the umbrella. Read next: parallel/nccl/nccl.cuh.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/group/call_check.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/share.hpp>
#include <twill/parallel/nccl/group.hpp>
#include <twill/parallel/nccl/rank.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace twill::inline v0::parallel::inline TWILL_ISA {

/// How a communicator over NCCL behaves.
struct NcclOptions {
  std::int64_t timeout_ms = 300'000; ///< how long a call may take, from being given to NCCL to the end of its kernels
  bool is_watched = true;            ///< a thread aborts what takes longer, also when nobody asks
};

/// A started call. `wait` does not block: it orders the device's later work behind the call.
template <class D, nccl::Api A> class NcclHandle {
public:
  /// Of a call that ends at this mark of the rank's stream.
  NcclHandle(nccl::Rank<D, A>& rank, typename A::Mark mark) : rank_{&rank}, mark_{std::move(mark)} {}
  /// Of a send or receive that goes out with the next flush.
  explicit NcclHandle(nccl::Rank<D, A>& rank) : rank_{&rank}, flush_{rank.flushes() + 1} {}
  NcclHandle(NcclHandle&& other) noexcept
      : rank_{std::exchange(other.rank_, nullptr)}, mark_{std::move(other.mark_)}, flush_{other.flush_} {}
  NcclHandle& operator=(NcclHandle&& other) noexcept {
    if (this == &other) return *this;
    wait_quietly();
    rank_ = std::exchange(other.rank_, nullptr);
    mark_ = std::move(other.mark_);
    flush_ = other.flush_;
    return *this;
  }
  ~NcclHandle() { wait_quietly(); }

  /// Later work of the device's stream may use the elements; a second time at once. throws: what went wrong, once
  void wait() {
    nccl::Rank<D, A>* const rank = std::exchange(rank_, nullptr);
    if (rank == nullptr) return;
    if (flush_ > rank->flushes()) rank->flush();
    rank->join(flush_ > 0 ? rank->flushed() : mark_);
  }
  /// Whether its kernels are done.
  [[nodiscard]] bool is_done() const {
    if (rank_ == nullptr) return true;
    if (flush_ > rank_->flushes()) rank_->flush();
    return A::has_passed(flush_ > 0 ? rank_->flushed() : mark_);
  }

private:
  void wait_quietly() noexcept {
    try {
      wait();
    } catch (...) { // the group has failed, and every later call says so
    }
  }

  nccl::Rank<D, A>* rank_;
  typename A::Mark mark_{};
  int flush_ = 0; ///< number of the flush that sends it; 0 for collectives
};

/// One rank of a group of GPUs. Its functions are called by one thread at a time. Letting it go in order waits for the
/// other ranks to do so too.
template <class D, nccl::Api A> class BasicNcclCommunicator {
public:
  using Device = D;
  /// What `start` returns, to be waited for.
  using Handle = NcclHandle<D, A>;

  /// Belongs to no group: the size is 0.
  BasicNcclCommunicator() = default;
  explicit BasicNcclCommunicator(std::unique_ptr<nccl::Rank<D, A>> rank) : rank_{std::move(rank)} {}

  /// This rank's number; 0 after a move.
  [[nodiscard]] int rank() const { return rank_ ? rank_->member().rank : 0; }
  /// How many ranks there are; 0 after a move.
  [[nodiscard]] int size() const { return rank_ ? rank_->member().size : 0; }
  /// The GPU of this rank.
  [[nodiscard]] D device() const { return rank_ ? rank_->device() : D{}; }
  /// After which a call that does not end is an error.
  [[nodiscard]] std::int64_t timeout_ms() const { return rank_ ? rank_->group().timeout_ms() : 0; }
  /// What the calls so far have to move at the least; NCCL does not tell what it moves.
  [[nodiscard]] const OperationTraffic& traffic() const { return traffic_; }

  /// Gives a call to the device's current stream; a barrier also waits for the other ranks.
  /// throws: ValueError for a call wrong by itself, else CommunicatorError
  void run(const Call& call) {
    require(call);
    count(call);
    rank_->enqueue({call}, A::stream(rank_->device()));
    if (call.operation == Operation::barrier) rank_->finish();
  }

  /// The rank behind it, for functions of this layer. requires: size() > 0
  [[nodiscard]] nccl::Rank<D, A>& state() { return *rank_; }

  /// Refuses a call that is wrong by itself. throws: ValueError
  void require(const Call& call) const {
    if (rank_ == nullptr)
      throw ValueError(join_text({name(call.operation), ": this communicator belongs to no group"}));
    check(call, rank(), size());
  }

  /// Begins a call beside the device's own work; its elements belong to it until the handle has been waited for.
  [[nodiscard]] Handle start(const Call& call) {
    require(call);
    count(call);
    if (is_point_to_point(call.operation)) {
      rank_->postpone(call);
      return Handle(*rank_);
    }
    rank_->flush();
    const auto side = rank_->fork();
    rank_->enqueue({call}, side);
    return Handle(*rank_, A::mark(rank_->device().index, side));
  }

  /// Sub-groups of equal color, ordered by key, then rank; a negative color gets an empty communicator.
  [[nodiscard]] BasicNcclCommunicator split(int color, int key) {
    if (rank_ == nullptr) throw ValueError("split: this communicator belongs to no group");
    count({Operation::split, {}, {}});
    return BasicNcclCommunicator(rank_->split(color, key));
  }

  /// Tells the group that this rank cannot go on: kernels under way are aborted in this process, and ranks of other
  /// processes lose their connection to it.
  void fail(const std::exception_ptr& cause) {
    if (rank_) rank_->group().fail(rank_->member(), cause);
  }

  /// Waits on the host until the kernels of all calls are done, while errors and the time-out are looked at; a plain
  /// `synchronize(device)` relies on the watching thread for that. throws: CommunicatorError
  void finish() {
    if (rank_) rank_->finish();
  }

  /// Adds a call to the traffic, for functions of this layer.
  void count(const Call& call) { traffic_.add(call.operation, detail::transfer_of(call, rank(), size())); }

private:
  std::unique_ptr<nccl::Rank<D, A>> rank_;
  OperationTraffic traffic_{};
};

/// Gives one call of each rank of this process to NCCL in one group: for a thread that plays several ranks, whose first
/// call would otherwise wait for the others. A barrier is not waited for.
/// throws: as `run`
template <class D, nccl::Api A>
void run_together(std::vector<BasicNcclCommunicator<D, A>>& ranks, const std::vector<Call>& calls) {
  if (ranks.size() != calls.size())
    throw ValueError(join_text({"run_together: one call for each rank, got ", calls.size(), " for ", ranks.size()}));
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i].require(calls[i]);
  for (auto& rank : ranks) rank.state().look();
  std::vector<bool> given(ranks.size());
  std::set<nccl::Group<A>*> groups; // in one order, whichever thread asks
  for (auto& rank : ranks) groups.insert(&rank.state().group());
  std::vector<std::unique_lock<std::mutex>> unharmed;
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
      given[i] = ranks[i].state().give({calls[i]}, A::stream(ranks[i].device()), close);
  } catch (...) {
    error = std::current_exception();
  }
  close(); // also after a failure: the group is the thread's
  if (error) std::rethrow_exception(error);
  if (result == nccl::success) result = ended;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    nccl::Rank<D, A>& rank = ranks[i].state();
    if (result != nccl::success && result != nccl::in_progress)
      rank.group().fail(rank.member(), calls[i], result, typename A::Comm{});
    rank.group().throw_if_failed();
    ranks[i].count(calls[i]);
    if (given[i]) rank.take_note(calls[i], A::stream(rank.device()));
  }
}

} // namespace twill::inline v0::parallel::inline TWILL_ISA
