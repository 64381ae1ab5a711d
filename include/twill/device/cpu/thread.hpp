#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Threads that live as long as the process: detached, pinned to given cores, named for debuggers. They are never joined,
// because what they serve is never destroyed; at exit they are asleep. Read next: device/cpu/signal.hpp.

#include <twill/core/error.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sched.h>

namespace twill::inline v0::detail {

/// Runs `body` on a new thread that may use `cores` only; an empty list, or one the system refuses, leaves it free.
/// throws: SystemError when the system gives no thread
template <class Body> void start_thread(const std::vector<int>& cores, const std::string& name, Body body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);

  auto owned = std::make_unique<Body>(std::move(body));
  auto entry = [](void* argument) -> void* {
    std::unique_ptr<Body> body_of_thread{static_cast<Body*>(argument)};
    (*body_of_thread)();
    return nullptr;
  };
  pthread_t thread{};
  int status = EINVAL;
  if (!cores.empty()) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int core : cores) CPU_SET(static_cast<unsigned>(core), &set);
    pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
    status = pthread_create(&thread, &attributes, entry, owned.get());
  }
  if (status == EINVAL) { // the mask of the process shrank since it was read, or none is wanted
    pthread_attr_destroy(&attributes);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    status = pthread_create(&thread, &attributes, entry, owned.get());
  }
  pthread_attr_destroy(&attributes);
  if (status != 0)
    throw SystemError("start_thread: the system gives no thread for " + name + ": " + std::strerror(status));
  owned.release();
  // The name is for people with a debugger; the thread is detached and lives on, so its handle stays valid.
  pthread_setname_np(thread, name.substr(0, 15).c_str());
}

} // namespace twill::inline v0::detail
