#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/rank_group.hpp.

#include <twill/kernel/rank_group.hpp>

namespace twill { inline namespace v0 { namespace kernel {

TWILL_COLD TWILL_BODY std::string AxisId::name() const {
  std::string text{};
  for (int i = 0; i < 16 && character(i) != 0; ++i) text += character(i);
  return text;
}

TWILL_BODY void RankGroups::add(std::shared_ptr<RankGroup> group) {
  std::vector<std::shared_ptr<RankGroup>> all{};
  for (const auto& known : groups_)
    if (!known->axis().is_named_as(group->axis())) all.push_back(known);
  all.push_back(std::move(group));
  groups_ = std::move(all);
}

TWILL_BODY RankGroup* RankGroups::find(const AxisId& axis) const {
  for (const auto& group : groups_)
    if (group->axis().is_named_as(axis)) return group.get();
  return nullptr;
}

TWILL_BODY void RankGroups::fail(const std::exception_ptr& cause) const {
  for (const auto& group : groups_) group->fail(cause);
}

}}} // namespace twill::v0::kernel
