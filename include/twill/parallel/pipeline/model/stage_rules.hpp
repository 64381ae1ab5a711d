#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Update rules over the weights of several stages. Each stage updates independently, except for sums over all
// gradients: the norm to which `optim::clip_norm` clips them, and whether one of them has overflown under a loss scale
// (`optim::loss_scaled`), which skips the step everywhere. Both are summed over the stages, tied weights once, and
// passed to each stage's update, which then equals that of one network: the states of the rule, including the scale,
// are equal in all stages. Read next: parallel/pipeline/run/step.hpp.

#include <twill/compile/function.hpp>
#include <twill/core/config.hpp>
#include <twill/optim/clip.hpp>
#include <twill/optim/loss_scale.hpp>
#include <twill/parallel/pipeline/model/ties.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/optimiser.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

inline constexpr std::string_view squares_scalar = "pipeline.sum_of_squares";
inline constexpr std::string_view not_finite_scalar = "pipeline.not_finite";

/// Whether a rule needs the norm of all gradients together.
template <class R> inline constexpr bool is_by_norm = false;
template <class R> inline constexpr bool is_by_norm<optim::ClipNorm<R>> = true;
template <class R> inline constexpr bool is_by_norm<optim::ClipValue<R>> = is_by_norm<R>;
template <optim::LossScaleOptions Options, class R>
inline constexpr bool is_by_norm<optim::LossScaled<Options, R>> = is_by_norm<R>;

/// The limit for clipping each gradient before their norm is taken; infinity if they are not clipped.
template <optim::Rule R> [[nodiscard]] double limit_before_norm(const R&) {
  return std::numeric_limits<double>::infinity();
}
template <optim::Rule R> [[nodiscard]] double limit_before_norm(const optim::ClipValue<R>& rule) {
  if constexpr (is_by_norm<R>) return std::min(rule.max_value, limit_before_norm(static_cast<const R&>(rule)));
  return std::numeric_limits<double>::infinity();
}
template <optim::LossScaleOptions Options, optim::Rule R>
[[nodiscard]] double limit_before_norm(const optim::LossScaled<Options, R>& rule) {
  return limit_before_norm(static_cast<const R&>(rule));
}

/// The update of a stage, or of parts of its weights: sums over the gradients of all stages are numbers computed
/// elsewhere.
template <class M, class T, class R, optim::Updated Updated = optim::Updated::whole_weights> struct UpdateStage {
  static constexpr graph::Graph trace() {
    graph::Graph graph = training::trace_weights<M, T>();
    const List<int> weights = nn::trainable_weights(graph);
    optim::declare_states<R>(graph);
    List<int> gradients{};
    for (int weight : weights) {
      const graph::Node node = graph.node(weight);
      gradients.push_back(graph.add_input(node.dtype, node.shape));
    }
    const DType wide =
        !weights.empty() && graph.node(weights[0]).dtype == DType::float64 ? DType::float64 : DType::float32;
    graph::Value squares{};
    graph::Value not_finite{};
    if constexpr (is_by_norm<R>) squares = graph::run_scalar(graph, squares_scalar, 0, wide);
    if constexpr (optim::ScaledRule<R>) not_finite = graph::run_scalar(graph, not_finite_scalar, 0, DType::float32);
    optim::update_all<R>(graph, weights, gradients, Updated, squares, not_finite);
    return graph;
  }
  static constexpr compile::TableSizes room() { return nn::ModelStage<M, T, true>::room(); }
};

template <class Network, optim::Rule R>
using StageOptimiser =
    training::Optimiser<Network, R, UpdateStage<typename Network::model_type, typename Network::Element, R>>;

struct SumOfSquares {
  constexpr graph::Value operator()(graph::Value x, graph::Value factor) const {
    return optim::sum_of_squares(graph::cast(x, factor.dtype()) * factor);
  }
  constexpr graph::Value operator()(graph::Value x, graph::Value factor, graph::Value most) const {
    return optim::sum_of_squares(clamp(graph::cast(x, factor.dtype()) * factor, -most, most));
  }
};
struct NotFinite {
  constexpr graph::Value operator()(graph::Value x, graph::Value factor) const {
    return sum(graph::cast(graph::logical_not(isfinite(graph::cast(x, factor.dtype()) * factor)), DType::float32));
  }
};

/// Calls `f(gradient, info, is_counted)` with each gradient as a vector; each tied weight is counted once.
template <FloatingScalar T, ComputeDevice D, class F>
void for_each_gradient(const StageStates<D>& stages, const std::vector<TiedWeight>& tied, F f) {
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    if (!stages[stage]) continue; // on another rank
    for (std::size_t i = 0; i < stages[stage]->infos.size(); ++i) {
      const memory::Buffer<D>& buffer = stages[stage]->gradients[i];
      if (!buffer) continue;
      bool is_counted = true;
      for (const TiedWeight& weight : tied)
        for (std::size_t k = 1; k < weight.owners.size(); ++k)
          is_counted = is_counted && !(weight.owners[k].stage == stage && weight.owners[k].index == i);
      const auto call = [&]<class E>(E) {
        const Dims shape(static_cast<std::int64_t>(buffer.bytes() / sizeof(E)));
        f(Tensor<E, D, Shape<dyn>>(buffer, static_cast<E*>(buffer.data()), shape, Dims(1)), stages[stage]->infos[i],
          is_counted);
      };
      if (stages[stage]->infos[i].dtype == dtype_of<T>)
        call(T{});
      else if constexpr (sizeof(T) < sizeof(float))
        call(float{});
    }
  }
}

/// The sums over all gradients that a rule R needs.
struct GradientSums {
  double squares = 0;
  double not_finite = 0;

  GradientSums& operator+=(const GradientSums& other) {
    squares += other.squares;
    not_finite += other.not_finite;
    return *this;
  }
};

template <optim::Rule R> inline constexpr bool asks_for_sums = is_by_norm<R> || optim::ScaledRule<R>;

/// The sums over the local gradients, divided by a loss scale, of the chosen weights: `is_chosen(info)`.
template <FloatingScalar T, optim::Rule R, ComputeDevice D, class Chosen>
[[nodiscard]] GradientSums sums_of_gradients(const StageStates<D>& stages, const std::vector<TiedWeight>& tied,
                                             const R& rule, double scale, Chosen is_chosen) {
  GradientSums sums{};
  [[maybe_unused]] const double limit = limit_before_norm(rule);
  for_each_gradient<T>(stages, tied, [&](const auto& gradient, const graph::ParameterInfo& info, bool is_counted) {
    if (!is_counted || !is_chosen(info)) return;
    using E = typename std::remove_cvref_t<decltype(gradient)>::value_type;
    using Wide = std::conditional_t<std::is_same_v<E, double>, double, float>;
    const Tensor<Wide, D, Shape<>> factor(gradient.device(), Dims{});
    factor.fill(static_cast<Wide>(1 / scale));
    const auto add = [&](const auto& number, double& sum) {
      if constexpr (D::has_memory) sum += static_cast<double>(number.item());
    };
    if constexpr (is_by_norm<R>) {
      if (limit < std::numeric_limits<double>::infinity()) {
        const Tensor<Wide, D, Shape<>> most(gradient.device(), Dims{});
        most.fill(static_cast<Wide>(limit));
        add(compiled(SumOfSquares{})(gradient, factor, most), sums.squares);
      } else {
        add(compiled(SumOfSquares{})(gradient, factor), sums.squares);
      }
    }
    if constexpr (optim::ScaledRule<R>) add(compiled(NotFinite{})(gradient, factor), sums.not_finite);
  });
  return sums;
}

/// One update of a stage, after the sums over all stages.
template <class Optimiser, optim::Rule R>
void update_stage(Optimiser& optimiser, const R& rule, const GradientSums& sums) {
  optimiser.rule = rule;
  optimiser.set(squares_scalar, sums.squares);
  optimiser.set(not_finite_scalar, sums.not_finite);
  optimiser.step();
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA
