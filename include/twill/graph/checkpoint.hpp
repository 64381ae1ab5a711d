#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Activation checkpointing: the values of some parts of a function are not kept for the backward pass but computed
// again from the part's inputs (Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016). A part is a range of
// nodes. No kernel crosses its border, recomputed or not, so the same kernels run and the bits agree. Random draws are
// functions of their counters and repeat exactly. Read next: graph/region_gradient.hpp.

#include <twill/graph/value.hpp>

#include <concepts>
#include <utility>

namespace twill { inline namespace v0 { namespace graph {

/// Whether the backward pass computes the values inside a `checkpoint` again.
enum class Recompute : bool { no, yes };

/// The result of `checkpoint(f)`: f, whose inner values are computed again in the backward pass.
template <class F> struct Checkpointed {
  F function;                           ///< what is computed
  Recompute recompute = Recompute::yes; ///< whether its inner values are kept or computed again

  /// Traces the function as a region of its own.
  template <std::derived_from<Value>... Values>
  [[nodiscard]] constexpr auto operator()(const Value& first, const Values&... rest) const {
    Graph& graph = first.graph();
    const int outer = graph.open_region;
    const int begin = graph.size();
    graph.open_region = ++graph.regions_named;
    auto result = function(first, rest...);
    graph.open_region = outer;
    // Parts inside a part are computed again with it.
    if (outer == 0) graph.regions.push_back({begin, graph.size(), recompute == Recompute::yes});
    return result;
  }
};

}}} // namespace twill::v0::graph

namespace twill { inline namespace v0 {

/// f as a part of a model whose inner values are computed again in the backward pass instead of being kept:
/// `x = checkpoint([](auto x) { return block(x); })(x);`. Gradients have the same bits as without.
/// errors: a scan inside of the part    cost: the part once more in the backward pass
template <class F>
[[nodiscard]] constexpr graph::Checkpointed<F> checkpoint(F f, graph::Recompute recompute = graph::Recompute::yes) {
  return {std::move(f), recompute};
}

}} // namespace twill::v0
