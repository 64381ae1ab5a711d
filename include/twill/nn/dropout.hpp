#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Dropout (Srivastava et al., 2014). The probability is a run-time number; the mask is drawn again in the backward pass
// instead of being kept.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/random.hpp>
#include <twill/nn/parameter.hpp>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// Drops with one draw for each element of `shape`, which broadcasts to x.
[[nodiscard]] TWILL_CONSTEXPR Value dropped(Value x, const graph::Extents& shape, double probability,
                                            std::string_view name, CallSite site) {
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
  return graph::where(graph::random_uniform(graph, shape) < p, 0.0, x * scale);
}

/// One element for each row and channel; refuses other ranks.
[[nodiscard]] TWILL_CONSTEXPR graph::Extents of_channels(Value x, int rank, CallSite site) {
  if (x.rank() != rank) x.graph().refuse(graph::Problem::convolution_input_has_the_wrong_rank, x.rank(), rank, site);
  graph::Extents channels = x.shape();
  for (int axis = 2; axis < channels.rank; ++axis) channels[axis] = {};
  return channels;
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Zeroes elements with the given probability and scales the others by 1 / (1 - probability); the identity outside
/// training. `name` is the name of the run-time number under the current scope, by which a network changes it.
[[nodiscard]] TWILL_CONSTEXPR Value dropout(Value x, double probability, std::string_view name = "dropout",
                                            CallSite site = CallSite::here()) {
  return detail::dropped(x, x.shape(), probability, name, site);
}

/// Dropout of whole channels of x (batch, channels, length): each row and channel has one draw.
[[nodiscard]] TWILL_CONSTEXPR Value dropout1d(Value x, double probability, std::string_view name = "dropout",
                                              CallSite site = CallSite::here()) {
  return detail::dropped(x, detail::of_channels(x, 3, site), probability, name, site);
}

/// Dropout of whole channels of x (batch, channels, height, width) (Tompson et al., 2015).
[[nodiscard]] TWILL_CONSTEXPR Value dropout2d(Value x, double probability, std::string_view name = "dropout",
                                              CallSite site = CallSite::here()) {
  return detail::dropped(x, detail::of_channels(x, 4, site), probability, name, site);
}

}}}} // namespace twill::v0::nn::TWILL_ISA
