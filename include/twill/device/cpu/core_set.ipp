#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/core_set.hpp.

#include <twill/device/cpu/core_set.hpp>

namespace twill { inline namespace v0 { namespace detail {

TWILL_BODY CoreSet::CoreSet(const std::vector<int>& cores) : CoreSet() {
  for (const int core : cores) add(core);
}

TWILL_BODY CoreSet CoreSet::of_this_thread() {
  CoreSet set;
  if (sched_getaffinity(0, sizeof(set.mask_), &set.mask_) != 0) CPU_ZERO(&set.mask_);
  return set;
}

TWILL_BODY std::vector<int> CoreSet::list() const {
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<std::size_t>(core), &mask_)) cores.push_back(core);
  return cores;
}

}}} // namespace twill::v0::detail
