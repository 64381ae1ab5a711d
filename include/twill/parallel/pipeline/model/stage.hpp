#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stages of a pipeline: a network, its programs, and the values of the micro-batches in flight. No value is kept longer
// than the last action that reads it, and the programs know what they read: an input that no gradient needs is released
// after the forward pass, and between the two parts of a backward pass only the second part's operands are kept. So a
// stage never keeps more micro-batches than its schedule has in flight, and the size of each is known to the byte. Read
// next: parallel/pipeline/model/pipeline.hpp.

#include <twill/compile/in_one_order.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/checkpoint.hpp>
#include <twill/nn/network.hpp>
#include <twill/parallel/pipeline/model/block.hpp>
#include <twill/parallel/pipeline/model/kept_weights.hpp>
#include <twill/parallel/pipeline/model/programs.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// Takes a value out of a map.    requires: it is there
template <class Value> [[nodiscard]] Value take(std::map<int, Value>& values, int key) {
  auto node = values.extract(key);
  return std::move(node.mapped());
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// Whether a stage computes a micro-batch's forward pass again in its backward pass, from kept inputs instead of kept
/// operands of gradients. The same program runs, so the bits are equal; buffers are not updated twice.
using graph::Recompute;

/// F on the weights of a network N. `Split` if backward passes have two parts.
template <StageSource F, class N, bool Split> class Stage {
public:
  using Source = F;
  using Network = N;
  using D = typename N::device_type;
  using Output = compile::shown_output_t<StageInference<F>, 0, D>;
  static constexpr StageCounts counts = stage_counts<F>;

  explicit Stage(const D& device) : network{device} {}
  /// A stage that draws this, on one of the ranks of these groups, if there are any, which all draw alike.
  Stage(const D& device, const kernel::RankGroups& groups, const RandomDraw& draw) : network{device, groups, draw} {}

  Network network;
  nn::RunContext context{};  ///< of this step: its draws are those of the whole batch
  bool keeps_orders = false; ///< of the weights, for the micro-batches to come, until `drop_orders`
  /// Where the next forward pass and its backward pass find weights and buffers, if not in the network.
  std::vector<void*> parameters_of_next{};

  /// A micro-batch between its forward pass and its last gradient: the operands of its backward programs.
  struct Kept {
    graph::SymbolValues symbols{};
    nn::RunContext context{};
    Blocks<D> operands{};
    bool is_recomputed = false;      ///< the operands are only the inputs
    std::vector<void*> parameters{}; ///< in place of the network's; empty for those
  };

  std::map<int, Blocks<D>> inputs{}; ///< received
  std::map<int, Kept> kept{};
  std::map<int, Blocks<D>> outputs{};         ///< until they are sent, or read by a stage of the same rank
  std::map<int, Blocks<D>> cotangents{};      ///< received: gradients of outputs
  std::map<int, Blocks<D>> input_gradients{}; ///< until they are sent, or read by a stage of the same rank

  /// Computes the outputs of a micro-batch from `given`, its part of the batch, and received values. `first_row` is its
  /// first row in the rank's batch, which begins at the context's. Keeps gradients' operands, or inputs to recompute.
  /// The source that each program is made of is given by `Order`, here and in the backward passes.
  template <template <class> class Order = compile::AsTraced>
  void forward(int micro_batch, Blocks<D> given, const graph::SymbolValues& symbols, std::int64_t first_row,
               Recompute recompute = Recompute::no) {
    keep_orders();
    Kept own{symbols, context, std::move(given), recompute == Recompute::yes, std::exchange(parameters_of_next, {})};
    own.context.first_row += first_row;
    own.context.run_scalars.set_if_present("train.continues",
                                           first_row > 0 ? 1 : 0); // deferred batch norm accumulates them
    if (counts.received > 0)
      for (Block<D>& block : detail::take(inputs, micro_batch)) own.operands.push_back(std::move(block));
    Blocks<D> made = run<Order<StageForward<F>>>(forward_, own);
    outputs.insert_or_assign(micro_batch, Blocks<D>(made.begin(), made.begin() + counts.results));
    if (!own.is_recomputed) complete<Order>(own, std::move(made));
    kept.insert_or_assign(micro_batch, std::move(own));
  }

  /// The whole backward pass: adds to the gradients of the weights and leaves those of the inputs.
  template <template <class> class Order = compile::AsTraced> void backward(int micro_batch) {
    if constexpr (Split) {
      input_gradient<Order>(micro_batch);
      weight_gradient<Order>(micro_batch);
    } else {
      Kept own = take_with_cotangents<Order>(micro_batch);
      Blocks<D> made = run<Order<StageBackward<F>>>(backward_, own);
      const auto first = made.begin() + counts.weights;
      if (counts.received > 0) input_gradients.insert_or_assign(micro_batch, Blocks<D>(first, made.end()));
      made.erase(first, made.end());
      add_gradients(std::move(made));
    }
  }

  /// The part for which the stage before waits. The first stage has none: its whole backward pass can wait.
  template <template <class> class Order = compile::AsTraced> void input_gradient(int micro_batch) requires Split {
    Kept own = take_with_cotangents<Order>(micro_batch);
    if constexpr (counts.received > 0) {
      Blocks<D> made = run<Order<StageInputGradient<F>>>(input_, own);
      const auto first = made.begin() + input_gradients_made();
      std::move(first, made.end(), std::back_inserter(own.operands));
      made.erase(first, made.end());
      input_gradients.insert_or_assign(micro_batch, std::move(made));
    }
    release(own.operands, [](std::size_t i) { return is_read_by_weights<Order>(i); });
    kept.insert_or_assign(micro_batch, std::move(own));
  }

  /// The rest: adds to the gradients of the weights.
  template <template <class> class Order = compile::AsTraced> void weight_gradient(int micro_batch) requires Split {
    const Kept own = detail::take(kept, micro_batch);
    if constexpr (counts.weights > 0) add_gradients(run<Order<StageWeightGradient<F>>>(weight_, own));
  }

  /// Memory for the received values of a micro-batch.
  [[nodiscard]] Blocks<D> make_inputs(const graph::SymbolValues& symbols) const {
    Blocks<D> blocks;
    for (const graph::InputInfo& info : shown().inputs.subspan(static_cast<std::size_t>(counts.given)))
      blocks.push_back(Block<D>::make(network.device(), info.dtype, info.shape.evaluate(symbols)));
    return blocks;
  }
  [[nodiscard]] Blocks<D> make_cotangents(const graph::SymbolValues& symbols) const {
    Blocks<D> blocks;
    for (const graph::InputInfo& info : compile::Signature<StageInference<F>>::frozen.outputs)
      if (is_floating(info.dtype))
        blocks.push_back(Block<D>::make(network.device(), info.dtype, info.shape.evaluate(symbols)));
    return blocks;
  }

  /// The symbols' numbers of a micro-batch of this number of rows, if only rows are unknown to a stage.
  [[nodiscard]] static graph::SymbolValues symbols_of_rows(std::int64_t rows) {
    graph::SymbolValues symbols{};
    symbols.fill(-1);
    for (const graph::InputInfo& info : shown().inputs)
      if (const int symbol = info.shape.rank > 0 ? info.shape[0].single_symbol() : -1; symbol >= 0)
        symbols[static_cast<std::size_t>(symbol)] = rows;
    return symbols;
  }

  /// Inputs, weights and symbols, from the trace.
  [[nodiscard]] static constexpr compile::TableView shown() { return compile::Signature<StageInference<F>>::view(); }

  /// Whether the forward pass writes values that a second one must not write again.
  static constexpr bool updates_buffers = [] {
    for (const graph::ParameterInfo& info : compile::Signature<StageInference<F>>::view().parameters)
      if (info.role == graph::Role::buffer) return true;
    return false;
  }();

  /// The results read by the backward pass, by their number.
  static constexpr std::array<bool, static_cast<std::size_t>(counts.results)> results_kept = [] {
    detail::StageJoint joint = detail::joint<F>();
    const List<int> nodes = nn::kept_nodes(joint);
    std::array<bool, static_cast<std::size_t>(counts.results)> found{};
    for (std::size_t i = 0; i < found.size(); ++i) {
      bool is_repeated = false;
      for (std::size_t other = 0; other < i; ++other)
        is_repeated = is_repeated || joint.graph.outputs[other] == joint.graph.outputs[i];
      for (const int id : nodes) found[i] = found[i] || (id == joint.graph.outputs[i] && !is_repeated);
    }
    return found;
  }();

  /// The weights kept in the order of their readers; null while there are none.
  [[nodiscard]] const cpu::KeptOrders* kept_orders() const {
    return kept_weights_ ? &kept_weights_->orders() : nullptr;
  }

  [[nodiscard]] bool is_idle() const {
    return inputs.empty() && kept.empty() && outputs.empty() && cotangents.empty() && input_gradients.empty();
  }
  /// Releases the values of micro-batches.
  void forget_micro_batches() {
    inputs.clear(), kept.clear(), outputs.clear(), cotangents.clear(), input_gradients.clear();
  }
  /// Releases everything of an unfinished step.
  void clear() {
    forget_micro_batches();
    drop_orders();
  }
  /// Brings the sums into the order of the weights, after the gradients of the last micro-batch.
  void leave_orders() {
    if (kept_weights_) kept_weights_->leave_orders(*network.state());
  }
  /// Prepares for a change of the weights, or an abandoned step. Waits for their last readers.
  void drop_orders() {
    keeps_orders = false;
    if (!kept_weights_) return;
    try {
      synchronize(network.device());
    } catch (...) { // reported to the caller that waited for the run
    }
    kept_weights_.reset();
  }

private:
  using Maker = std::conditional_t<Split, StageWeightGradient<F>, StageBackward<F>>; ///< of the gradients of weights
  static constexpr auto first_cotangent = static_cast<std::size_t>(counts.given + counts.received);

  /// Whether backward programs read an operand.
  template <template <class> class Order> [[nodiscard]] static bool is_read_by_weights(std::size_t input) {
    if constexpr (counts.weights > 0) return detail::reads_input<Order<StageWeightGradient<F>>, D>(input);
    return false;
  }
  template <template <class> class Order> [[nodiscard]] static bool is_read_after_forward(std::size_t input) {
    if constexpr (!Split)
      return detail::reads_input<Order<StageBackward<F>>, D>(input);
    else if constexpr (counts.received > 0)
      return detail::reads_input<Order<StageInputGradient<F>>, D>(input) || is_read_by_weights<Order>(input);
    else
      return is_read_by_weights<Order>(input);
  }

  [[nodiscard]] static int input_gradients_made() {
    int made = 0;
    for (const graph::InputInfo& info : shown().inputs.subspan(static_cast<std::size_t>(counts.given)))
      made += is_floating(info.dtype) ? 1 : 0;
    return made;
  }

  [[nodiscard]] static std::vector<void*> addresses(const Blocks<D>& blocks) {
    std::vector<void*> all;
    for (const Block<D>& block : blocks) all.push_back(block.data);
    return all;
  }
  [[nodiscard]] std::span<void* const> parameters() const { return network.state()->addresses(); }

  /// Runs a program on the values of a micro-batch.
  template <compile::Source S> [[nodiscard]] Blocks<D> run(detail::Program<D>& program, const Kept& own) {
    cpu::KeptOrders* orders = nullptr;
    if (kept_weights_)
      orders = std::same_as<S, Maker> ? &kept_weights_->orders_with_gradients() : &kept_weights_->orders();
    return program.template run<S>(network.device(), own.symbols, addresses(own.operands),
                                   own.parameters.empty() ? parameters() : std::span<void* const>{own.parameters},
                                   own.context, orders);
  }

  /// Allocates memory for weights in the order of their readers, at the first micro-batch of a step.
  void keep_orders() {
    if constexpr (can_keep_orders<D>) {
      using First = std::conditional_t<Split && (counts.received > 0), StageInputGradient<F>, StageBackward<F>>;
      if (!keeps_orders || kept_weights_) return;
      kept_weights_.emplace();
      kept_weights_->add(network.device(), compile::TableFor<StageForward<F>, D>::view(), parameters());
      if constexpr (!Split || counts.received > 0)
        kept_weights_->add(network.device(), compile::TableFor<First, D>::view(), parameters());
      if constexpr (counts.weights > 0)
        kept_weights_->add_gradients(compile::TableFor<Maker, D>::view(), counts.weights);
    }
  }

  /// Drops values without further readers.
  template <class Wanted> static void release(Blocks<D>& operands, Wanted is_wanted) {
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (!is_wanted(i)) operands[i] = Block<D>{};
  }

  /// Appends the results of the forward program, then its other outputs, to the inputs.
  template <template <class> class Order> static void complete(Kept& own, Blocks<D> made) {
    const auto first_kept = made.begin() + counts.results;
    own.operands.resize(own.operands.size() + static_cast<std::size_t>(counts.cotangents)); // not there yet
    std::move(first_kept, made.end(), std::back_inserter(own.operands));
    for (std::size_t i = 0; i < results_kept.size(); ++i)
      if (results_kept[i]) own.operands.push_back(std::move(made[i]));
    release(own.operands, [](std::size_t i) { return is_read_after_forward<Order>(i); });
    own.is_recomputed = false;
  }

  template <template <class> class Order> [[nodiscard]] Kept take_with_cotangents(int micro_batch) {
    Kept own = detail::take(kept, micro_batch);
    if (own.is_recomputed) {
      if constexpr (updates_buffers)
        complete<Order>(own, run<Order<StageForwardAgain<F>>>(again_, own));
      else
        complete<Order>(own, run<Order<StageForward<F>>>(forward_, own));
    }
    Blocks<D> given = detail::take(cotangents, micro_batch);
    std::move(given.begin(), given.end(), own.operands.begin() + static_cast<std::ptrdiff_t>(first_cotangent));
    return own;
  }

  void add_gradients(Blocks<D> gradients) {
    std::vector<memory::Buffer<D>> buffers;
    for (Block<D>& gradient : gradients) buffers.push_back(std::move(gradient.owner));
    network.state()->add_gradients(std::move(buffers));
  }

  std::optional<KeptWeights<D>> kept_weights_{};
  detail::Program<D> forward_{};
  detail::Program<D> again_{};
  detail::Program<D> backward_{};
  detail::Program<D> input_{};
  detail::Program<D> weight_{};
};

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA
