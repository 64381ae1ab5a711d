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

/// Refuses a weight of which each rank holds or updates a part; false where it does.
TWILL_CONSTEXPR bool require_whole_weight(const Update& u) {
  graph::Graph& graph = u.weight().graph();
  bool is_whole = u.has_whole_weight();
  for (const graph::ParameterInfo& info : graph.parameters)
    if (info.name.view() == u.name() && info.shard.is_part()) is_whole = false;
  if (!is_whole)
    graph.refuse(graph::Problem::rule_of_matrices_needs_whole_weights_on_each_rank, 0, 0, {},
                 graph::Named::weight(u.name()));
  return is_whole;
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
