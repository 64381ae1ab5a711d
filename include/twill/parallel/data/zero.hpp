#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sharded update of a training step (ZeRO, Rajbhandari et al., 2020): each rank has only its part of the optimiser's
// states (stage 1), of the reduced gradients (stage 2), and of the weights themselves (stage 3); before stage 3 the
// weights are gathered from all ranks afterwards. The bits are those of a full update on every rank; norms, of all
// gradients or of each weight, are summed in another order. Read next: parallel/data/distributed_step.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/data/bucket_memory.hpp>
#include <twill/parallel/data/part_update.hpp>
#include <twill/parallel/data/whole_weights.hpp>
#include <twill/parallel/data/zero_stage.hpp>
#include <twill/parallel/group/rank_sums.hpp>
#include <twill/training/sources.hpp>
#include <twill/training/training_state.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// The update of a part of each weight: rules' sums over elements are summed over the ranks. Inputs: the gradients.
template <class M, class T, class R> struct UpdateParts {
  static constexpr graph::Graph trace() { return training::trace_update<M, T, R>(optim::Updated::parts); }
  static constexpr compile::TableSizes room() { return nn::ModelStage<M, T, true>::room(); }
};

/// One rank's part of the update. `Weights` knows where the weights are.
template <class Network, class Model, optim::Rule R, class Weights> class PartialUpdate {
  using D = typename Network::device_type;
  using T = typename Network::Element;
  using Source = UpdateParts<typename Network::model_type, T, R>;
  using Memory = BucketMemory<Model, D>;

public:
  PartialUpdate(Model& model, Memory& memory, Weights& weights)
      : model_{&model},
        memory_{&memory},
        weights_{&weights},
        update_{*model.module().state(), parts_of(memory.layout(), model.rank(), model.size()), compile::Arena::kept} {}

  PartialUpdate(const PartialUpdate&) = delete;
  PartialUpdate& operator=(const PartialUpdate&) = delete;

  [[nodiscard]] static compile::TableView table() { return PartUpdate<Source, D>::table(); }

  /// The weights, then the states that a backward pass reads.
  [[nodiscard]] std::span<void* const> parameters() {
    const std::span<void* const> weights = weights_->addresses();
    read_.assign(weights.begin(), weights.end());
    read_.insert(read_.end(), update_.state().addresses().begin(), update_.state().addresses().end());
    return read_;
  }

  /// Updates this rank's part and, if every rank has whole weights, fetches the others'.
  void run(std::span<const std::uint64_t> run_scalars) {
    AwaitBuckets<Memory> waits{*memory_, table()};
    AddUpRankSums sums{table(), [this](const Call& call) { model_->run(call); }};
    compile::BothHostCallbacks both{waits, sums};
    update_.run(
        *model_->module().state(), run_scalars, both,
        [this](std::size_t k, std::int64_t first) { return memory_->part_address(k + 1, first); },
        [this](std::size_t k, std::size_t i, std::int64_t first) { return weights_->part_address(k + 1, i, first); });
    memory_->wait_for_all();
    weights_->finish_update(*memory_, update_.parts());
  }

  [[nodiscard]] double item(std::string_view name) const { return update_.state().item(name); }

  /// The states of a single device, on every rank. All ranks call this together.
  [[nodiscard]] nn::StateDict state_dict(std::int64_t steps) const {
    std::vector<std::vector<Part>> all{};
    for (int rank = 0; rank < model_->size(); ++rank) all.push_back(parts_of(memory_->layout(), rank, model_->size()));
    nn::StateDict result{};
    const ShardedState<D>& own = update_.state();
    for (std::size_t number = 0; number < own.infos().size(); ++number) {
      const graph::ParameterInfo& info = own.infos()[number];
      auto [tensor, data] = nn::StoredTensor::make(info.dtype, info.shape.evaluate({}));
      const memory::Buffer<D> whole =
          own.gather(number, all, model_->rank(), [&](const Call& call) { model_->run(call); });
      copy_bytes(Cpu{}, data, whole.device(), whole.data(), tensor.bytes.size(), CopyOptions{});
      result.add(std::string{info.name.view()}, std::move(tensor));
    }
    training::add_steps(result, steps);
    return result;
  }

  /// Takes this rank's parts out of such states. throws: ShapeError, ValueError naming the mismatch
  void load(const nn::StateDict& state) {
    const training::CountedStates given = training::without_steps(state);
    const nn::Matched matched = nn::match(update_.state().infos(), given.states, {});
    for (std::size_t number = 0; number < matched.tensors.size(); ++number)
      update_.state().take(number, update_.parts(), matched.tensors[number]->bytes.data());
  }

  /// Its memory on one rank, before anything runs.
  [[nodiscard]] static compile::MemoryUse memory(const Buckets& buckets, int rank, int ranks) {
    return PartUpdate<Source, D>::memory(parts_of(buckets, rank, ranks));
  }

private:
  Model* model_;
  Memory* memory_;
  Weights* weights_;
  PartUpdate<Source, D> update_;
  std::vector<void*> read_{}; ///< by a backward pass
};

}}}} // namespace twill::v0::parallel::TWILL_ISA
