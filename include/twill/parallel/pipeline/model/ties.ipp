#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/pipeline/model/ties.hpp.

#include <twill/parallel/pipeline/model/ties.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

TWILL_BODY std::vector<TiedWeight> tied_weights(const std::vector<ListView<graph::ParameterInfo>>& stages) {
  std::vector<TiedWeight> tied;
  const auto is_first = [&](std::size_t stage, const graph::Name& name) {
    for (std::size_t before = 0; before < stage; ++before)
      for (const graph::ParameterInfo& info : stages[before])
        if (info.name == name) return false;
    return true;
  };
  for (std::size_t first = 0; first < stages.size(); ++first)
    for (std::size_t i = 0; i < stages[first].size(); ++i) {
      const graph::ParameterInfo& info = stages[first][i];
      if (info.role != graph::Role::weight || !is_first(first, info.name)) continue;
      TiedWeight weight{{{first, i}}};
      for (std::size_t stage = first + 1; stage < stages.size(); ++stage)
        for (std::size_t k = 0; k < stages[stage].size(); ++k)
          if (stages[stage][k].name == info.name) weight.owners.push_back({stage, k});
      if (weight.owners.size() > 1) tied.push_back(std::move(weight));
    }
  return tied;
}

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA
