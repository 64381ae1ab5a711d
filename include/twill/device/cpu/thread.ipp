#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/thread.hpp.

#include <twill/device/cpu/thread.hpp>

namespace twill { inline namespace v0 { namespace detail {

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
    throw SystemError(join_text({"start_thread: the system gives no thread for ", name, ": ", std::strerror(status)}));
  }
  // The name is for debuggers; the thread is detached and lives on, so its handle stays valid.
  char shown[16] = {};
  std::strncpy(shown, name.c_str(), sizeof(shown) - 1);
  pthread_setname_np(thread, shown);
}

}}} // namespace twill::v0::detail
