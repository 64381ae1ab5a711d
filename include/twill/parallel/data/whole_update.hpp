#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Full update of a training step, in which every rank updates everything, from summed gradients. It begins while
// buckets are still in flight, and waits for each before the launch that reads it. Read next: parallel/data/zero.hpp.

#include <twill/compile/table_for.hpp>
#include <twill/core/config.hpp>
#include <twill/parallel/data/bucket_memory.hpp>
#include <twill/training/optimiser_state.hpp>
#include <twill/training/sources.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// One rank's update of all weights.
template <class Network, class Model, optim::Rule R, class Weights> class WholeUpdate {
  using D = typename Network::device_type;
  using Source = training::UpdateWeights<typename Network::model_type, typename Network::Element, R>;
  using Memory = BucketMemory<Model, D>;

public:
  WholeUpdate(Model& model, Memory& memory, Weights&)
      : model_{&model},
        memory_{&memory},
        executor_{model.module().device(), compile::TableFor<Source, D>::view(),
                  compile::TableFor<Source, D>::template kernels<team_t<D>>(), compile::Arena::kept},
        state_{model.module().state()} {}

  [[nodiscard]] static compile::TableView table() { return compile::TableFor<Source, D>::view(); }

  /// The weights, then the states of the rule; a backward pass may read the weights.
  [[nodiscard]] std::span<void* const> parameters() { return state_.addresses(table().parameters); }

  void run(std::span<const std::uint64_t> run_scalars) {
    AwaitBuckets<Memory> callback{*memory_, table()};
    executor_.run({}, {.inputs = memory_->addresses().subspan(1),
                       .parameters = parameters(),
                       .run_scalars = run_scalars,
                       .inputs_stay = true,
                       .callback = &callback,
                       .groups = &model_->module().state()->groups});
    memory_->wait_for_all();
  }

  [[nodiscard]] double item(std::string_view name) const { return state_.item(name); }

  /// The states, equal on every rank.
  [[nodiscard]] nn::StateDict state_dict(std::int64_t steps) const { return state_.state_dict(steps); }
  void load(const nn::StateDict& state) {
    static_cast<void>(state_.load_state_dict(state, [] { return table().parameters; }));
  }

  /// Its memory on one rank, before anything runs.
  [[nodiscard]] static compile::MemoryUse memory(const Buckets&, int, int) {
    compile::MemoryUse use = compile::memory_use(table(), {});
    use.kept = 0;
    return use;
  }

private:
  Model* model_;
  Memory* memory_;
  compile::Executor<D> executor_;
  training::OptimiserState<D> state_;
};

}}}} // namespace twill::v0::parallel::TWILL_ISA
