#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// `ThreadCommunicator<D>`: the ranks are threads of one process, each with a device. `thread_communicators(devices)`
// makes a group, one communicator for each rank, to be moved into the thread that plays the rank. Reductions follow the
// tree of parallel/group/reduction_tree.hpp. Ranks on `Cpu` work in each other's memory; memory of another kind, GPUs included, is
// only ever touched by its own device's stream, and travels through the host. Read next: parallel/group/collectives.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/device.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/share.hpp>
#include <twill/parallel/group/staged_call.hpp>
#include <twill/parallel/threads/queue.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace twill::inline v0::parallel::inline TWILL_ISA {

/// How a communicator of threads behaves.
struct ThreadOptions {
  std::int64_t timeout_ms = 300'000; ///< How long a rank waits for its peers in one call.
};

/// A started call of a `ThreadCommunicator`.
template <ComputeDevice D> class ThreadHandle {
public:
  /// Of a collective that the rank's own queue carries out.
  ThreadHandle(detail::StagedCall<D> staged, std::shared_ptr<detail::ThreadHub> hub, int rank,
               std::shared_ptr<detail::ThreadQueue::Job> job)
      : staged_{std::move(staged)}, hub_{std::move(hub)}, rank_{rank}, job_{std::move(job)} {}
  /// Of a message that another rank takes.
  ThreadHandle(detail::StagedCall<D> staged, std::shared_ptr<detail::ThreadHub> hub, detail::ThreadMail::Ticket letter)
      : staged_{std::move(staged)}, hub_{std::move(hub)}, rank_{letter->rank}, letter_{std::move(letter)} {}
  ThreadHandle(ThreadHandle&&) noexcept = default;
  ThreadHandle& operator=(ThreadHandle&& other) noexcept {
    if (this != &other) {
      wait_quietly();
      staged_ = std::move(other.staged_);
      job_ = std::move(other.job_);
      hub_ = std::move(other.hub_);
      rank_ = other.rank_;
      letter_ = std::move(other.letter_);
      finished_s_ = other.finished_s_;
    }
    return *this;
  }
  ~ThreadHandle() { wait_quietly(); }

  /// Returns when the elements may be used again; a second time at once. throws: what went wrong, once
  void wait() {
    const auto job = std::exchange(job_, nullptr);
    const auto letter = std::exchange(letter_, nullptr);
    if (job == nullptr && letter == nullptr) return;
    hub_->group->waiting(rank_, letter != nullptr ? letter->call.peer : -1,
                         [&] { job != nullptr ? job->wait() : hub_->mail.wait(letter); });
    finished_s_ = job != nullptr ? steady_seconds() : letter->finished_s;
    staged_.finish();
  }

  /// When a message that was waited for was through, by the steady clock; of another call, when its wait was over.
  [[nodiscard]] double finished_s() const { return finished_s_; }

  /// Whether it is over; does not wait.
  [[nodiscard]] bool is_done() const {
    if (job_ != nullptr) return job_->is_done();
    return letter_ == nullptr || hub_->mail.is_done(letter_);
  }

private:
  // A failure that nobody asks about here has reached the group, and with it every later call.
  void wait_quietly() noexcept {
    try {
      wait();
    } catch (...) {
    }
  }

  detail::StagedCall<D> staged_;
  std::shared_ptr<detail::ThreadHub> hub_;
  int rank_ = 0;
  std::shared_ptr<detail::ThreadQueue::Job> job_;
  detail::ThreadMail::Ticket letter_;
  double finished_s_ = 0;
};

/// One rank of a group of threads. Its functions are called by one thread at a time.
/// Letting it go while others wait for this rank ends their calls with an error that names it.
template <ComputeDevice D> class ThreadCommunicator {
public:
  using Device = D;
  /// What `start` returns, to be waited for.
  using Handle = ThreadHandle<D>;

  /// Belongs to no group: the size is 0.
  ThreadCommunicator() = default;
  ThreadCommunicator(std::shared_ptr<detail::ThreadHub> hub, int rank, const D& device)
      : hub_{std::move(hub)},
        queue_{std::make_unique<detail::ThreadQueue>(detail::ThreadRank(hub_, rank))},
        device_{device},
        exceptions_{std::uncaught_exceptions()} {}
  ThreadCommunicator(ThreadCommunicator&&) noexcept = default;
  ThreadCommunicator& operator=(ThreadCommunicator&& other) noexcept {
    if (this != &other) {
      leave();
      hub_ = std::move(other.hub_);
      queue_ = std::move(other.queue_);
      device_ = other.device_;
      traffic_ = other.traffic_;
      exceptions_ = other.exceptions_;
    }
    return *this;
  }
  ~ThreadCommunicator() { leave(); }

  /// This rank's number; 0 after a move.
  [[nodiscard]] int rank() const { return queue_ ? queue_->rank().rank() : 0; }
  /// How many ranks there are; 0 after a move.
  [[nodiscard]] int size() const { return queue_ ? queue_->rank().size() : 0; }
  /// This rank's device.
  [[nodiscard]] const D& device() const { return device_; }
  /// After which a call that does not end is an error.
  [[nodiscard]] std::int64_t timeout_ms() const { return hub_ ? hub_->group->timeout_ms() : 0; }
  /// Of the calls that were given to this rank so far.
  [[nodiscard]] const OperationTraffic& traffic() const { return traffic_; }

  /// Carries out a call. throws: ValueError for a call wrong by itself, else CommunicatorError
  void run(const Call& call) {
    require_group(call);
    check(call, rank(), size());
    count(call);
    detail::StagedCall<D> staged(device_, call, rank());
    const bool has_peer = is_point_to_point(call.operation);
    hub_->group->waiting(rank(), has_peer ? call.peer : -1,
                         [&] { has_peer ? queue_->rank().run(staged.call()) : queue_->run(staged.call()); });
    staged.finish();
  }

  /// Begins a call; its elements belong to it until the handle has been waited for.
  [[nodiscard]] Handle start(const Call& call) {
    require_group(call);
    check(call, rank(), size());
    count(call);
    detail::StagedCall<D> staged(device_, call, rank());
    if (is_point_to_point(call.operation)) {
      auto letter = hub_->mail.post(staged.call(), rank());
      return Handle(std::move(staged), hub_, std::move(letter));
    }
    auto job = queue_->start(staged.call());
    return Handle(std::move(staged), hub_, rank(), std::move(job));
  }

  /// Sub-groups of equal color, ordered by key, then rank; a negative color gets an empty communicator.
  [[nodiscard]] ThreadCommunicator split(int color, int key) {
    require_group({Operation::split, {}, {}});
    count({Operation::split, {}, {}});
    std::pair<std::shared_ptr<detail::ThreadHub>, int> part;
    hub_->group->waiting(rank(), -1, [&] {
      queue_->drain();
      part = queue_->rank().split(color, key);
    });
    return part.first ? ThreadCommunicator(std::move(part.first), part.second, device_) : ThreadCommunicator();
  }

  /// Tells the group that this rank cannot go on: every call of every rank, now or later, throws an error that names it.
  void fail(const std::exception_ptr& cause) {
    if (hub_) hub_->group->fail(rank(), cause);
  }

private:
  void require_group(const Call& call) const {
    if (!queue_) throw ValueError(join_text({name(call.operation), ": this communicator belongs to no group"}));
  }
  void count(const Call& call) {
    if constexpr (D::has_memory) traffic_.add(call.operation, detail::transfer_of(call, rank(), size()));
  }
  void leave() noexcept {
    if (!queue_) return;
    queue_->drain();
    try {
      hub_->group->leave(rank(), std::uncaught_exceptions() > exceptions_);
    } catch (...) { // no memory for the text: whoever waits for this rank still sees that it has left
    }
  }

  std::shared_ptr<detail::ThreadHub> hub_;
  std::unique_ptr<detail::ThreadQueue> queue_;
  D device_{};
  OperationTraffic traffic_{};
  int exceptions_ = 0; ///< under way when this rank began: more at its end mean that one ended it
};

/// A group with one rank for each device, in order. Devices may repeat: such ranks share its cores.
template <ComputeDevice D>
[[nodiscard]] std::vector<ThreadCommunicator<D>> thread_communicators(const std::vector<D>& devices,
                                                                      ThreadOptions options = {}) {
  if (devices.empty()) throw ValueError("thread_communicators: a group has at least one device, got none");
  if (options.timeout_ms < 1)
    throw ValueError(join_text({"thread_communicators: timeout_ms is at least 1, got ", options.timeout_ms}));
  std::vector<std::string> labels;
  for (std::size_t rank = 0; rank < devices.size(); ++rank)
    labels.push_back(join_text({"rank ", rank, " on ", twill::to_string(devices[rank])}));
  const auto hub = std::make_shared<detail::ThreadHub>(std::move(labels), options.timeout_ms);
  std::vector<ThreadCommunicator<D>> communicators;
  communicators.reserve(devices.size());
  for (std::size_t rank = 0; rank < devices.size(); ++rank)
    communicators.emplace_back(hub, static_cast<int>(rank), devices[rank]);
  return communicators;
}

static_assert(Communicator<ThreadCommunicator<Cpu>>);

} // namespace twill::inline v0::parallel::inline TWILL_ISA
