#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Seeds of a backward sweep, which the sweep over all nodes exchanges with the gradient rules of loops and recomputed
// parts. Read next: graph/gradient.hpp.

#include <twill/graph/graph.hpp>

namespace twill { inline namespace v0 { namespace graph {

/// A value and the gradient that flows into it from outside.
struct Seed {
  int value = -1;
  int cotangent = -1;
};

TWILL_CONSTEXPR List<int> gradients(Graph& graph, const List<Seed>& seeds, const List<int>& variables);

}}} // namespace twill::v0::graph
