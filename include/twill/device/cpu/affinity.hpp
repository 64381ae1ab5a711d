#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// CPU affinity of the process: the cores that it may use, as `taskset` or a batch system set them. When OMP_PROC_BIND
// or a similar variable is set, an OpenMP runtime (a matrix library brings one) binds the main thread to one place
// while it is loaded, before any code of twill runs; the mask then shows only that place. The runtime is asked for the
// others. Read next: device/cpu/partition.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cpu/core_set.hpp>

#include <cstddef>
#include <cstdlib>
#include <vector>

#include <dlfcn.h>

namespace twill { inline namespace v0 { namespace detail {

/// The affinity mask of the calling thread, in ascending order.
[[nodiscard]] std::vector<int> affinity_of_thread();

/// Whether an OpenMP runtime is configured to bind threads.
[[nodiscard]] bool openmp_binds();

/// The places of a loaded OpenMP runtime: their number, and the cores of each.
struct OpenMpPlaces {
  int (*count)() = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_num_places"));
  int (*cores_in)(int) = reinterpret_cast<int (*)(int)>(dlsym(RTLD_DEFAULT, "omp_get_place_num_procs"));
  void (*cores_of)(int, int*) = reinterpret_cast<void (*)(int, int*)>(dlsym(RTLD_DEFAULT, "omp_get_place_proc_ids"));

  [[nodiscard]] int size() const;
  [[nodiscard]] CoreSet operator[](int place) const;
};

/// The mask before a runtime bound the thread to one of its places; `mask` itself when it is none of them.
template <class Places>
[[nodiscard]] TWILL_COLD CoreSet cores_before_binding(const CoreSet& mask, const Places& places) {
  CoreSet all;
  bool bound = false;
  const int count = static_cast<int>(places.size());
  for (int place = 0; place < count; ++place) {
    const CoreSet cores = places[place];
    bound = bound || cores == mask;
    all.add(cores);
  }
  return bound ? all : mask;
}

/// The cores that the process may use.
[[nodiscard]] std::vector<int> cores_of_process();

}}} // namespace twill::v0::detail

#if TWILL_HEADER_ONLY
#include <twill/device/cpu/affinity.ipp>
#endif
