#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/pipeline/model/state.hpp.

#include <twill/parallel/pipeline/model/state.hpp>

namespace twill { inline namespace v0 { namespace pipeline { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY void require_nothing_left(const std::vector<std::string>& missing,
                                     const std::vector<std::string>& unexpected) {
  if (!missing.empty() || !unexpected.empty())
    throw ValueError("load_state_dict: " + nn::listed("missing: ", missing) +
                     (missing.empty() || unexpected.empty() ? "" : "; ") + nn::listed("unexpected: ", unexpected));
}

TWILL_BODY void WholeStateCheck::expect(std::string key, graph::ParameterInfo info) {
  const auto [name, is_first] = known_.insert(std::move(key));
  const nn::StoredTensor* const tensor = state_->find(*name);
  if (!is_first) return; // a tied weight
  info.shape = nn::whole_shape(info);
  if (tensor == nullptr)
    missing_.push_back(*name);
  else
    nn::require_fitting(*name, info, *tensor, false);
}

TWILL_BODY void WholeStateCheck::finish() const {
  std::vector<std::string> unexpected{};
  for (const auto& [name, tensor] : state_->entries())
    if (!known_.contains(name)) unexpected.push_back(name);
  require_nothing_left(missing_, unexpected);
}

}}}}} // namespace twill::v0::pipeline::detail::TWILL_ISA
