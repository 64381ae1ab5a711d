#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Programs whose sums along rows have one order, whatever else their kernels compute: `InOneOrder<S>` is the source S
// with each reduction marked. A kernel otherwise sums in as many accumulators as its other work leaves idle, and turns
// a division by a sum into a product, so that one model traced as a whole and in parts gives other bits. Steps under
// `parallel::Reproducible` are such programs. Read next: kernel/program.hpp.

#include <twill/compile/program_type.hpp>
#include <twill/core/config.hpp>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The source S itself.
template <class S> using AsTraced = S;

/// The source S with its reductions in one order.
template <class S> struct InOneOrder : S {
  static_assert(Source<S>);
  /// The trace of S, marked.
  static constexpr graph::Graph trace() {
    graph::Graph graph = S::trace();
    for (graph::Node& node : graph.nodes)
      if (node.kind == graph::Kind::reduce) node.index = graph::in_order;
    return graph;
  }
};

}}}} // namespace twill::v0::compile::TWILL_ISA
