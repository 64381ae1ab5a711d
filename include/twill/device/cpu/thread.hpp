#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Threads that live as long as the process: detached, pinned to given cores, named for debuggers. They are never joined,
// because what they serve is never destroyed; at exit they are asleep. Read next: device/cpu/signal.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/core_set.hpp>

#include <cerrno>
#include <cstring>
#include <string>

#include <pthread.h>
#include <sched.h>

namespace twill::inline v0::detail {

/// What a thread runs: a function of the object it serves, and of a number that tells its threads apart.
struct ThreadBody {
  void (*run)(void* served, int number) = nullptr;
  void* served = nullptr;
  int number = 0;
};

/// Makes a detached thread, pinned unless `cores` is null. Returns 0 or the system's error number.
[[nodiscard]] TWILL_COLD inline int create_thread(pthread_t& thread, const CoreSet* cores, ThreadBody* body) {
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

/// Runs `body` on a new thread that may use `cores` only; an empty set, or one the system refuses, leaves it free.
/// throws: SystemError when the system gives no thread
TWILL_COLD inline void start_thread(const CoreSet& cores, const std::string& name, const ThreadBody& body) {
  auto* const owned_by_thread = new ThreadBody{body};
  pthread_t thread{};
  int status = cores.empty() ? EINVAL : create_thread(thread, &cores, owned_by_thread);
  if (status == EINVAL) // the mask of the process shrank since it was read, or none is wanted
    status = create_thread(thread, nullptr, owned_by_thread);
  if (status != 0) {
    delete owned_by_thread;
    throw SystemError(join_text({"start_thread: the system gives no thread for ", name, ": ", std::strerror(status)}));
  }
  // The name is for people with a debugger; the thread is detached and lives on, so its handle stays valid.
  char shown[16] = {};
  std::strncpy(shown, name.c_str(), sizeof(shown) - 1);
  pthread_setname_np(thread, shown);
}

} // namespace twill::inline v0::detail
