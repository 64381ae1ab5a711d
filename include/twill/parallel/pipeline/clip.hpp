#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Clipping by the norm of all gradients, over all stages together: `train_step(pipeline, loss, optim::clip_norm(rule, 1.0), …)`
// takes the norm apart from the rule, measures it over the stages, tied weights once, and scales every gradient by the same
// factor. Read next: parallel/pipeline/step.hpp.

#include <twill/compile/function.hpp>
#include <twill/core/config.hpp>
#include <twill/optim/clip.hpp>
#include <twill/optim/loss_scale.hpp>
#include <twill/parallel/pipeline/ties.hpp>
#include <twill/tensor/create.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace twill::inline v0::pipeline::detail::inline TWILL_ISA {

/// The rule that a stage follows by itself, and the norm to which all stages are clipped.
template <optim::Rule R> struct RuleOfStages {
  static_assert(!optim::ScaledRule<R>,
                "twill: pipeline: a loss scale looks at the gradients of all stages; train without it");
  static_assert(
      !requires(R & rule) { rule.max_norm; },
      "twill: a pipeline clips the norm over all its stages; let clip_norm be the outermost rule");
  using type = R;
  static double max_norm(const R&) { return -1; } ///< none
};
template <optim::Rule R> struct RuleOfStages<optim::ClipNorm<R>> {
  using type = R;
  static double max_norm(const optim::ClipNorm<R>& rule) { return rule.max_norm; }
};

struct SumOfSquares {
  constexpr graph::Value operator()(graph::Value x) const { return optim::detail::sum_of_squares(x); }
};
struct Scaled {
  constexpr graph::Value operator()(graph::Value x, graph::Value factor) const {
    return graph::cast(graph::cast(x, factor.dtype()) * factor, x.dtype());
  }
};

/// Calls `f(gradient, info, is_counted)` with each gradient as a vector; each tied weight is counted once.
template <FloatingScalar T, ComputeDevice D, class F>
void for_each_gradient(const StageStates<D>& stages, const std::vector<TiedWeight>& tied, F f) {
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    if (!stages[stage]) continue; // of another rank
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

/// Of all elements of the gradients that are here, of the weights that are chosen: `is_chosen(info)`.
template <FloatingScalar T, ComputeDevice D, class Chosen>
[[nodiscard]] double sum_of_squares(const StageStates<D>& stages, const std::vector<TiedWeight>& tied,
                                    Chosen is_chosen) {
  double total = 0;
  for_each_gradient<T>(stages, tied, [&](const auto& gradient, const graph::ParameterInfo& info, bool is_counted) {
    if constexpr (D::has_memory)
      if (is_counted && is_chosen(info)) total += static_cast<double>(compiled(SumOfSquares{})(gradient).item());
  });
  return total;
}

template <FloatingScalar T, ComputeDevice D>
[[nodiscard]] double sum_of_squares(const StageStates<D>& stages, const std::vector<TiedWeight>& tied) {
  return sum_of_squares<T>(stages, tied, [](const graph::ParameterInfo&) { return true; });
}

/// gradient *= factor
template <AnyTensor X> void scale(const X& gradient, double number) {
  using T = typename X::value_type;
  using Factor = std::conditional_t<std::is_same_v<T, double>, double, float>;
  Tensor<Factor, typename X::device_type, Shape<>> factor(gradient.device(), Dims{});
  factor.fill(static_cast<Factor>(number));
  const auto scaled = compiled(Scaled{})(gradient, factor);
  copy_bytes(gradient.device(), gradient.storage().data(), gradient.device(), scaled.data(), gradient.storage().bytes(),
             CopyOptions{});
}

/// Scales all gradients so that their common norm is at most `max_norm`. Returns the norm before.
template <FloatingScalar T, ComputeDevice D>
double clip_gradients(const StageStates<D>& stages, const std::vector<TiedWeight>& tied, double max_norm) {
  const double norm = std::sqrt(sum_of_squares<T>(stages, tied));
  const double factor = std::min(1.0, max_norm / (norm + 1e-6)); // always multiplied
  for_each_gradient<T>(stages, tied, [&](const auto& gradient, const auto&, bool) { scale(gradient, factor); });
  return norm;
}

} // namespace twill::inline v0::pipeline::detail::inline TWILL_ISA
