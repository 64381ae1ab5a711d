#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sets of CPU cores, stored as the mask that the scheduler's calls take: sets are copied, compared and united without
// loops or allocations. Cores from 1,024 on do not fit the mask and are left out. Read next: device/cpu/affinity.hpp,
// which fills sets, and device/cpu/thread.hpp, which pins threads to them.

#include <twill/core/config.hpp>

#include <cstddef>
#include <vector>

#include <sched.h>

namespace twill { inline namespace v0 { namespace detail {

class CoreSet {
public:
  CoreSet() { CPU_ZERO(&mask_); }
  explicit CoreSet(const std::vector<int>& cores);

  /// The cores that the calling thread may use; none when they do not fit the mask.
  [[nodiscard]] static CoreSet of_this_thread();

  void add(int core) { CPU_SET(static_cast<std::size_t>(core), &mask_); }
  void add(const CoreSet& cores) { CPU_OR(&mask_, &mask_, &cores.mask_); }

  [[nodiscard]] bool empty() const { return CPU_COUNT(&mask_) == 0; }

  /// The cores with the system's numbers, ascending.
  [[nodiscard]] std::vector<int> list() const;

  [[nodiscard]] const cpu_set_t& mask() const { return mask_; }

  friend bool operator==(const CoreSet& left, const CoreSet& right) {
    return CPU_EQUAL(&left.mask_, &right.mask_) != 0;
  }

private:
  cpu_set_t mask_;
};

}}} // namespace twill::v0::detail

#if TWILL_HEADER_ONLY
#include <twill/device/cpu/core_set.ipp>
#endif
