#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stage runner of one rank of a training step: it gives each stage of the rank its part of the batch, passes results
// between stages of one rank, and begins backward passes at the loss. Losses and gradients are weighted by rows. Read
// next: parallel/pipeline/run/rank_step.hpp.

#include <twill/core/config.hpp>
#include <twill/nn/leaf.hpp>
#include <twill/parallel/data/chunk.hpp>
#include <twill/parallel/data/scatter.hpp>
#include <twill/parallel/pipeline/model/stage.hpp>
#include <twill/parallel/pipeline/run/run.hpp>
#include <twill/parallel/pipeline/run/step_options.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// The micro-batches of a batch: equal except for the last.
/// throws: ValueError if the rows do not fill them
[[nodiscard]] std::vector<parallel::Rows> micro_batches_of(std::int64_t rows, int micro_batches);

/// The rows of a batch.    throws: ShapeError if its tensors have different numbers of them
template <class X, class Y> [[nodiscard]] std::int64_t rows_of_batch(const X& x, const Y& targets) {
  return std::apply([&](const auto&... input) { return parallel::common_rows(input..., targets).value_or(0); }, x);
}

/// Releases the gradients of the last step, and the values that an unfinished one has kept of its micro-batches.
template <class P> void give_up_step(P& pipeline) {
  pipeline.for_each_stage_here([](auto& stage) {
    stage.network.zero_grad();
    stage.clear();
  });
}

/// Whether the stages of a pipeline can keep weights in the order of their readers: all or none do.
template <class P> inline constexpr bool stages_keep_orders = []<std::size_t... I>(std::index_sequence<I...>) {
  return (can_keep_orders<typename std::tuple_element_t<I, typename P::Stages>::D> && ...);
}
(typename P::Sequence{});

/// Drops the orders before a change of the weights.
template <class P> void drop_orders(P& pipeline) {
  pipeline.for_each_stage_here([](auto& stage) { stage.drop_orders(); });
}

/// Prepares a step; a cut model draws as one.
template <class P> void begin_step(P& pipeline, const StepOptions& options = {}) {
  give_up_step(pipeline);
  const bool keeps_orders = stages_keep_orders<P> && options.weight_orders == WeightOrders::kept_for_step &&
                            options.micro_batches > 1; // with a single one they have no second reader
  pipeline.for_each_stage_here([&](auto& stage) {
    stage.keeps_orders = keeps_orders;
    stage.context = stage.network.context_without_draw();
  });
  if (!pipeline.groups().all().empty())
    return pipeline.draw_with_groups(
        [](auto& stage, const RandomDraw& draw) { stage.context.run_scalars.set_draw(draw.seed, draw.step); });
  std::optional<RandomDraw> draw;
  pipeline.for_each_stage_here([&](auto& stage) {
    if (!stage.context.run_scalars.draws()) return;
    if (!draw || !P::Plan::has_ties) draw = stage.network.state()->next_draw();
    stage.context.run_scalars.set_draw(draw->seed, draw->step);
  });
}

[[nodiscard]] inline Message message_of(const auto& blocks) {
  Message message;
  for (const auto& block : blocks) message.push_back(block.elements());
  return message;
}

/// Compares the inputs of the batch, as passed to a stage, with the declarations of a pipeline's model.
template <FixedString Call, class P, class... Inputs>
consteval void check_batch(std::type_identity<std::tuple<const Inputs&...>>) {
  using D = typename P::device_type;
  nn::check_inputs<nn::CallOf<Call, typename P::Plan::BatchModel>, typename P::Element, D, void,
                   decltype(parallel::rows_of<0>(std::declval<const Inputs&>(), parallel::Rows{})
                                .to(std::declval<const D&>()))...>();
}

/// The part of the batch that the stage of a source takes, on its device.
template <class Source, ComputeDevice D, class X>
[[nodiscard]] Blocks<D> given_part(const X& x, const parallel::Rows& rows, const D& device) {
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    return Blocks<D>{
        Block<D>::of(parallel::rows_of<0>(std::get<static_cast<std::size_t>(given_inputs<Source>[K])>(x), rows)
                         .to(device)
                         .contiguous())...};
  }
  (std::make_index_sequence<static_cast<std::size_t>(stage_counts<Source>.given)>{});
}

/// The numbers of a stage's symbols for a number of rows of the batch.
template <class P, class Stage, class X>
[[nodiscard]] graph::SymbolValues symbols_of_rows(const X& x, std::int64_t rows) {
  auto shapes =
      std::apply([](const auto&... input) { return std::array<Dims, sizeof...(input)>{input.shape()...}; }, x);
  for (Dims& shape : shapes) shape[0] = rows;
  return P::Plan::template symbols<Stage>(shapes, rows);
}

/// The shape of a value traced as (batch, channels, ...), as a message has it.
[[nodiscard]] Dims shape_in_message(const Dims& traced, bool is_channels_last);

/// One side of a border between two stages, as messages name it.
struct BorderSide {
  int stage = 0;
  const char* model = nullptr; ///< `written_name` of the stage's model
  Dims shape{};
};
/// throws: ShapeError naming both stages and both shapes
[[noreturn]] void refuse_border(const BorderSide& made, const BorderSide& taken);

/// Whether messages have images as one network computes them, which only training looks for.
enum class ImagesInMessages : std::uint8_t { row_major, as_computed };

/// Refuses results of stage I of a micro-batch that the next one does not take: extents that only the run knows.
template <class P, std::size_t I, ImagesInMessages Images, class X, class Made>
void require_fit(const X& x, std::int64_t rows, const Made& made) {
  if constexpr (I + 1 < std::tuple_size_v<typename P::Stages>) {
    using Stage = std::tuple_element_t<I, typename P::Stages>;
    using Next = std::tuple_element_t<I + 1, typename P::Stages>;
    const compile::TableView next = Next::shown();
    const graph::SymbolValues symbols = symbols_of_rows<P, Next>(x, rows);
    for (std::size_t k = 0; k < made.size(); ++k) {
      const graph::InputInfo& info = next.inputs[static_cast<std::size_t>(Next::counts.given) + k];
      const Dims taken = shape_in_message(info.shape.evaluate(symbols),
                                          Images == ImagesInMessages::as_computed && info.is_channels_last);
      if (!(taken == made[k].shape))
        refuse_border({static_cast<int>(I), Stage::shown().name.type, made[k].shape},
                      {static_cast<int>(I) + 1, next.name.type, taken});
    }
  }
}

/// A loss that gives the gradient of a stage's result itself, which begins the backward pass:
/// `loss.of<Stage>(result, targets)` of a block.
template <class L>
concept GradientLoss = requires {
  typename L::gradient_type;
};

/// P is a pipeline, L a loss, X the tuple of the model's inputs, Y the targets. `Order` makes the sources of stages.
template <class P, class L, class X, class Y, template <class> class Order = compile::AsTraced> class ModelRunner {
  using Stages = typename P::Stages;
  using D = typename P::device_type;
  static constexpr int last = P::stages - 1;

  /// Whether a stage may be on the device of the next one, as known to the compiler.
  template <std::size_t I>
  static constexpr bool is_with_the_next =
      std::is_same_v<typename std::tuple_element_t<I, Stages>::D, typename std::tuple_element_t<I + 1, Stages>::D>;

public:
  ModelRunner(P& pipeline, const Schedule& schedule, L& loss, const std::vector<parallel::Rows>& pieces, const X& x,
              const Y& targets, int rank, const StageCheckpointing& checkpointing)
      : pipeline_{pipeline},
        schedule_{schedule},
        loss_{loss},
        pieces_{pieces},
        x_{x},
        targets_{targets},
        rank_{rank},
        checkpointing_{checkpointing},
        all_rows_{pieces.back().begin + pieces.back().count} {
    check_batch<"train_step", P>(std::type_identity<X>{});
  }

  void run_forward(int stage, int m) {
    visit(stage, [&]<std::size_t I>(std::integral_constant<std::size_t, I>, auto& own) {
      if constexpr (I > 0)
        if constexpr (is_with_the_next<I - 1>)
          if (is_here(stage - 1)) own.inputs.insert_or_assign(m, take(pipeline_.template at<I - 1>().outputs, m));
      own.template forward<Order>(m, given(own, m), symbols(own, m), piece(m).begin, recompute(stage, m));
      require_fit<P, I, ImagesInMessages::as_computed>(x_, piece(m).count, own.outputs.at(m));
      synchronize(own.network.device());
    });
  }

  void run_backward(int stage, int m) {
    visit(stage, [&](auto number, auto& own) {
      find_cotangents(number, own, m);
      own.template backward<Order>(m);
      finish(stage, own);
    });
  }
  void run_input_gradient(int stage, int m) {
    visit(stage, [&](auto number, auto& own) {
      if constexpr (requires { own.template input_gradient<Order>(m); }) {
        find_cotangents(number, own, m);
        own.template input_gradient<Order>(m);
        synchronize(own.network.device());
      } else {
        refuse_parts(stage);
      }
    });
  }
  void run_weight_gradient(int stage, int m) {
    visit(stage, [&](auto, auto& own) {
      if constexpr (requires { own.template weight_gradient<Order>(m); }) {
        own.template weight_gradient<Order>(m);
        finish(stage, own);
      } else {
        refuse_parts(stage);
      }
    });
  }

  Message input(int stage, int m) {
    return in(stage, [&](auto& own) {
      return detail::message_of(own.inputs.insert_or_assign(m, own.make_inputs(symbols(own, m))).first->second);
    });
  }
  Message output(int stage, int m) {
    return in(stage, [&](auto& own) { return detail::message_of(own.outputs.at(m)); });
  }
  Message output_gradient(int stage, int m) {
    return in(stage, [&](auto& own) {
      return detail::message_of(own.cotangents.insert_or_assign(m, own.make_cotangents(symbols(own, m))).first->second);
    });
  }
  Message input_gradient(int stage, int m) {
    return in(stage, [&](auto& own) { return detail::message_of(own.input_gradients.at(m)); });
  }
  void output_is_sent(int stage, int m) {
    visit(stage, [&](auto, auto& own) { own.outputs.erase(m); });
  }
  void input_gradient_is_sent(int stage, int m) {
    visit(stage, [&](auto, auto& own) { own.input_gradients.erase(m); });
  }

  /// Calls `f(stage)` when the gradients of all micro-batches of a stage are summed.
  void when_complete(std::function<void(std::size_t)> f) { complete_ = std::move(f); }
  /// Calls `f(cause)` for an exception of this rank before its group hears of it: a group that only learns of it from
  /// another would be a worse witness.
  void when_failed(std::function<void(const std::exception_ptr&)> f) { failed_ = std::move(f); }
  void failed() const {
    try {
      throw;
    } catch (const parallel::CommunicatorError&) { // of another rank, which has reported it
    } catch (...) {
      if (failed_) failed_(std::current_exception());
    }
  }

  /// Weighs losses by their share of this number of rows: those of all replicas, including this one's batch.
  void count_among(std::int64_t rows) { all_rows_ = rows; }

  /// Sets the factor of gradients from the loss on.
  void scale_gradients(double factor) { gradient_scale_ = factor; }

  /// The loss of the whole batch, on the rank of the last stage; for one of several replicas its share.
  [[nodiscard]] double loss() const { return loss_sum_; }

protected:
  template <class F> void visit(int stage, F f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((stage == static_cast<int>(I) ? f(std::integral_constant<std::size_t, I>{}, pipeline_.template at<I>())
                                     : void()),
       ...);
    }
    (std::make_index_sequence<std::tuple_size_v<Stages>>{});
  }

private:
  [[noreturn]] static void refuse_parts(int stage) {
    throw ValueError("train_step: " + std::string{P::ScheduleType::name} + " computes the gradients of stage " +
                     std::to_string(stage) + " in two parts now and whole with the fewest micro-batches that it takes");
  }

  /// Counts a micro-batch whose gradients are added in a stage.
  template <class Own> void finish(int stage, Own& own) {
    const auto number = static_cast<std::size_t>(stage);
    const bool is_last = ++done_[number] == schedule_.micro_batches;
    if (is_last) own.leave_orders();
    synchronize(own.network.device());
    if (is_last && complete_) complete_(number);
  }

  template <class F> Message in(int stage, F f) {
    Message result;
    visit(stage, [&](auto, auto& own) { result = f(own); });
    return result;
  }

  template <class Own> [[nodiscard]] Blocks<typename Own::D> given(const Own& own, int m) const {
    return given_part<typename Own::Source>(x_, piece(m), own.network.device());
  }
  template <class Own> [[nodiscard]] graph::SymbolValues symbols(const Own&, int m) const {
    return symbols_of_rows<P, Own>(x_, piece(m).count);
  }

  /// The gradients of a stage's results: of the loss, or of the next stage on this rank; others were received.
  template <std::size_t I, class Own> void find_cotangents(std::integral_constant<std::size_t, I>, Own& own, int m) {
    if constexpr (I == static_cast<std::size_t>(last) && GradientLoss<L>) {
      const auto result = detail::take(own.outputs, m)[0];
      const auto targets = parallel::rows_of<0>(targets_, piece(m)).to(own.network.device()).contiguous();
      own.cotangents.insert_or_assign(m, Blocks<typename Own::D>{loss_.template of<Own>(result, targets)});
    } else if constexpr (I == static_cast<std::size_t>(last)) {
      const nn::Leaf result{detail::take(own.outputs, m)[0].template as<typename Own::Output>()};
      const auto value = loss_(result, parallel::rows_of<0>(targets_, piece(m)).to(own.network.device()).contiguous());
      using Value = typename std::remove_cvref_t<decltype(value)>::Value;
      Value weight(value.device(), value.shape());
      weight.fill(static_cast<typename Value::value_type>(gradient_scale_ * share(m)));
      if constexpr (Own::D::has_memory) loss_sum_ += share(m) * static_cast<double>(value.item());
      value.backward_from(weight);
      own.cotangents.insert_or_assign(m, Blocks<typename Own::D>{Block<typename Own::D>::of(result.gradient())});
    } else if constexpr (is_with_the_next<I>) {
      if (is_here(static_cast<int>(I) + 1))
        own.cotangents.insert_or_assign(m, take(pipeline_.template at<I + 1>().input_gradients, m));
    }
  }

  [[nodiscard]] Recompute recompute(int stage, int m) const {
    const bool is_last = m + 1 == schedule_.micro_batches;
    const Checkpointing mode = checkpointing_(stage);
    return mode == Checkpointing::always || (mode == Checkpointing::except_last && !is_last) ? Recompute::yes
                                                                                             : Recompute::no;
  }
  [[nodiscard]] bool is_here(int stage) const { return schedule_.rank(stage) == rank_; }
  [[nodiscard]] const parallel::Rows& piece(int m) const { return pieces_[static_cast<std::size_t>(m)]; }
  [[nodiscard]] double share(int m) const {
    return all_rows_ > 0 ? static_cast<double>(piece(m).count) / static_cast<double>(all_rows_) : 0;
  }

  P& pipeline_;
  const Schedule& schedule_;
  L& loss_;
  const std::vector<parallel::Rows>& pieces_;
  const X& x_;
  const Y& targets_;
  int rank_;
  const StageCheckpointing& checkpointing_;
  std::int64_t all_rows_;
  double gradient_scale_ = 1;
  double loss_sum_ = 0;
  std::function<void(std::size_t)> complete_{};
  std::function<void(const std::exception_ptr&)> failed_{};
  std::array<int, static_cast<std::size_t>(P::stages)> done_{}; ///< micro-batches of each stage
};

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/run/runner.ipp>
#endif
