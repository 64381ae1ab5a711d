#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/count.hpp.

#include <twill/kernel/count.hpp>

namespace twill { inline namespace v0 { namespace kernel {

TWILL_BODY void AccessCounts::clear() {
  for (auto& count : reloads) count = 0;
  for (auto& count : loads) count = 0;
  for (auto& count : stores) count = 0;
}

}}} // namespace twill::v0::kernel
