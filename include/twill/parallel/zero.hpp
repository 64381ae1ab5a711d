#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The update of a training step whose ranks share the work (ZeRO, Rajbhandari et al., 2020): each rank has the optimiser's
// states for its part of the weights alone (stage 1), of the reduced gradients its part alone (stage 2), and of the weights
// themselves (stage 3); else the weights are gathered from all ranks afterwards. The bits are those of an update of everything
// on every rank; norms, of all gradients or of each weight, are summed in another order. Read next: parallel/distributed_step.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/bucket_memory.hpp>
#include <twill/parallel/rank_sums.hpp>
#include <twill/parallel/sharded_state.hpp>
#include <twill/parallel/whole_weights.hpp>
#include <twill/train/optimiser.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill::inline v0::parallel::inline TWILL_ISA {

/// What the ranks share out: nothing, the optimiser's states, the reduced gradients as well, the weights as well.
template <int Stage> struct Zero {
  static_assert(Stage >= 0 && Stage <= 3,
                "twill: zero: there are stages 1 (states), 2 (gradients as well) and 3 (weights as well)");
  static constexpr int stage = Stage;
};
template <int Stage> inline constexpr Zero<Stage> zero{};

/// The update alone, of a part of each weight: what rules sum over elements is added up over the ranks. Inputs: the gradients.
template <class M, class T, class R> struct UpdateParts {
  static constexpr graph::Graph trace() { return train::trace_update<M, T, R>(optim::Updated::parts); }
  static constexpr compile::TableSizes room() { return nn::ModelStage<M, T, true>::room(); }
};

/// One rank's part of the update. `Weights` knows where the weights are.
template <class Network, class Model, optim::Rule R, class Weights> class PartialUpdate {
  using D = typename Network::device_type;
  using T = typename Network::Element;
  using Source = UpdateParts<typename Network::model_type, T, R>;
  using Memory = BucketMemory<Model, D>;
  static constexpr std::size_t line = 64;

public:
  PartialUpdate(Model& model, Memory& memory, Weights& weights)
      : model_{&model},
        memory_{&memory},
        weights_{&weights},
        parts_{parts_of(memory.layout(), model.rank(), model.size())},
        shorten_{parts_},
        executor_{model.module().device(), table(), compile::kernels<Source, team_t<D>>, compile::Arena::kept},
        state_{*model.module().state(), table().parameters, parts_},
        stand_ins_{model.module().device(), static_cast<std::size_t>(stand_in_bytes(parts_))} {
    executor_.edit(shorten_);
    const auto count = static_cast<std::int64_t>(stand_ins_.bytes() / sizeof(float));
    Tensor<float, D, Shape<dyn>>(stand_ins_, static_cast<float*>(stand_ins_.data()), Dims(count), Dims(1)).fill(0.0f);
    auto* stand_in = static_cast<std::byte*>(stand_ins_.data());
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      gradients_.push_back(memory.part_address(k + 1, parts_[k].begin));
      stand_in_weights_.push_back(nullptr);
      if (!parts_[k].needs_stand_in()) continue;
      gradients_.back() = stand_in;
      stand_in_weights_.back() = stand_in + line;
      stand_in += 2 * line;
    }
  }

  PartialUpdate(const PartialUpdate&) = delete;
  PartialUpdate& operator=(const PartialUpdate&) = delete;

  [[nodiscard]] static compile::TableView table() { return compile::Compiled<Source>::view(); }

  /// The weights, then the states that a backward pass reads.
  [[nodiscard]] std::span<void* const> parameters() {
    const std::span<void* const> weights = weights_->addresses();
    read_.assign(weights.begin(), weights.end());
    read_.insert(read_.end(), state_.addresses().begin(), state_.addresses().end());
    return read_;
  }

  /// Updates this rank's part and, where every rank has whole weights, fetches the others'.
  void run(std::span<const std::uint64_t> knobs) {
    follow_weights();
    AwaitBuckets<Memory> waits{*memory_, executor_.table()};
    AddUpRankSums sums{executor_.table(), [this](const Call& call) { model_->run(call); }};
    compile::BothInterludes both{waits, sums};
    executor_.run({}, {.inputs = gradients_,
                       .parameters = written_,
                       .knobs = knobs,
                       .inputs_stay = true,
                       .interlude = &both,
                       .groups = &model_->module().state()->groups});
    memory_->wait_for_all();
    weights_->finish_update(*memory_, parts_);
  }

  [[nodiscard]] double item(std::string_view name) const { return state_.item(name); }

  /// The states that one device would have, on every rank. All ranks call this together.
  [[nodiscard]] nn::StateDict state_dict(std::int64_t steps) const {
    std::vector<std::vector<Part>> all{};
    for (int rank = 0; rank < model_->size(); ++rank) all.push_back(parts_of(memory_->layout(), rank, model_->size()));
    nn::StateDict result{};
    for (std::size_t number = 0; number < state_.infos().size(); ++number) {
      const graph::ParameterInfo& info = state_.infos()[number];
      auto [tensor, data] = nn::StoredTensor::make(info.dtype, info.shape.evaluate({}));
      state_.gather(
          number, all, model_->rank(), [&](const Call& call) { model_->run(call); }, data);
      result.add(std::string{info.name.view()}, std::move(tensor));
    }
    train::detail::add_steps(result, steps);
    return result;
  }

  /// Takes this rank's parts out of such states. throws: ShapeError, ValueError naming what does not fit
  void load(const nn::StateDict& state) {
    const train::detail::CountedStates given = train::detail::without_steps(state);
    const nn::detail::Matched matched = nn::detail::match(state_.infos(), given.states, {});
    for (std::size_t number = 0; number < matched.tensors.size(); ++number)
      state_.take(number, parts_, matched.tensors[number]->bytes.data());
  }

  /// What it takes on one rank, before anything runs.
  [[nodiscard]] static compile::MemoryUse memory(const Buckets& buckets, int rank, int ranks) {
    const std::vector<Part> parts = parts_of(buckets, rank, ranks);
    compile::MemoryUse use = compile::memory_use(table(), {});
    use.states = compile::pool_bytes(ShardedState<D>::bytes(table().parameters, parts));
    use.kept = compile::pool_bytes(stand_in_bytes(parts));
    return use;
  }

private:
  /// A gradient and a weight for each that another rank has.
  [[nodiscard]] static std::int64_t stand_in_bytes(const std::vector<Part>& parts) {
    std::int64_t bytes = 0;
    for (const Part& part : parts)
      if (part.needs_stand_in()) bytes += 2 * line;
    return bytes;
  }

  /// The addresses of this rank's parts of the weights, which may have moved, and of the states.
  void follow_weights() {
    const nn::NetworkState<D>& network = *model_->module().state();
    written_.clear();
    for (const memory::Buffer<D>& buffer : network.buffers) written_.push_back(buffer.data());
    detail::for_each_weight(network, [&](std::size_t output, std::size_t i) {
      void* const stand_in = stand_in_weights_[output - 1];
      written_[i] = stand_in != nullptr ? stand_in : weights_->part_address(output, i, parts_[output - 1].begin);
    });
    written_.insert(written_.end(), state_.addresses().begin(), state_.addresses().end());
  }

  Model* model_;
  Memory* memory_;
  Weights* weights_;
  std::vector<Part> parts_;
  ShortenUpdate shorten_;
  compile::Executor<D> executor_;
  ShardedState<D> state_;
  memory::Buffer<D> stand_ins_; ///< gradients, which stay zero, and weights, which therefore do
  std::vector<void*> stand_in_weights_{};
  std::vector<void*> gradients_{};
  std::vector<void*> read_{};    ///< by a backward pass
  std::vector<void*> written_{}; ///< by the update
};

} // namespace twill::inline v0::parallel::inline TWILL_ISA
