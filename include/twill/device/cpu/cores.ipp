#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/cores.hpp.

#include <twill/device/cpu/cores.hpp>

namespace twill { inline namespace v0 { namespace cpu {

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

TWILL_COLD TWILL_BODY int create_thread(pthread_t& thread, const CoreSet* cores, ThreadBody* body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (cores != nullptr) pthread_attr_setaffinity_np(&attributes, sizeof(cpu_set_t), &cores->mask());
  const auto entry = [](void* argument) -> void* {
    const ThreadBody own = *static_cast<ThreadBody*>(argument);
    delete static_cast<ThreadBody*>(argument);
    own.run(own.served, own.number);
    return nullptr;
  };
  const int status = pthread_create(&thread, &attributes, entry, body);
  pthread_attr_destroy(&attributes);
  return status;
}

TWILL_COLD TWILL_BODY void start_thread(const CoreSet& cores, const std::string& name, const ThreadBody& body) {
  auto* const owned_by_thread = new ThreadBody{body};
  pthread_t thread{};
  int status = cores.empty() ? EINVAL : create_thread(thread, &cores, owned_by_thread);
  if (status == EINVAL) // the mask of the process shrank since it was read, or no pinning is wanted
    status = create_thread(thread, nullptr, owned_by_thread);
  if (status != 0) {
    delete owned_by_thread;
    throw SystemError(join_text({"start_thread: the system cannot start thread ", name, ": ", std::strerror(status)}));
  }
  // The name is for debuggers; the thread is detached and lives on, so its handle stays valid.
  char shown[16] = {};
  std::strncpy(shown, name.c_str(), sizeof(shown) - 1);
  pthread_setname_np(thread, shown);
}

}}} // namespace twill::v0::cpu
