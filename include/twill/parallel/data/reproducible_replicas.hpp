#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Training steps of one process to the same bits on any number of its devices: a network by itself, which adds up the
// gradients of its shards, and replicas of it, each of which is a rank of parallel/data/reproducible_step.hpp and runs
// its shards of the batch on its device. Not in twill.hpp. Read next: parallel/data/reproducible.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/data/data_parallel.hpp>
#include <twill/parallel/data/reproducible_step.hpp>
#include <twill/parallel/threads/communicator.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// A group of one rank for a network by itself.
template <class Network> struct OneRank {
  using Communicator = ThreadCommunicator<typename Network::device_type>;

  explicit OneRank(Network& network)
      : communicators{thread_communicators(std::vector{network.device()})}, model{network, communicators.front()} {}

  std::vector<Communicator> communicators;
  DistributedDataParallel<Network, Communicator> model;
};

/// A replica of a network as a rank, like a `DistributedDataParallel`.
template <class Network> class ReplicaRank {
  using D = typename Network::device_type;

public:
  using communicator_type = ThreadCommunicator<D>;

  /// The network with the weights of the replica.
  struct Module {
    Network* network = nullptr;
    D on{};
    std::shared_ptr<nn::NetworkState<D>> own{};

    [[nodiscard]] const D& device() const { return on; }
    [[nodiscard]] const std::shared_ptr<nn::NetworkState<D>>& state() const { return own; }
    [[nodiscard]] const compile::RunScalars& run_scalars() const { return network->run_scalars(); }
    [[nodiscard]] decltype(auto) layer_hooks() const { return network->layer_hooks(); }
  };

  ReplicaRank(Module module, communicator_type communicator)
      : module_{std::move(module)}, communicator_{std::move(communicator)} {}

  [[nodiscard]] const Module& module() const { return module_; }
  [[nodiscard]] communicator_type& communicator() { return communicator_; }
  [[nodiscard]] int rank() const { return communicator_.rank(); }
  [[nodiscard]] int size() const { return communicator_.size(); }
  [[nodiscard]] const DistributedOptions& options() const { return options_; }
  void run(const Call& call) { communicator_.run(call); }
  [[nodiscard]] auto start(const Call& call) { return communicator_.start(call); }

  /// Copies replica 0's buffers to all replicas.
  void synchronise_buffers() {
    const nn::NetworkState<D>& state = *module_.own;
    for (std::size_t i = 0; i < state.infos.size(); ++i)
      if (const graph::ParameterInfo& info = state.infos[i]; info.role == graph::Role::buffer)
        run(Call::broadcast({state.buffers[i].data(), info.shape.elements().factor, info.dtype}, 0));
  }

  template <class F> void telling_others(const F& f) {
    try {
      f();
    } catch (...) {
      communicator_.fail(std::current_exception());
      throw;
    }
  }

private:
  Module module_;
  communicator_type communicator_;
  DistributedOptions options_{};
};

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Runs whole steps of a network on its device: gradient accumulation over the shards.
template <class Network, class L, optim::Rule R>
class ReproducibleNetworkStep : private detail::OneRank<Network>,
                                public ReproducibleStep<Network, decltype(detail::OneRank<Network>::model), L, R, 0> {
public:
  /// Steps of a network by a loss and a rule. throws: ValueError if there are no shards
  ReproducibleNetworkStep(Network& network, L loss, R given, const Reproducible& policy)
      : detail::OneRank<Network>{network},
        ReproducibleStep<Network, decltype(detail::OneRank<Network>::model), L, R, 0>{this->model, loss,
                                                                                      std::move(given), policy} {}
};

/// Runs whole steps of a network on several devices, to bits that do not depend on their number.
template <class Network, class L, optim::Rule R> class ReproducibleReplicasStep {
  using D = typename Network::device_type;
  using T = typename Network::Element;
  using Model = detail::ReplicaRank<Network>;

public:
  /// Steps of a wrapped network by a loss and a rule. throws: ValueError if there are no shards
  ReproducibleReplicasStep(DataParallel<Network>& model, L loss, R given, const Reproducible& policy)
      : rule{std::move(given)}, model_{&model} {
    const auto& replicas = *model.replicas();
    auto communicators = thread_communicators(replicas.devices(), {.timeout_ms = model.timeout_ms()});
    for (std::size_t rank = 0; rank < replicas.devices().size(); ++rank)
      ranks_.push_back(std::make_unique<Rank>(
          typename Model::Module{&model.module(), replicas.devices()[rank], replicas.state(rank)},
          std::move(communicators[rank]), loss, rule, policy));
    synchronise();
  }

  /// Copies the module's weights to all replicas; needed after changes by other code.
  void synchronise() { model_->replicas()->replicate(ranks_.size()); }

  /// One step on a whole batch. Arguments: the model's inputs, then the loss's targets, on any device of the kind.
  /// throws: a replica's exception, naming it, see `ReproducibleStep`; the step is then unusable
  template <AnyTensor... Tensors> training::StepLoss<T, D> operator()(const Tensors&... tensors) {
    const auto& devices = model_->devices();
    const std::int64_t rows = common_rows(tensors...).value_or(0);
    std::optional<training::StepLoss<T, D>> loss{};
    run_on_replicas(devices, devices.size(), [&](std::size_t rank) {
      auto& step = ranks_[rank]->step;
      step.rule = rule;
      const auto own = step(scattered<0>(tensors, step.rows_of(rows), devices[rank])...);
      if (rank == 0) loss.emplace(own);
    });
    return *loss;
  }

  /// Updates so far.
  [[nodiscard]] std::int64_t steps() const { return ranks_.front()->step.steps(); }
  /// A single number of the rule, see `TrainingState`.
  [[nodiscard]] double state(std::string_view name) const { return ranks_.front()->step.state(name); }
  /// The rule's states, the count of steps and the rule's options, equal to those on one device.
  [[nodiscard]] nn::StateDict state_dict() const { return ranks_.front()->step.state_dict(); }
  /// Resumes from such a state, see `TrainingState`.
  training::OptionsReport load_state_dict(const nn::StateDict& state) {
    training::OptionsReport report{};
    for (const auto& rank : ranks_) report = rank->step.load_state_dict(state);
    rule = ranks_.front()->step.rule;
    return report;
  }

  R rule; ///< its options may change between steps

private:
  struct Rank {
    Rank(typename Model::Module module, ThreadCommunicator<D> communicator, L loss, const R& given,
         const Reproducible& policy)
        : model{std::move(module), std::move(communicator)}, step{model, loss, given, policy} {}

    Model model;
    ReproducibleStep<Network, Model, L, R, 0> step;
  };

  DataParallel<Network>* model_;
  std::vector<std::unique_ptr<Rank>> ranks_{};
};

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// A step to bits that any number of ranks reproduces, on one device: `train_step(network, nn::cross_entropy, rule,
/// parallel::Reproducible{.shards = 8})`, then `step(image, label)`. The network has to outlive it.
template <class Network, class L, optim::Rule R, std::same_as<parallel::Reproducible> Policy>
[[nodiscard]] auto train_step(Network& network, L loss, R rule, Policy policy) { // `{...}` is the options of others
  constexpr bool is_network = requires { typename Network::model_type; };
  static_assert(is_network,
                "twill: train_step: Reproducible is for networks, for DistributedDataParallel, with ZeRO or without, "
                "for DataParallel, and for pipelines (<twill/parallel/pipeline/run/reproducible_step.hpp>); a mesh "
                "adds up gradients in another order");
  if constexpr (is_network)
    return parallel::ReproducibleNetworkStep<Network, L, R>{network, loss, std::move(rule), policy};
}

/// A data-parallel step to bits that do not depend on the number of devices; takes whole batches.
template <class Network, class L, optim::Rule R>
[[nodiscard]] auto train_step(DataParallel<Network>& model, L loss, R rule, parallel::Reproducible policy) {
  return parallel::ReproducibleReplicasStep<Network, L, R>{model, loss, std::move(rule), policy};
}

}}} // namespace twill::v0::TWILL_ISA
