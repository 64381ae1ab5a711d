#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Gradient accumulation: several micro-batches, one update. Each `add` runs forward, loss and backward as one planned
// program that adds to sums of gradients; `finish` updates the weights. Weighted by rows, the result is that of the
// mean over one large batch, dropout masks included, for micro-batches of any sizes. A steady run allocates nothing.
// Read next: train/train_step.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/nn/device_trace.hpp>
#include <twill/train/train_step.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace train { inline namespace TWILL_ISA {

/// Weights of micro-batches.
enum class Weighting : std::uint8_t {
  rows, ///< by their rows: the mean over all rows, as if they were one batch
  sum,  ///< each fully: the sum of their losses
};

/// Options of gradient accumulation.
struct AccumulationOptions {
  Weighting weighting = Weighting::rows; ///< the weight of a micro-batch
};

}}}} // namespace twill::v0::train::TWILL_ISA

namespace twill { inline namespace v0 { namespace train { namespace detail { inline namespace TWILL_ISA {

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

}}}}} // namespace twill::v0::train::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace train { inline namespace TWILL_ISA {

/// Adds the weighted loss and its gradients to the sums. Inputs: those of the model, then the targets.
template <class M, class T, class L, class R, class... Targets>
struct AccumulateGradients : detail::DividedSource<AccumulateGradients, M, T, L, R, Targets...> {
  /// The graph that adds one micro-batch's gradients, planned for these parts.
  static constexpr graph::Graph trace_with(const graph::Parts& parts) {
    detail::LossTrace trace = detail::trace_loss<M, T, L, R, Targets...>(parts);
    graph::Graph& graph = trace.graph;
    if (graph.fault.any()) return graph;
    const List<int> sums = detail::declare_sums(graph, trace.weights);
    const graph::Value continues = graph::run_scalar(graph, detail::continues_scalar, 0, DType::boolean);
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
    using Stage = nn::ModelStage<M, T, false>;
    graph::Graph graph = Stage::make_graph();
    static_cast<void>(Stage::build(graph));
    graph.inputs.clear(); // only the weights are used
    graph.taps.clear();
    graph.bounds.clear();
    const List<int> weights = nn::detail::trainable_weights(graph);
    optim::declare_states<R>(graph);
    const List<int> sums = detail::declare_sums(graph, weights);
    const auto scaled = [&](int id) {
      const graph::Value sum{graph, id};
      return sum * graph::run_scalar(graph, detail::sum_scale_scalar, 1, sum.dtype());
    };
    List<int> gradients{};
    for (std::size_t i = 0; i < weights.size(); ++i) gradients.push_back(scaled(sums[i]).id());
    optim::update_all<R>(graph, weights, gradients);
    graph.outputs.push_back(graph::cast(scaled(sums.back()), graph.element).id());
    return graph;
  }
};

/// Accumulates gradients of a network with a loss, and updates it by a rule.
template <class Network, class L, optim::Rule R> class AccumulatedStep {
  using D = typename Network::device_type;
  using T = typename Network::Element;
  using M = nn::traced_on_t<typename Network::model_type, D>;
  using Update = UpdateFromSums<M, T, R>;
  using Executor = compile::executor_t<D, Network::slots>;
  using Program = detail::StepProgram<D, Network::slots>;

  template <class... Targets> using Accumulate = AccumulateGradients<M, T, L, R, Targets...>;

public:
  /// Steps of a network by a loss and a rule. throws: ValueError where the rule refuses its options
  AccumulatedStep(Network& network, L, R given, AccumulationOptions options)
      : rule{std::move(given)},
        network_{&network},
        options_{options},
        update_scalars_{compile::TableFor<Update, D>::view().run_scalars},
        numbers_{update_scalars_},
        loss_{network.device(), sizeof(T)} {}

  /// The source of one micro-batch of tensors of these types, for inspection.
  template <AnyTensor... Tensors> using source = detail::source_for<Accumulate, M, Tensors...>;

  /// Adds a micro-batch. Arguments: the model's inputs, then the loss's targets; the first one's first axis is rows.
  /// throws: ShapeError, DeviceError, OutOfMemoryError
  template <AnyTensor First, AnyTensor... Rest> void add(const First& first, const Rest&... rest) {
    nn::check_inputs<M, T, D, true, First, Rest...>();
    static_assert(First::rank > 0, "twill: add: the first input has no axis of rows");
    using Source = source<First, Rest...>;
    detail::require_in_slots<Source>("add", network_->devices(), first, rest...);
    follow_network();
    auto& program = programs_.template at<Source>(network_->devices(), network_->run_scalars());
    std::tuple<std::optional<First>, std::optional<Rest>...> copies{};
    const auto addresses = detail::row_major_addresses(copies, first, rest...);
    const std::array<Dims, 1 + sizeof...(Rest)> shapes{first.shape(), rest.shape()...};
    if constexpr (compile::Budget<M>) program.keep_within(M::budget_bytes, shapes);
    if (batches_ == 0) unit_rows_ = std::max<std::int64_t>(shapes[0][0], 1);
    program.take(network_->run_scalars());
    program.run_scalars.set(loss_weight_scalar, share_of(shapes[0][0]));
    program.run_scalars.set(detail::continues_scalar, batches_ > 0 ? 1 : 0);
    if (program.draws) {
      if (batches_ == 0) draw_ = network_->state()->next_draw(); // one draw for all pieces, like one batch
      program.run_scalars.set_draw(draw_.seed, draw_.step);
    }
    program.executor.allow(capture);
    last_ = &program;
    const auto addresses_of_parameters = parameters();
    nn::run_with_hooks(program.executor, network_->layer_hooks(), [&] {
      program.executor.run_on(shapes, {.inputs = addresses,
                                       .parameters = addresses_of_parameters,
                                       .run_scalars = program.run_scalars.bits(),
                                       .first_row = rows_,
                                       .groups = &network_->state()->groups});
    });
    ++batches_;
    rows_ += shapes[0][0];
  }

  /// Updates the weights and starts again. Returns the loss of all micro-batches, weighted like their gradients.
  /// throws: ValueError when nothing was added
  StepLoss<T, D> finish() {
    if (batches_ == 0) throw ValueError("finish: there is no micro-batch; call add first");
    follow_network();
    numbers_.write(rule, steps_ + 1, update_scalars_);
    update_scalars_.set(detail::sum_scale_scalar, 1 / share_of(std::max<std::int64_t>(rows_, 1)));
    void* output = loss_.data();
    const auto addresses = parameters();
    update_->allow(capture);
    update_->run({}, {.parameters = addresses,
                      .outputs = {&output, 1},
                      .run_scalars = update_scalars_.bits(),
                      .groups = &network_->state()->groups});
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
  /// Updates so far.
  [[nodiscard]] std::int64_t steps() const { return steps_; }

  /// A single number of the rule, such as `optim::gradient_norm_state`, after the last step. Waits for it.
  [[nodiscard]] double state(std::string_view name) const { return state_.item(name); }

  /// The rule's states, the sums, the count of steps and the rule's options, to resume elsewhere. Waits for the device.
  /// throws: ValueError between `add` and `finish`
  [[nodiscard]] nn::StateDict state_dict() const {
    require_between_steps("state_dict");
    return detail::with_options(state_.state_dict(steps_), rule);
  }
  /// Resumes from such a state; if it holds no options, the rule keeps its own.
  /// throws: ValueError, ShapeError naming the option or the state and both sides, with nothing changed
  OptionsReport load_state_dict(const nn::StateDict& state) {
    require_between_steps("load_state_dict");
    detail::LoadedOptions options{rule, state};
    steps_ = state_.load_state_dict(options.states(), *network_->state(),
                                    [] { return compile::TableFor<Update, D>::view().parameters; });
    return options.set();
  }

  /// Whether micro-batches like the last one run as captured graphs, and if not, why.
  [[nodiscard]] compile::CaptureReport capture_report() const {
    if (last_ == nullptr) return {.reason = "there was no micro-batch yet"};
    return last_->executor.capture_report();
  }

  R rule;                                                 ///< its options may change between steps
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

  /// Moves the programs to the network's devices, and the sums with the weights.
  void follow_network() {
    const std::span<const D> devices = network_->devices();
    if (update_ && std::equal(devices.begin(), devices.end(), devices_.begin())) return;
    devices_.assign(devices.begin(), devices.end());
    programs_.clear();
    last_ = nullptr;
    update_ =
        std::make_unique<Executor>(devices, compile::TableFor<Update, D>::view(),
                                   compile::TableFor<Update, D>::template kernels<team_t<D>>(), compile::Arena::kept);
    if (!(loss_.device() == devices.front())) loss_ = memory::Buffer<D>(devices.front(), sizeof(T));
  }

  /// The weights, the sums, the rule's states; the programs of micro-batches use the first two.
  [[nodiscard]] std::span<void* const> parameters() {
    return state_.addresses(*network_->state(), update_->table().parameters);
  }

  Network* network_;
  std::vector<D> devices_{}; ///< on which the programs run
  AccumulationOptions options_;
  compile::RunScalars update_scalars_;
  RuleNumbers<R> numbers_;
  memory::Buffer<D> loss_;
  OptimiserState<D> state_{};
  std::unique_ptr<Executor> update_{};
  detail::StepPrograms<Program> programs_{};
  const Program* last_ = nullptr;
  Draw draw_{};
  std::int64_t batches_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t unit_rows_ = 1; ///< of the first micro-batch
  std::int64_t steps_ = 0;
};

}}}} // namespace twill::v0::train::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Gradient accumulation: `auto step = accumulated_step(model, nn::cross_entropy, rule);`, then `step.add(image,
/// label)` for each micro-batch and `step.finish()` for the update. The model has to outlive it.
template <class Network, class L, optim::Rule R>
[[nodiscard]] auto accumulated_step(Network& network, L loss, R rule, train::AccumulationOptions options = {}) {
  return train::AccumulatedStep<Network, L, R>{network, loss, std::move(rule), options};
}

}}} // namespace twill::v0::TWILL_ISA
