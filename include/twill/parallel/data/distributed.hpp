#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Distributed data parallelism on one rank: every rank, a thread or a process, has its own network on its own device
// and its own rows. Weights and buffers start as rank 0's and are changed identically everywhere, so they stay equal. A
// step reduces gradients in buckets during the backward pass, see parallel/data/distributed_step.hpp. Any communicator
// can be used. For several devices in one thread see parallel/data/data_parallel.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/kernel/rank_group.hpp>
#include <twill/nn/network.hpp>
#include <twill/parallel/data/buckets.hpp>
#include <twill/parallel/group/communicator.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Weights of the ranks' gradients.
enum class Share : std::uint8_t {
  rows, ///< by their rows: the gradient of the mean over all rows of all ranks, for any shards
  even, ///< equally, like PyTorch: equal to the former for even shards only
};

/// Options of distributed data parallelism: buckets and weights of gradients.
struct DistributedOptions {
  BucketOptions buckets{};        ///< their sizes
  Share share = Share::rows;      ///< the weight of a rank's gradient
  bool broadcasts_buffers = true; ///< those of rank 0, before each synchronised step
};

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// A hash of the names, types and shapes of all weights and buffers.
[[nodiscard]] std::uint64_t fingerprint(ListView<graph::ParameterInfo> infos);

/// The places of a rank along the axes that divide weights, as the digits of one number.
/// throws: ValueError naming a weight that is divided along an axis of which there is no group
[[nodiscard]] std::int64_t places_of_parts(ListView<graph::ParameterInfo> infos, const kernel::RankGroups& groups);

/// Refuses replicas that hold different weights, or different parts of one. `of_ranks`: of each rank the fingerprint,
/// then the places. throws: ValueError naming a rank, and the weight and axis if it is a part
void require_replicas(ListView<graph::ParameterInfo> infos, std::span<const std::int64_t> of_ranks);

/// Host numbers exchanged between all ranks, through the device if the communicator requires that.
template <Communicator C, std::size_t N> class HostNumbers {
  using D = typename C::Device;
  static constexpr bool on_host = std::same_as<D, Cpu>;

public:
  explicit HostNumbers(const C& communicator) : all_(N * static_cast<std::size_t>(communicator.size())) {
    if constexpr (!on_host)
      staged_ = memory::Buffer<D>(communicator.device(), (all_.size() + N) * sizeof(std::int64_t));
  }

  /// The bytes of it on the device.
  [[nodiscard]] std::size_t bytes() const { return staged_.bytes(); }

  /// Own numbers in, those of rank 0, 1, ... out. `run(call)` carries out the call.
  template <class Run> std::span<const std::int64_t> exchange(const std::array<std::int64_t, N>& own, const Run& run) {
    std::array<std::int64_t, N> mine = own;
    std::int64_t* source = mine.data();
    std::int64_t* target = all_.data();
    if constexpr (!on_host) {
      target = static_cast<std::int64_t*>(staged_.data());
      source = target + all_.size();
      copy_bytes(staged_.device(), source, Cpu{}, mine.data(), N * sizeof(std::int64_t), CopyOptions{});
    }
    const auto count = static_cast<std::int64_t>(all_.size());
    run(Call::all_gather({source, static_cast<std::int64_t>(N), DType::int64}, {target, count, DType::int64}));
    if constexpr (!on_host)
      copy_bytes(Cpu{}, all_.data(), staged_.device(), target, all_.size() * sizeof(std::int64_t), CopyOptions{});
    return all_;
  }

private:
  std::vector<std::int64_t> all_;
  memory::Buffer<D> staged_{};
};

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// This rank's replica of a network. Network and communicator have to outlive it.
template <class Network, parallel::Communicator C> class DistributedDataParallel {
  using D = typename Network::device_type;
  static_assert(Network::slots == 1,
                "twill: DistributedDataParallel: the model puts parts into several device slots, a "
                "rank has one device; train it without ranks");
  static_assert(std::same_as<D, typename C::Device>,
                "twill: DistributedDataParallel: network and communicator are for one kind of device");

public:
  using network_type = Network;
  using communicator_type = C;

  /// Copies the weights and buffers of rank 0 to all ranks.
  /// throws: DeviceError unless network and communicator are on one device, ValueError naming a rank with another
  /// model, or with another part of a weight that is divided over ranks: replicas of divided layers are the ranks with
  /// one place along the axis; CommunicatorError; an exception of one rank ends the call on all
  DistributedDataParallel(Network& network, C& communicator, parallel::DistributedOptions options = {})
      : network_{&network}, communicator_{&communicator}, options_{options} {
    telling_others([&] {
      require_valid();
      require_one_model();
      gather_buffers();
    });
    synchronise();
  }

  /// The wrapped network.
  [[nodiscard]] Network& module() const { return *network_; }
  /// The communicator of its ranks.
  [[nodiscard]] C& communicator() const { return *communicator_; }
  /// This rank's number.
  [[nodiscard]] int rank() const { return communicator_->rank(); }
  /// The number of ranks.
  [[nodiscard]] int size() const { return communicator_->size(); }
  /// The options given.
  [[nodiscard]] const parallel::DistributedOptions& options() const { return options_; }

  /// Copies rank 0's weights and buffers to all ranks; needed after changes by other code.
  /// throws: CommunicatorError, ValueError while the weights are in parts
  void synchronise() {
    network_->state()->require_whole("synchronise");
    telling_others([&] { broadcast([](graph::Role) { return true; }); });
    network_->state()->note_update();
  }

  /// Copies rank 0's buffers, such as running statistics, to all ranks: one call for each element type.
  void synchronise_buffers() {
    telling_others([&] {
      for (const Travelling& buffers : travelling_) broadcast(buffers);
    });
  }

  /// The device memory in which buffers are sent.
  [[nodiscard]] std::size_t staged_bytes() const { return staged_.bytes(); }

  /// Carries out a call of this rank. The communicator counts its traffic.
  void run(const parallel::Call& call) { communicator_->run(call); }
  /// Begins a call of this rank; its handle waits for the end.
  [[nodiscard]] auto start(const parallel::Call& call) { return communicator_->start(call); }

  /// Calls f; an exception of f ends the other ranks' calls, too, and those of ranks that share this replica.
  template <class F> void telling_others(const F& f) {
    try {
      f();
    } catch (...) {
      communicator_->fail(std::current_exception());
      network_->state()->groups.fail(std::current_exception());
      throw;
    }
  }

private:
  void require_valid() const {
    if (!(network_->device() == communicator_->device()))
      throw DeviceError(join_text({"DistributedDataParallel: the network lies on ",
                                   twill::to_string(network_->device()), ", the communicator on ",
                                   twill::to_string(communicator_->device()), "; move the network with to(device)"}));
    if (options_.buckets.first_bucket_bytes < 1 || options_.buckets.bucket_bytes < 1)
      throw ValueError(join_text({"DistributedDataParallel: a bucket holds at least 1 byte, got ",
                                  options_.buckets.first_bucket_bytes, " and ", options_.buckets.bucket_bytes}));
  }

  template <class Chosen> void broadcast(const Chosen& chosen) {
    const auto& state = *network_->state();
    for (std::size_t i = 0; i < state.infos.size(); ++i)
      if (const graph::ParameterInfo& info = state.infos[i]; chosen(info.role))
        run(parallel::Call::broadcast({state.buffers[i].data(), info.shape.elements().factor, info.dtype}, 0));
  }

  /// Buffers of one element type, by their numbers, and the elements of all of them.
  struct Travelling {
    DType dtype = DType::float32;
    std::vector<std::size_t> parameters{};
    std::int64_t count = 0;
  };

  /// Sorts the buffers by type and allocates memory for those sent together.
  void gather_buffers() {
    const auto& state = *network_->state();
    for (std::size_t i = 0; i < state.infos.size(); ++i) {
      const graph::ParameterInfo& info = state.infos[i];
      if (info.role != graph::Role::buffer) continue;
      std::size_t place = 0;
      while (place < travelling_.size() && travelling_[place].dtype != info.dtype) ++place;
      if (place == travelling_.size()) travelling_.push_back({info.dtype, {}, 0});
      travelling_[place].parameters.push_back(i);
      travelling_[place].count += info.shape.elements().factor;
    }
    std::size_t bytes = 0;
    for (const Travelling& buffers : travelling_)
      if (buffers.parameters.size() > 1)
        bytes = std::max(bytes, static_cast<std::size_t>(buffers.count) * size_of(buffers.dtype));
    staged_ = memory::Buffer<D>(state.device, bytes);
  }

  void broadcast(const Travelling& buffers) {
    const auto& state = *network_->state();
    if (buffers.parameters.size() == 1)
      return run(
          parallel::Call::broadcast({state.buffers[buffers.parameters[0]].data(), buffers.count, buffers.dtype}, 0));
    const auto copy_all = [&](bool to_network) {
      auto* staged = static_cast<std::byte*>(staged_.data());
      for (const std::size_t i : buffers.parameters) {
        void* const own = state.buffers[i].data();
        const std::size_t bytes = state.buffers[i].bytes();
        if (bytes > 0)
          copy_bytes(state.device, to_network ? own : staged, state.device, to_network ? staged : own, bytes,
                     CopyOptions{});
        staged += bytes;
      }
    };
    if (rank() == 0) copy_all(false);
    run(parallel::Call::broadcast({staged_.data(), buffers.count, buffers.dtype}, 0));
    if (rank() != 0) copy_all(true);
  }

  void require_one_model() {
    const auto infos = Network::parameter_infos();
    const auto fingerprint = static_cast<std::int64_t>(parallel::detail::fingerprint(infos));
    const std::int64_t places = parallel::detail::places_of_parts(infos, network_->state()->groups);
    parallel::detail::HostNumbers<C, 2> numbers{*communicator_};
    parallel::detail::require_replicas(
        infos, numbers.exchange({fingerprint, places}, [&](const parallel::Call& call) { run(call); }));
  }

  Network* network_;
  C* communicator_;
  parallel::DistributedOptions options_;
  std::vector<Travelling> travelling_{};
  memory::Buffer<D> staged_{};
};

}}} // namespace twill::v0::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/data/distributed.ipp>
#endif
