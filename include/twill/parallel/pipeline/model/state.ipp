#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/pipeline/model/state.hpp.

#include <twill/parallel/pipeline/model/state.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

TWILL_BODY void StateCheck::expect(std::string key, const graph::ParameterInfo& info) {
  const auto [name, is_first] = known_.insert(std::move(key));
  if (!is_first) return; // a tied weight
  if (const nn::StoredTensor* const tensor = state_->find(*name))
    nn::compare(*name, info, *tensor, false, report_);
  else
    report_.missing.push_back(*name);
}

TWILL_BODY void StateCheck::expect_whole(std::string key, graph::ParameterInfo info) {
  info.shape = nn::whole_shape(info);
  expect(std::move(key), info);
}

TWILL_BODY void StateCheck::finish() {
  for (const auto& [name, tensor] : state_->entries())
    if (!known_.contains(name)) report_.unexpected.push_back(name);
  nn::require_permitted(report_, {});
}

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA
