#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Demands of rules that look at a weight as a matrix: each device has to hold all of it. Also the shapes of their
// states, which are not the weight's. Read next: optim/muon.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/fault.hpp>
#include <twill/optim/update.hpp>

#include <string_view>

namespace twill { inline namespace v0 { namespace optim { namespace detail { inline namespace TWILL_ISA {

/// Refuses an update in which each rank has a run of elements of each weight.
TWILL_CONSTEXPR void require_whole_weights(Updates& all) {
  if (all.updated == Updated::whole_weights || all.weights.empty()) return;
  const graph::Node& weight = all.graph->node(all.weights[0]);
  const graph::Name name = all.graph->parameters[static_cast<std::size_t>(weight.index)].name;
  all.graph->refuse(graph::Problem::matrix_needs_two_axes, 1, 2, {}, graph::Named::weight(name.view()));
}

/// Refuses a weight that is no matrix, or of which each rank has a part; false where it does.
TWILL_CONSTEXPR bool require_whole_matrix(const Update& u, bool is_matrix) {
  graph::Graph& graph = u.weight().graph();
  for (const graph::ParameterInfo& info : graph.parameters)
    if (info.name.view() == u.name() && info.shard.is_part()) is_matrix = false;
  if (!is_matrix) graph.refuse(graph::Problem::matrix_needs_two_axes, u.rank(), 2, {}, graph::Named::weight(u.name()));
  return is_matrix;
}

/// A state of a weight with a shape of its own, which starts at zero.
[[nodiscard]] TWILL_CONSTEXPR Value state_of_shape(const Update& u, std::string_view name,
                                                   const graph::Extents& shape) {
  graph::Graph& graph = u.weight().graph();
  graph::Name full{u.name()};
  full.append(".");
  full.append(name);
  return {graph, graph.add_parameter(full.view(), u.compute_dtype(), shape, {}, graph::Role::optimiser_state, {})};
}

}}}}} // namespace twill::v0::optim::detail::TWILL_ISA
