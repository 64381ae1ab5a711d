#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Update stage of one rank's training step: buckets of gradients, weights that every rank has whole or in parts, and
// the update that reads gradients and writes weights. The first exchanged step makes them, since its program determines
// the sizes of buckets; states of the rule that were loaded earlier wait until then. Read next:
// parallel/data/bucket_memory.hpp, parallel/data/zero.hpp.

#include <twill/compile/table_for.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/data/bucket_memory.hpp>
#include <twill/parallel/data/distributed.hpp>
#include <twill/parallel/data/weight_parts.hpp>
#include <twill/parallel/data/zero.hpp>
#include <twill/training/optimiser_state.hpp>
#include <twill/training/sources.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

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

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// Updates the weights of one rank. `Model` is a `DistributedDataParallel`, the stage that of ZeRO, 0 without it.
template <class Network, class Model, optim::Rule R, int Stage> class DistributedUpdate {
  using D = typename Network::device_type;

public:
  static constexpr bool has_parts = Stage == 3; ///< of the weights, between steps
  using Memory = BucketMemory<Model, D>;        ///< of the gradients
  using Weights = std::conditional_t<has_parts, WeightParts<Model, D>, WholeWeights<Model, D>>; ///< of this stage

private:
  using Update = std::conditional_t<Stage == 0, WholeUpdate<Network, Model, R, Weights>,
                                    PartialUpdate<Network, Model, R, Weights>>;
  static constexpr Kept kept = Stage == 0 ? Kept::all : Stage == 1 ? Kept::part : Kept::part_only;

public:
  explicit DistributedUpdate(Model& model) : model_{&model} {} ///< of a model that outlives it
  DistributedUpdate(const DistributedUpdate&) = delete;
  DistributedUpdate& operator=(const DistributedUpdate&) = delete;

  /// The program of the update.
  [[nodiscard]] static compile::TableView table() { return Update::table(); }

  /// Allocates everything for gradients of this program, once. throws: OutOfMemoryError
  void make(const compile::TableView& table) {
    if (memory_) return;
    const Buckets layout = make_buckets(table);
    if constexpr (has_parts) {
      weights_.emplace(*model_, layout);
      weights_->cut(); // before anything else takes memory
    } else {
      weights_.emplace(*model_);
    }
    memory_.emplace(*model_, model_->module().device(), table, layout, kept);
    update_.emplace(*model_, *memory_, *weights_);
    if (to_load_) update_->load(*std::exchange(to_load_, std::nullopt));
  }
  [[nodiscard]] bool is_made() const { return update_.has_value(); }      ///< whether `make` was called
  [[nodiscard]] bool has_weights() const { return weights_.has_value(); } ///< whether `weights()` may be called

  /// requires: it is made
  [[nodiscard]] Memory& gradients() { return *memory_; }
  [[nodiscard]] const Memory& gradients() const { return *memory_; }
  [[nodiscard]] Weights& weights() { return *weights_; } ///< those of this rank
  /// The weights, then the states that a backward pass reads.    requires: it is made
  [[nodiscard]] std::span<void* const> parameters() { return update_->parameters(); }

  /// Updates the weights by the gradients, as soon as those are there.    requires: it is made
  void run(std::span<const std::uint64_t> run_scalars) { update_->run(run_scalars); }

  /// A single number of the rule. throws: ValueError before the first step, or when there is none of this name
  [[nodiscard]] double item(std::string_view name) const {
    if (!update_) throw ValueError(join_text({"state: there was no step yet that could have set '", name, "'"}));
    return update_->item(name);
  }

  /// The rule's states and the count of steps, equal to one device's. All ranks call this together.
  [[nodiscard]] nn::StateDict state_dict(std::int64_t steps) const {
    nn::StateDict result{};
    if (update_)
      model_->telling_others([&] { result = update_->state_dict(steps); });
    else if (to_load_)
      result = *to_load_;
    else
      training::add_steps(result, steps);
    return result;
  }

  /// Resumes from such states, at the first step if there was none. Returns their count of steps.
  /// throws: ShapeError, ValueError naming the mismatch; then nothing has changed
  std::int64_t load(const nn::StateDict& state) {
    const training::CountedStates given = training::without_steps(state);
    if (given.states.size() > 0 || given.steps > 0) {
      const auto infos = table().parameters.subspan(Network::parameter_infos().size());
      static_cast<void>(nn::match(infos, given.states, {}));
      if (update_)
        update_->load(state);
      else
        to_load_ = state;
    } else if (update_) {
      throw ValueError("load_state_dict: the state of a rule that made no step goes into a step that made none");
    } else {
      to_load_.reset();
    }
    return given.steps;
  }

  /// Adds its device memory for gradients of this program to the memory of that program, before anything runs.
  void add_memory(compile::MemoryUse& use, const compile::TableView& table) const {
    const Buckets layout = make_buckets(table);
    const BucketOffsets offsets = lay_out(table, layout, kept, model_->size());
    const compile::MemoryUse update = Update::memory(layout, model_->rank(), model_->size());
    use.weights = Weights::bytes(table, layout, model_->size());
    if constexpr (has_parts) use.arena += compile::pool_bytes(plan_gathers(table, layout).bytes);
    use.states = update.states;
    use.arena += update.arena;
    use.kept = compile::pool_bytes(offsets.bytes) + compile::pool_bytes(offsets.part_bytes) + update.kept;
  }

private:
  [[nodiscard]] Buckets make_buckets(const compile::TableView& table) const {
    return fill_buckets(table, model_->options().buckets, Stage == 0 ? 0 : model_->size());
  }

  Model* model_;
  std::optional<Weights> weights_{};
  std::optional<Memory> memory_{};
  std::optional<Update> update_{};         ///< destroyed before the memory
  std::optional<nn::StateDict> to_load_{}; ///< until its target exists
};

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
