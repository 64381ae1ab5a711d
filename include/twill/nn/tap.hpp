#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Taps: `x = nn::tap(x, "scores")` inside a model marks a value to observe, and its gradient. The kernel that computes
// it writes a copy, in every run; all other uses compute with the same numbers, fused as before, so no other bit
// changes. Read by `network.on_tap`, `step.tapped` and `step.checked`. Read next: nn/hooked.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/value.hpp>

#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Marks x under a name, which follows the names of the open scopes, and returns it. Not in the body of a scan.
[[nodiscard]] TWILL_CONSTEXPR graph::Value tap(graph::Value x, std::string_view name,
                                               CallSite site = CallSite::here()) {
  graph::Graph& graph = x.graph();
  if (graph.open_loop >= 0) graph.refuse(graph::Problem::tap_in_the_body_of_a_scan, x.id(), 0, site);
  graph::Name full = graph.path();
  full.append(name);
  if (full.truncated) graph.refuse(graph::Problem::name_is_longer_than_63_characters, full.size, 63, site);
  graph.add_tap(full, x.id(), graph::TapKind::value);
  return x;
}

}}}} // namespace twill::v0::nn::TWILL_ISA
