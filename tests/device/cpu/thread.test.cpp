// SPDX-License-Identifier: Apache-2.0

#include "tests/device/four_devices.hpp"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

using namespace twill;

namespace {

/// What a new thread that should use `cores` is allowed to use.
std::vector<int> affinity_of_new_thread(const std::vector<int>& cores) {
  struct Seen {
    std::vector<int> allowed{};
    int number = 0;
    std::atomic<bool> done{false};
  } seen;
  const auto look = [](void* served, int number) {
    auto& told = *static_cast<Seen*>(served);
    told.allowed = cpu::affinity_of_thread();
    told.number = number;
    told.done.store(true, std::memory_order_release);
  };
  cpu::start_thread(cpu::CoreSet{cores}, "twill test", {look, &seen, 17});
  while (!seen.done.load(std::memory_order_acquire)) std::this_thread::yield();
  CHECK(seen.number == 17);
  return seen.allowed;
}

} // namespace

TEST_CASE("a thread is pinned to its cores", "[device][cpu]") {
  const auto all = cpu::affinity_of_thread();
  for (const int core : all) CHECK(affinity_of_new_thread({core}) == std::vector<int>{core});
  CHECK(affinity_of_new_thread({}) == all);
}

TEST_CASE("a thread whose cores were taken away runs unpinned", "[device][cpu]") {
  CHECK(affinity_of_new_thread({1023}) == cpu::affinity_of_thread());
}

TEST_CASE("threads are named after their device", "[device][cpu]") {
  const auto name_here = [] {
    char name[16] = {};
    pthread_getname_np(pthread_self(), name, sizeof(name));
    return std::string{name};
  };
  // The name is set by whoever starts the thread, an instant after it began.
  std::string name;
  for (int attempt = 0; attempt < 1000 && name != "cpu:1"; ++attempt) {
    name = submit(Cpu{1}, name_here).wait();
    std::this_thread::yield();
  }
  CHECK(name == "cpu:1");
}
