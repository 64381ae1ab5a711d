#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Gradient accumulation: several micro-batches, one update. Each `add` runs forward, loss and backward as one planned
// program that adds to sums of gradients; `finish` updates the weights. Weighted by rows, the result is that of the
// mean over one large batch, dropout masks included, for micro-batches of any sizes. A steady run allocates nothing.
// Read next: training/train_step.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/nn/device_trace.hpp>
#include <twill/training/train_step.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {

/// Weights of micro-batches.
enum class Weighting : std::uint8_t {
  rows, ///< by their rows: the mean over all rows, as if they were one batch
  sum,  ///< each fully: the sum of their losses
};

/// Options of gradient accumulation.
struct AccumulationOptions {
  Weighting weighting = Weighting::rows; ///< the weight of a micro-batch
};

/// False for the first micro-batch, which replaces the sums.
inline constexpr std::string_view continues_scalar = "train.continues";
/// The factor of the sums before the update.
inline constexpr std::string_view sum_scale_scalar = "train.sum_scale";

/// Declares one sum for each trainable weight, then one for the loss. Half precision is summed in float32.
TWILL_CONSTEXPR List<int> declare_sums(graph::Graph& graph, const List<int>& weights) {
  List<int> sums{};
  const auto declare = [&](std::string_view name, DType dtype, const graph::Extents& shape, int slot) {
    const DType wide = dtype == DType::float64 ? DType::float64 : DType::float32;
    sums.push_back(graph.add_parameter(name, wide, shape, {}, graph::Role::optimiser_state, {}));
    static_cast<void>(graph.settle(sums.back(), slot, {}));
  };
  for (int weight : weights) {
    const graph::Node node = graph.node(weight);
    const graph::ParameterInfo& info = graph.parameters[static_cast<std::size_t>(node.index)];
    graph::Name name = info.name;
    name.append(".gradient_sum");
    declare(name.view(), node.dtype, node.shape, info.slot);
  }
  declare("train.loss_sum", graph.element, {}, 0);
  return sums;
}

/// Adds the weighted loss and its gradients to the sums. Inputs: those of the model, then the targets.
template <class M, class T, class L, class R, class... Targets>
struct AccumulateGradients : DividedSource<AccumulateGradients, M, T, L, R, Targets...> {
  /// The call that runs it, in messages.
  static constexpr compile::CallName called() { return call_of_step<M>("add"); }
  /// The graph that adds one micro-batch's gradients, planned for these parts.
  static constexpr graph::Graph trace_with(const graph::Parts& parts) {
    LossTrace trace = trace_loss<M, T, L, R, Targets...>(parts);
    graph::Graph& graph = trace.graph;
    if (graph.fault.any()) return graph;
    const List<int> sums = declare_sums(graph, trace.weights);
    const graph::Value continues = graph::run_scalar(graph, continues_scalar, 0, DType::boolean);
    List<int> terms = trace.gradients;
    terms.push_back(graph::reshape(graph::Value{graph, trace.loss}, graph::Extents{}).id());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const graph::Value sum{graph, sums[i]};
      const graph::Value term = graph::cast(graph::Value{graph, terms[i]}, sum.dtype());
      graph.add_assign(sums[i], (graph::where(continues, sum, 0) + term).id());
    }
    return graph;
  }
};

/// The update from the sums; the loss is the output.
template <class M, class T, class R> struct UpdateFromSums {
  /// The graph of the update alone.
  static constexpr graph::Graph trace() {
    graph::Graph graph = trace_weights<M, T>();
    const List<int> weights = nn::trainable_weights(graph);
    optim::declare_states<R>(graph);
    const List<int> sums = declare_sums(graph, weights);
    const auto scaled = [&](int id) {
      const graph::Value sum{graph, id};
      return sum * graph::run_scalar(graph, sum_scale_scalar, 1, sum.dtype());
    };
    List<int> gradients{};
    for (std::size_t i = 0; i < weights.size(); ++i) gradients.push_back(scaled(sums[i]).id());
    optim::update_all<R>(graph, weights, gradients);
    graph.outputs.push_back(graph::cast(scaled(sums.back()), graph.element).id());
    return graph;
  }
};

/// The update of a network from its sums.
template <class Network, class R>
using update_from_sums_t = UpdateFromSums<nn::traced_model_t<Network>, typename Network::Element, R>;

/// Accumulates gradients of a network with a loss, and updates it by a rule. The sums are among the rule's states.
template <class Network, class L, optim::Rule R>
class AccumulatedStep : public TrainingState<R, NetworkStates<Network, update_from_sums_t<Network, R>>> {
  using D = typename Network::device_type;
  using T = typename Network::Element;
  using M = nn::traced_model_t<Network>;
  using Update = update_from_sums_t<Network, R>;
  using Base = TrainingState<R, NetworkStates<Network, Update>>;
  using Base::states_, Base::steps_;

  template <class... Targets> using Accumulate = AccumulateGradients<M, T, L, R, Targets...>;

public:
  /// Steps of a network by a loss and a rule. throws: ValueError where the rule refuses its options
  AccumulatedStep(Network& network, L, R given, AccumulationOptions options)
      : Base{std::move(given), network.state()},
        network_{&network},
        options_{options},
        loss_{network.device(), sizeof(T)} {}

  /// The source of one micro-batch of tensors of these types, for inspection.
  template <AnyTensor... Tensors> using source = source_for<Accumulate, M, Tensors...>;

  using Base::rule;

  /// Adds a micro-batch. Arguments: the model's inputs, then the loss's targets; the first one's first axis is rows.
  /// throws: ShapeError, DeviceError, OutOfMemoryError; ValueError if it is empty
  template <AnyTensor First, AnyTensor... Rest> void add(const First& first, const Rest&... rest) {
    nn::check_inputs<nn::CallOf<"add", M>, T, D, L, First, Rest...>();
    static_assert(First::rank > 0, "twill: add: the first input has no axis of rows");
    if constexpr (nn::arguments_fit<M, T, D, L, First, Rest...>) { // else refused
      using Source = source<First, Rest...>;
      require_in_slots<Source>(network_->devices(), first, rest...);
      require_rows(Source::called(), std::array{first.shape(), rest.shape()...});
      auto& program = programs_.template next<Source>(network_->devices(), network_->run_scalars(), capture);
      const std::int64_t rows = first.shape()[0];
      if (batches_ == 0) unit_rows_ = rows;
      program.run_scalars.set(loss_weight_scalar, share_of(rows));
      program.run_scalars.set(continues_scalar, batches_ > 0 ? 1 : 0);
      DrawOfRun draw{program, *network_->state()};
      if (program.draws && batches_ == 0) draw_ = draw.take(); // one draw for all pieces, like one batch
      if (program.draws) program.set_draw(draw_);
      program.run(network_->layer_hooks().get(),
                  {.parameters = states_.addresses(update_.table().parameters),
                   .first_row = rows_,
                   .groups = &network_->state()->groups},
                  first, rest...);
      ++batches_;
      rows_ += rows;
    }
  }

  /// Updates the weights and starts again. Returns the loss of all micro-batches, weighted like their gradients.
  /// throws: ValueError when nothing was added
  StepLoss<T, D> finish() {
    if (batches_ == 0) throw ValueError("finish: there is no micro-batch; call add first");
    if (!(loss_.device() == network_->device())) loss_ = memory::Buffer<D>(network_->device(), sizeof(T));
    update_.run_scalars.set(sum_scale_scalar, 1 / share_of(rows_));
    void* output = loss_.data();
    update_.run(network_->devices(), rule, steps_ + 1,
                {.parameters = states_.addresses(update_.table().parameters),
                 .outputs = {&output, 1},
                 .groups = &network_->state()->groups},
                capture);
    network_->state()->note_update();
    ++steps_;
    batches_ = 0;
    rows_ = 0;
    return {loss_, steps_, steps_};
  }

  /// Micro-batches and rows since the last `finish`.
  [[nodiscard]] std::int64_t batches() const { return batches_; }
  /// Rows since the last `finish`.
  [[nodiscard]] std::int64_t rows() const { return rows_; }

  /// The state of the rule and the sums, see `TrainingState`. throws: ValueError between `add` and `finish`
  [[nodiscard]] nn::StateDict state_dict() const {
    require_between_steps("state_dict");
    return Base::state_dict();
  }
  /// Resumes from such a state, see `TrainingState`. throws: ValueError between `add` and `finish`
  OptionsReport load_state_dict(const nn::StateDict& state) {
    require_between_steps("load_state_dict");
    return Base::load_state_dict(state);
  }

  /// Whether micro-batches like the last one run as captured graphs, and if not, why.
  [[nodiscard]] compile::CaptureReport capture_report() const {
    return programs_.capture_report("there was no micro-batch yet");
  }

  compile::Capture capture = compile::Capture::automatic; ///< whether programs become graphs, if devices have them

private:
  void require_between_steps(std::string_view what) const {
    if (batches_ > 0)
      throw ValueError(
          join_text({what, ": there are ", batches_, " micro-batches of a step that is not finished; call finish"}));
  }

  /// The weight of a number of rows. The first micro-batch has one, so that half-precision gradients keep their size.
  [[nodiscard]] double share_of(std::int64_t rows) const {
    if (options_.weighting == Weighting::sum) return 1;
    return static_cast<double>(rows) / static_cast<double>(unit_rows_);
  }

  Network* network_;
  AccumulationOptions options_;
  memory::Buffer<D> loss_;
  UpdateProgram<R, Update, D, Network::slots> update_{compile::Arena::kept};
  StepPrograms<StepProgram<M, D, Network::slots>> programs_{};
  RandomDraw draw_{};
  std::int64_t batches_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t unit_rows_ = 1; ///< of the first micro-batch
};

}}}} // namespace twill::v0::training::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Gradient accumulation: `auto step = accumulated_step(model, nn::cross_entropy, rule);`, then `step.add(image,
/// label)` for each micro-batch and `step.finish()` for the update. The model has to outlive it.
template <class Network, class L, optim::Rule R>
[[nodiscard]] auto accumulated_step(Network& network, L loss, R rule, training::AccumulationOptions options = {}) {
  return training::AccumulatedStep<Network, L, R>{network, loss, std::move(rule), options};
}

}}} // namespace twill::v0::TWILL_ISA
