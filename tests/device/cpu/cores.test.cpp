// SPDX-License-Identifier: Apache-2.0

#include "tests/device/four_devices.hpp"
#include "tests/support/skip.hpp"

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <pthread.h>

using namespace twill;
using Cores = std::vector<int>;

namespace {

/// The cores that a thread could use before a runtime with these places bound it to `mask`.
Cores before_binding(const Cores& mask, const std::vector<Cores>& places) {
  std::vector<cpu::CoreSet> sets;
  for (const Cores& place : places) sets.emplace_back(place);
  return cpu::cores_before_binding(cpu::CoreSet{mask}, sets).list();
}

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

TEST_CASE("a mask that OpenMP narrowed to one of its places is seen through", "[device][cpu][DEV-1]") {
  CHECK(before_binding({0}, {{0}, {1}, {4}}) == Cores{0, 1, 4});
  CHECK(before_binding({2, 3}, {{0, 1}, {2, 3}}) == Cores{0, 1, 2, 3});
  CHECK(before_binding({0, 1}, {{0}, {1}}) == Cores{0, 1});
}

TEST_CASE("a mask that somebody else narrowed counts as it is", "[device][cpu][DEV-1]") {
  CHECK(before_binding({3}, {}) == Cores{3});
  CHECK(before_binding({3}, {{0, 1}, {2, 3}}) == Cores{3});
}

TEST_CASE("a set of cores holds what was added, in order, and leaves out what a mask cannot hold", "[device][cpu]") {
  CHECK(cpu::CoreSet{}.empty());
  CHECK(cpu::CoreSet{}.list().empty());
  cpu::CoreSet set{{7, 0, 1023, 7}};
  CHECK_FALSE(set.empty());
  CHECK(set.list() == Cores{0, 7, 1023});
  set.add(cpu::CoreSet{{3, 7}});
  CHECK(set == cpu::CoreSet{{0, 3, 7, 1023}});
  CHECK_FALSE(set == cpu::CoreSet{{0, 3, 7}});
  set.add(5000);
  CHECK(set.list() == Cores{0, 3, 7, 1023});
}

TEST_CASE("devices keep all cores although OMP_PROC_BIND binds the main thread", "[device][cpu][DEV-1]") {
  constexpr int no_openmp = 77;
  // The child returns from Catch with the number of failures, so 77 is free to say that there is no runtime to load.
  const int status = test::run_in_child("child: loads a binding OpenMP runtime");
  if (status == no_openmp) return test::skip("libgomp.so.1 is not installed");
  CHECK(status == 0);
}

TEST_CASE("child: loads a binding OpenMP runtime", "[.child]") {
  const auto before = cpu::cores_of_process();
  setenv("OMP_PROC_BIND", "true", 1);
  if (dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL) == nullptr) std::_Exit(77);
  CHECK(cpu::cores_of_process() == before);
  CHECK(device_count<Cpu>() == static_cast<int>(before.size()));
  for (int device = 0; device < device_count<Cpu>(); ++device)
    CHECK(submit(Cpu{device}, [] { return cpu::affinity_of_thread(); }).wait() == cores_of(Cpu{device}));
}

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
