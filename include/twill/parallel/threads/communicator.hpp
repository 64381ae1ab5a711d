#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Communicator of threads, `ThreadCommunicator<D>`: the ranks are threads of one process, each with a device.
// `thread_communicators(devices)` makes a group, one communicator for each rank, to be moved into the rank's thread;
// devices may be of several kinds. Reductions follow the tree of parallel/group/reduction_tree.hpp. Ranks on `Cpu` work
// in each other's memory; memory of another kind, GPUs included, is only accessed by its own device's stream, and is
// copied through the host. Read next: parallel/threads/ranks.hpp, which runs such a group.

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/device.hpp>
#include <twill/parallel/group/basic_communicator.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/staged_call.hpp>
#include <twill/parallel/threads/queue.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// A rank of a group of threads, for `BasicCommunicator`.
template <ComputeDevice D> class ThreadTransport {
public:
  using Device = D;
  /// A call in flight: a collective that the rank's own queue carries out, or a message that another rank takes.
  struct Ticket {
    StagedCall<D> staged;
    std::shared_ptr<ThreadQueue::Job> job{};
    ThreadMailbox::Ticket message{};
  };

  ThreadTransport(std::shared_ptr<ThreadHub> hub, int rank, const D& device)
      : hub_{std::move(hub)}, queue_{ThreadRank(hub_, rank)}, device_{device} {}

  [[nodiscard]] int rank() const { return queue_.rank().rank(); }
  [[nodiscard]] int size() const { return queue_.rank().size(); }
  [[nodiscard]] const D& device() const { return device_; }
  [[nodiscard]] std::int64_t timeout_ms() const { return hub_->group->timeout_ms(); }

  void run(const Call& call) {
    StagedCall<D> staged(device_, call, rank());
    const bool has_peer = is_point_to_point(call.operation);
    hub_->group->waiting(rank(), has_peer ? call.peer : -1,
                         [&] { has_peer ? queue_.rank().run(staged.call()) : queue_.run(staged.call()); });
    staged.finish();
  }
  [[nodiscard]] Ticket begin(const Call& call) {
    Ticket ticket{StagedCall<D>(device_, call, rank())};
    if (is_point_to_point(call.operation))
      ticket.message = hub_->mailbox.post(ticket.staged.call(), rank());
    else
      ticket.job = queue_.start(ticket.staged.call());
    return ticket;
  }
  /// The time on the steady clock at which it finished; for a collective, at which the wait ended.
  double wait(Ticket& ticket) {
    const ThreadMailbox::Ticket& message = ticket.message;
    hub_->group->waiting(rank(), message != nullptr ? message->call.peer : -1,
                         [&] { message != nullptr ? hub_->mailbox.wait(message) : ticket.job->wait(); });
    const double finished_s = message != nullptr ? message->finished_s : steady_seconds();
    ticket.staged.finish();
    return finished_s;
  }
  [[nodiscard]] bool is_done(const Ticket& ticket) const {
    return ticket.message != nullptr ? hub_->mailbox.is_done(ticket.message) : ticket.job->is_done();
  }
  [[nodiscard]] std::shared_ptr<ThreadTransport> split(int color, int key) {
    std::pair<std::shared_ptr<ThreadHub>, int> part;
    hub_->group->waiting(rank(), -1, [&] {
      queue_.drain();
      part = queue_.rank().split(color, key);
    });
    return part.first ? std::make_shared<ThreadTransport>(std::move(part.first), part.second, device_) : nullptr;
  }
  void fail(const std::exception_ptr& cause) { hub_->group->give_up(rank(), cause); }
  void leave(bool by_exception) noexcept {
    queue_.drain();
    try {
      hub_->group->leave(rank(), by_exception);
    } catch (...) { // no memory for the text: ranks that wait for this one still see that it has left
    }
  }

private:
  std::shared_ptr<ThreadHub> hub_;
  ThreadQueue queue_;
  D device_;
};

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Options of a communicator of threads.
struct ThreadOptions {
  std::int64_t timeout_ms = 300'000; ///< How long a rank waits for its peers in one call.
};

/// One rank of a group of threads.
template <ComputeDevice D> using ThreadCommunicator = BasicCommunicator<detail::ThreadTransport<D>>;
/// A started call of a communicator of threads.
template <ComputeDevice D> using ThreadHandle = typename ThreadCommunicator<D>::Handle;
static_assert(Communicator<ThreadCommunicator<Cpu>>);

/// A group with one rank for each device, in order, on devices of several kinds:
/// `thread_communicators(std::tuple{Cpu{0}, Cuda{0}})`.    throws: ValueError for a time-out below 1 ms
template <ComputeDevice... D>
requires(sizeof...(D) > 0)
    [[nodiscard]] std::tuple<ThreadCommunicator<D>...> thread_communicators(const std::tuple<D...>& devices,
                                                                            ThreadOptions options = {}) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto hub = detail::thread_hub({twill::to_string(std::get<I>(devices))...}, options.timeout_ms);
    return std::tuple<ThreadCommunicator<D>...>{ThreadCommunicator<D>(
        std::make_shared<detail::ThreadTransport<D>>(hub, static_cast<int>(I), std::get<I>(devices)))...};
  }
  (std::index_sequence_for<D...>{});
}

/// A group with one rank for each device, in order. Devices may repeat: such ranks share its cores.
template <ComputeDevice D>
[[nodiscard]] std::vector<ThreadCommunicator<D>> thread_communicators(const std::vector<D>& devices,
                                                                      ThreadOptions options = {}) {
  std::vector<std::string> names;
  for (const D& device : devices) names.push_back(twill::to_string(device));
  const auto hub = detail::thread_hub(std::move(names), options.timeout_ms);
  std::vector<ThreadCommunicator<D>> communicators;
  for (std::size_t rank = 0; rank < devices.size(); ++rank)
    communicators.emplace_back(
        std::make_shared<detail::ThreadTransport<D>>(hub, static_cast<int>(rank), devices[rank]));
  return communicators;
}

}}}} // namespace twill::v0::parallel::TWILL_ISA
