#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The update of a training step whose ranks share the work (ZeRO, Rajbhandari et al., 2020): each rank has the optimiser's
// states for its part of the weights alone (stage 1), of the reduced gradients its part alone (stage 2), and of the weights
// themselves (stage 3); else the weights are gathered from all ranks afterwards. The bits are those of an update of everything
// on every rank; a norm of all gradients is summed in another order. Read next: parallel/distributed_step.hpp.

#include <twill/core/config.hpp>
#include <twill/expr/functions/choice.hpp>
#include <twill/expr/operators.hpp>
#include <twill/expr/reductions.hpp>
#include <twill/optim/clip.hpp>
#include <twill/parallel/bucket_memory.hpp>
#include <twill/parallel/shards.hpp>
#include <twill/parallel/whole_weights.hpp>
#include <twill/train/optimiser.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace twill::inline v0::parallel::inline TWILL_ISA {

/// What the ranks share out: nothing, the optimiser's states, the reduced gradients as well, the weights as well.
template <int Stage> struct Zero {
  static_assert(Stage >= 0 && Stage <= 3,
                "twill: zero: there are stages 1 (states), 2 (gradients as well) and 3 (weights as well)");
  static constexpr int stage = Stage;
};
template <int Stage> inline constexpr Zero<Stage> zero{};

/// The update of weights from their gradients, which are the inputs, and for rules that ask for it from the sum of the squares
/// of all gradients, which is the last input.
template <class M, class T, class R> struct UpdateParts {
  static constexpr graph::Graph trace() {
    graph::Graph graph = train::detail::trace_weights<M, T>();
    const List<int> weights = nn::detail::trainable_weights(graph);
    List<int> gradients{};
    bool is_wide = false;
    for (int weight : weights) {
      const graph::Node node = graph.node(weight);
      is_wide = is_wide || node.dtype == DType::float64;
      gradients.push_back(graph.add_input(node.dtype, node.shape));
    }
    graph::Value sum{};
    if constexpr (optim::is_by_norm<R>())
      sum = graph::Value{graph, graph.add_input(is_wide ? DType::float64 : DType::float32, {})};
    optim::update_all<R>(graph, weights, gradients, sum);
    return graph;
  }
  static constexpr compile::TableSizes room() { return nn::ModelStage<M, T, true>::room(); }
};

/// One rank's part of the update. `Weights` knows where the weights are.
template <class Network, class Model, optim::Rule R, class Weights> class PartialUpdate {
  using D = typename Network::device_type;
  using T = typename Network::Element;
  using Wide = std::conditional_t<std::same_as<T, double>, double, float>;
  using Source = UpdateParts<typename Network::model_type, T, R>;
  using Memory = BucketMemory<Model, D>;
  static_assert(!optim::is_by_whole_weights<R>(),
                "twill: zero: the rule looks at whole weights, which no rank updates; train without zero");
  static_assert(!optim::ScaledRule<R>,
                "twill: zero: a loss scale looks at all gradients, of which each rank has a part; train without zero");

public:
  PartialUpdate(Model& model, Memory& memory, Weights& weights)
      : model_{&model},
        memory_{&memory},
        weights_{&weights},
        parts_{parts_of(memory.layout(), model.rank(), model.size())},
        shorten_{parts_},
        executor_{model.module().device(), compile::Compiled<Source>::view(), compile::kernels<Source, team_t<D>>,
                  compile::Arena::kept},
        state_{*model.module().state(), executor_.table().parameters, parts_},
        sum_{model.module().device(), Dims{}} {
    if constexpr (optim::is_by_norm<R>())
      for (const graph::ParameterInfo& info : Network::parameter_infos())
        if (info.shard.is_part())
          throw ValueError("zero: a norm of all gradients is summed over replicas, not over ranks that hold parts of "
                           "the layers; train without zero");
    executor_.edit(shorten_);
    for (std::size_t k = 0; k < parts_.size(); ++k) gradients_.push_back(memory.part_address(k + 1, parts_[k].begin));
    gradients_.push_back(sum_.data());
  }

  PartialUpdate(const PartialUpdate&) = delete;
  PartialUpdate& operator=(const PartialUpdate&) = delete;

  [[nodiscard]] static compile::TableView table() { return compile::Compiled<Source>::view(); }

  /// The weights.
  [[nodiscard]] std::span<void* const> parameters() const { return weights_->addresses(); }

  /// Updates this rank's part and fetches the others'.
  void run(std::span<const std::uint64_t> knobs) {
    if constexpr (optim::is_by_norm<R>()) add_squares();
    follow_weights();
    AwaitBuckets<Memory> interlude{*memory_, executor_.table()};
    executor_.run(
        {},
        {.inputs = gradients_, .parameters = addresses_, .knobs = knobs, .inputs_stay = true, .interlude = &interlude});
    memory_->wait_for_all();
    weights_->finish_update(*memory_, parts_);
  }

  [[nodiscard]] double item(std::string_view name) const {
    if constexpr (optim::is_by_norm<R>()) // its launch may be shortened with that of a weight of one element
      if (name == optim::gradient_norm_state) return static_cast<double>(std::sqrt(sum_.item()));
    return state_.item(name);
  }

  /// What it takes on one rank, before anything runs.
  [[nodiscard]] static compile::MemoryUse memory(const Buckets& buckets, int rank, int ranks) {
    compile::MemoryUse use = compile::memory_use(table(), {});
    use.states = compile::pool_bytes(ShardedState<D>::bytes(table().parameters, parts_of(buckets, rank, ranks)));
    use.kept = compile::pool_bytes(sizeof(Wide));
    return use;
  }

private:
  /// The sum of the squares of all ranks' parts.
  void add_squares() {
    memory_->wait_for_all();
    sum_.fill(Wide{});
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      if (parts_[k].count() == 0) continue;
      if (dtype(k) == dtype_of<T>)
        add_squares_of<T>(k);
      else if constexpr (sizeof(T) < sizeof(float))
        add_squares_of<float>(k);
    }
    model_->run(Call::all_reduce({sum_.data(), 1, dtype_of<Wide>}));
    gradients_.back() = sum_.data();
  }
  template <class G> void add_squares_of(std::size_t k) {
    const auto gradient = memory_->template part_view<G>(k + 1, parts_[k].begin, parts_[k].count());
    const Tensor<Wide, D, Shape<>> squares = sum(twill::cast<Wide>(gradient) * twill::cast<Wide>(gradient));
    sum_ = sum_ + squares;
  }
  [[nodiscard]] DType dtype(std::size_t k) const {
    return memory_->layout().buckets[static_cast<std::size_t>(memory_->layout().entries[k + 1].bucket)].dtype;
  }

  /// The addresses of this rank's parts of the weights, which may have moved, and of the states.
  void follow_weights() {
    const nn::NetworkState<D>& network = *model_->module().state();
    addresses_.clear();
    for (const memory::Buffer<D>& buffer : network.buffers) addresses_.push_back(buffer.data());
    detail::for_each_weight(network, [&](std::size_t output, std::size_t i) {
      addresses_[i] = weights_->part_address(output, i, parts_[output - 1].begin);
    });
    addresses_.insert(addresses_.end(), state_.addresses().begin(), state_.addresses().end());
  }

  Model* model_;
  Memory* memory_;
  Weights* weights_;
  std::vector<Part> parts_;
  ShortenUpdate shorten_;
  compile::Executor<D> executor_;
  ShardedState<D> state_;
  Tensor<Wide, D, Shape<>> sum_;
  std::vector<void*> gradients_{};
  std::vector<void*> addresses_{};
};

} // namespace twill::inline v0::parallel::inline TWILL_ISA
