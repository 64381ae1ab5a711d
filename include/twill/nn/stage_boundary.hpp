#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stage boundaries of a pipeline: `x = nn::stage_boundary(x)` in a model's `forward` ends one stage and begins the next
// at this point of the trace. A model that is not cut does not change. Read next: parallel/pipeline/model/cut.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/value.hpp>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Ends a stage after the nodes traced so far, and returns x. Not in the body of a scan, nor inside a `checkpoint`.
[[nodiscard]] TWILL_CONSTEXPR graph::Value stage_boundary(graph::Value x, CallSite site = CallSite::here()) {
  graph::Graph& graph = x.graph();
  if (graph.open_loop >= 0 || graph.open_region > 0)
    graph.refuse(graph::Problem::stage_boundary_inside_of_a_scan_or_a_checkpoint, x.id(), 0, site);
  graph.stage_boundaries.push_back(graph.size());
  return x;
}

}}}} // namespace twill::v0::nn::TWILL_ISA
