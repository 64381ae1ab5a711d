#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Which cores the process may use: its affinity mask, as `taskset` or a batch system set it. There is one trap. When
// OMP_PROC_BIND or its like is set, an OpenMP runtime (a matrix library brings one) binds the main thread to one place while
// it is loaded, before any code of ours runs; the mask then shows that place alone. The runtime is asked for the others.
// Read next: device/cpu/partition.hpp.

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <sched.h>

namespace twill::inline v0::detail {

/// The affinity mask of the calling thread, in ascending order.
[[nodiscard]] inline std::vector<int> affinity_of_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    for (unsigned core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set)) cores.push_back(static_cast<int>(core));
  if (cores.empty()) cores.push_back(0); // more than 1,024 cores: the mask does not fit; one core is still right
  return cores;
}

/// The places of a loaded OpenMP runtime; empty when there is none or it binds nothing.
[[nodiscard]] inline std::vector<std::vector<int>> openmp_places() {
  const char* const binding[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"};
  if (std::none_of(std::begin(binding), std::end(binding), [](auto* name) { return std::getenv(name) != nullptr; }))
    return {};
  const auto count = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_num_places"));
  const auto cores_in = reinterpret_cast<int (*)(int)>(dlsym(RTLD_DEFAULT, "omp_get_place_num_procs"));
  const auto cores_of = reinterpret_cast<void (*)(int, int*)>(dlsym(RTLD_DEFAULT, "omp_get_place_proc_ids"));
  std::vector<std::vector<int>> places;
  if (count == nullptr || cores_in == nullptr || cores_of == nullptr) return places;
  for (int place = 0; place < count(); ++place) {
    std::vector<int> cores(static_cast<std::size_t>(std::max(0, cores_in(place))));
    if (!cores.empty()) cores_of(place, cores.data());
    std::sort(cores.begin(), cores.end());
    places.push_back(std::move(cores));
  }
  return places;
}

/// The mask as it was before a runtime bound the thread to one of its places; `mask` itself when it is none of them.
[[nodiscard]] inline std::vector<int> cores_before_binding(const std::vector<int>& mask,
                                                           const std::vector<std::vector<int>>& places) {
  if (std::find(places.begin(), places.end(), mask) == places.end()) return mask;
  std::vector<int> all;
  for (const auto& place : places) all.insert(all.end(), place.begin(), place.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// The cores that the process may use.
[[nodiscard]] inline std::vector<int> cores_of_process() {
  return cores_before_binding(affinity_of_thread(), openmp_places());
}

} // namespace twill::inline v0::detail
