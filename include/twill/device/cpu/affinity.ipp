#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/affinity.hpp.

#include <twill/device/cpu/affinity.hpp>

namespace twill { inline namespace v0 { namespace detail {

TWILL_COLD TWILL_BODY std::vector<int> affinity_of_thread() {
  std::vector<int> cores = CoreSet::of_this_thread().list();
  if (cores.empty()) cores.push_back(0); // more than 1,024 cores: the mask does not fit; one core is still correct
  return cores;
}

TWILL_COLD TWILL_BODY bool openmp_binds() {
  for (const char* name : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

TWILL_BODY int OpenMpPlaces::size() const {
  return count != nullptr && cores_in != nullptr && cores_of != nullptr && openmp_binds() ? count() : 0;
}

TWILL_BODY CoreSet OpenMpPlaces::operator[](int place) const {
  const int size = cores_in(place);
  std::vector<int> cores(size > 0 ? static_cast<std::size_t>(size) : 0, 0);
  if (!cores.empty()) cores_of(place, cores.data());
  return CoreSet{cores};
}

TWILL_COLD TWILL_BODY std::vector<int> cores_of_process() {
  return cores_before_binding(CoreSet{affinity_of_thread()}, OpenMpPlaces{}).list();
}

}}} // namespace twill::v0::detail
