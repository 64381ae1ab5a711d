#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Dropout (Srivastava et al., 2014). The probability is a run-time number; the mask is drawn again in the backward pass
// instead of being kept.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/random.hpp>
#include <twill/nn/parameter.hpp>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Zeroes elements with the given probability and scales the others by 1 / (1 - probability); the identity outside
/// training. `name` is the name of the run-time number under the current scope, by which a network changes it.
[[nodiscard]] TWILL_CONSTEXPR Value dropout(Value x, double probability, std::string_view name = "dropout",
                                            CallSite site = CallSite::here()) {
  graph::Graph& graph = x.graph();
  if (!(probability >= 0 && probability <= 1))
    graph.refuse(graph::Problem::dropout_probability_is_outside_0_to_1, graph::shown_as_integer(probability), 1, site);
  if (!graph.training) return x;
  graph::Name path = graph.path();
  path.append(name);
  const Value p = graph::run_scalar(graph, path.view(), probability, DType::float32);
  const auto index = static_cast<std::size_t>(p.node().index);
  graph.run_scalars[index].training_only = true; // evaluation drops nothing
  graph.run_scalars[index].is_probability = true;
  // If everything is dropped, so is the gradient, which an infinite scale would turn into NaN.
  const Value scale = graph::cast(graph::where(p < 1, graph::reciprocal(1.0 - p), 0.0), x.dtype());
  return graph::where(graph::random_uniform(graph, x.shape()) < p, 0.0, x * scale);
}

}}}} // namespace twill::v0::nn::TWILL_ISA
