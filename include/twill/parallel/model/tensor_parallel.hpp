#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tensor parallelism in one process: layers divided among the ranks along an axis, one device for each: each rank holds
// its part of the weights, of their gradients and of the rule's states, and all run the same program on the same batch.
// Between processes each rank makes its own network and binds its communicator (parallel/group/rank_group.hpp). An
// exception of one rank ends the call everywhere and is rethrown; the group cannot be used afterwards. Read next:
// nn/tensor_parallel.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/nn/network.hpp>
#include <twill/nn/shards.hpp>
#include <twill/nn/state_dict.hpp>
#include <twill/parallel/group/rank_group.hpp>
#include <twill/parallel/model/whole_tensors.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>
#include <twill/training/train_step.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// Whether all weights held in parts by a model's ranks are divided along this axis.
template <class Stage> [[nodiscard]] constexpr bool divides_along(const kernel::AxisId& axis) {
  for (const graph::ParameterInfo& info : compile::Signature<nn::PlainForward<Stage>>::view().parameters)
    if (info.shard.is_part() && !(info.shard.axis == axis)) return false;
  return true;
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// A model of type M on the ranks along the axis A, which its layers name: one network for each device.
template <nn::Model M, AnyRankAxis A, ComputeDevice D = Cpu, FloatingScalar T = float> class TensorParallel {
  static_assert(parallel::detail::divides_along<typename nn::Network<M, D, T>::Stage>(A::id),
                "twill: tensor_parallel: the model divides weights among other ranks than those of the axis given");

public:
  /// One rank's part of the model.
  using Network = nn::Network<M, D, T>;
  static_assert(Network::slots == 1,
                "twill: TensorParallel: the model puts parts into several device slots, a rank has one device");
  using device_type = D;

  /// Draws the weights of a single device, from the first device's generator.
  /// throws: ValueError unless there are as many devices as ranks
  explicit TensorParallel(const std::vector<D>& devices, parallel::ThreadOptions options = {}) {
    if (devices.size() != static_cast<std::size_t>(A::size))
      throw ValueError(join_text({"tensor_parallel: the axis '", A::id.name(), "' has ", A::size, " ranks, got ",
                                  devices.size(), " devices"}));
    communicators_ = parallel::thread_communicators(devices, options);
    const RandomDraw draw = generator(devices.front()).next();
    for (std::size_t rank = 0; rank < devices.size(); ++rank) {
      kernel::RankGroups groups{};
      groups.add(parallel::rank_group<A>(communicators_[rank]));
      networks_.push_back(std::make_unique<Network>(devices[rank], std::move(groups), draw));
    }
  }

  /// The number of ranks that share each layer.
  [[nodiscard]] static constexpr int size() { return A::size; }
  /// The network of a rank. Calls to its peers must be made on all ranks in parallel, see `run`.
  [[nodiscard]] Network& network(int rank) { return *networks_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const Network& network(int rank) const { return *networks_[static_cast<std::size_t>(rank)]; }

  /// Calls `f(network, rank)` for all ranks in parallel, each on its own thread. throws: the exception of a rank
  template <class F> void run(F f) {
    parallel::run_ranks(communicators_,
                        [&](auto& communicator) { f(network(communicator.rank()), communicator.rank()); });
  }

  /// The result in evaluation, on the first device. Inputs may be on any device of the kind.
  template <AnyTensor... Inputs> [[nodiscard]] auto infer(const Inputs&... inputs) {
    std::optional<decltype(network(0).infer(inputs...))> result{};
    run([&](Network& own, int rank) {
      auto output = own.infer(inputs.to(own.device())...);
      if (rank == 0) result.emplace(std::move(output));
    });
    return std::move(*result);
  }

  /// Copies of the weights, equal to one device's.
  [[nodiscard]] nn::StateDict state_dict() const {
    const auto infos = Network::parameter_infos();
    std::vector<nn::StateDict> parts{};
    for (const auto& own : networks_) parts.push_back(nn::state_dict(*own));
    nn::StateDict whole{};
    for (std::size_t i = 0; i < infos.size(); ++i) {
      auto [tensor, data] = nn::StoredTensor::make(infos[i].dtype, nn::whole_shape(infos[i]).evaluate({}));
      const auto bytes_of = [&](std::size_t rank) { return parts[rank].entries()[i].second.bytes; };
      if (!infos[i].shard.is_part())
        std::copy(bytes_of(0).begin(), bytes_of(0).end(), data);
      else
        for (std::size_t rank = 0; rank < parts.size(); ++rank)
          nn::put_part(infos[i], bytes_of(rank), static_cast<int>(rank), {data, tensor.bytes.size()});
      whole.add(std::string{infos[i].name.view()}, std::move(tensor));
    }
    return whole;
  }

  /// Gives each rank its part of one device's weights.
  /// throws: ShapeError, ValueError naming the key and both sides, or listing what is missing and unexpected
  void load_state_dict(const nn::StateDict& whole) {
    const auto infos = Network::parameter_infos();
    std::vector<nn::StateDict> parts(networks_.size());
    for (const auto& [name, tensor] : whole.entries()) {
      const graph::ParameterInfo* info = nullptr;
      for (const graph::ParameterInfo& known : infos)
        if (known.name.view() == name) info = &known;
      for (std::size_t rank = 0; rank < parts.size(); ++rank) {
        const bool is_known = info != nullptr;
        parts[rank].add(name,
                        is_known ? parallel::part_of_stored(*info, name, tensor, static_cast<int>(rank)) : tensor);
      }
    }
    for (std::size_t rank = 0; rank < parts.size(); ++rank) nn::load_state_dict(*networks_[rank], parts[rank]);
  }

private:
  std::vector<parallel::ThreadCommunicator<D>> communicators_{};
  std::vector<std::unique_ptr<Network>> networks_{};
};

}}} // namespace twill::v0::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Whole steps of a divided model, as one planned program on each rank.
template <class Model, class L, optim::Rule R> class TensorParallelStep {
  using Network = typename Model::Network;
  using T = typename Network::Element;

public:
  /// Steps of all ranks by a loss and a rule, each rank in its own thread.
  TensorParallelStep(Model& model, L loss, R rule) : model_{&model} {
    for (int rank = 0; rank < Model::size(); ++rank)
      steps_.push_back(std::make_unique<training::TrainStep<Network, L, R>>(model.network(rank), loss, rule));
  }

  /// One step; returns the loss, which all ranks compute alike. Arguments: the model's inputs, then the loss's targets,
  /// on any device of the kind. throws: the exception of a rank
  template <AnyTensor... Tensors> T operator()(const Tensors&... tensors) {
    T loss{};
    model_->run([&](Network& network, int rank) {
      const T own = rank_step(rank)(tensors.to(network.device())...).item();
      if (rank == 0) loss = own;
    });
    return loss;
  }

  /// The step of a rank, for its state, options and memory.
  [[nodiscard]] training::TrainStep<Network, L, R>& rank_step(int rank) {
    return *steps_[static_cast<std::size_t>(rank)];
  }

private:
  Model* model_;
  std::vector<std::unique_ptr<training::TrainStep<Network, L, R>>> steps_{};
};

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// A training step of a divided model: `step(inputs, targets)` gives the loss. The model has to outlive it.
template <nn::Model M, AnyRankAxis A, ComputeDevice D, FloatingScalar T, class L, optim::Rule R>
[[nodiscard]] auto train_step(TensorParallel<M, A, D, T>& model, L loss, R rule) {
  return parallel::TensorParallelStep<TensorParallel<M, A, D, T>, L, R>{model, std::move(loss), std::move(rule)};
}

}}} // namespace twill::v0::TWILL_ISA
