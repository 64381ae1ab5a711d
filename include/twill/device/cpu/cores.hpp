#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// CPU cores: sets of them, those that the process may use, and threads pinned to them. `taskset` or a batch system sets
// the mask of the process. When OMP_PROC_BIND or a similar variable is set, an OpenMP runtime (a matrix library brings
// one) binds the main thread to one place while it is loaded, before any code of twill runs; the mask then shows only
// that place, and the runtime is asked for the others. Threads are detached and never joined, because the objects that
// they serve are never destroyed; at exit they are asleep. Read next: device/cpu/partition.hpp, device/cpu/team.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

namespace twill { inline namespace v0 { namespace cpu {

/// A set of cores, stored as the mask that the scheduler's calls take: copied, compared and united without loops or
/// allocations. Cores from 1,024 on do not fit the mask and are left out.
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

/// The work of a thread: a function of the object that it serves, and of a number that tells its threads apart.
struct ThreadBody {
  void (*run)(void* served, int number) = nullptr;
  void* served = nullptr;
  int number = 0;
};

/// Makes a detached thread, pinned unless `cores` is null. Returns 0 or the system's error number.
[[nodiscard]] int create_thread(pthread_t& thread, const CoreSet* cores, ThreadBody* body);

/// Runs `body` on a new thread that may use only `cores`; an empty set, or one that the system refuses, leaves it
/// unpinned. throws: SystemError when the system gives no thread
void start_thread(const CoreSet& cores, const std::string& name, const ThreadBody& body);

}}} // namespace twill::v0::cpu

#if TWILL_HEADER_ONLY
#include <twill/device/cpu/cores.ipp>
#endif
