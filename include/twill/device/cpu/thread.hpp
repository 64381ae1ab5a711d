#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Process-lifetime threads: detached, pinned to given cores, named for debuggers. They are never joined, because the
// objects that they serve are never destroyed; at exit they are asleep. Read next: device/cpu/signal.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/core_set.hpp>

#include <cerrno>
#include <cstring>
#include <string>

#include <pthread.h>
#include <sched.h>

namespace twill { inline namespace v0 { namespace detail {

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

}}} // namespace twill::v0::detail

#if TWILL_HEADER_ONLY
#include <twill/device/cpu/thread.ipp>
#endif
