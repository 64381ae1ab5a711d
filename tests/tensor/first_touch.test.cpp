// SPDX-License-Identifier: Apache-2.0
//
// How host memory behaves below the pool: large blocks ask for huge pages, nobody touches a page before a kernel does, and
// then it is the thread that will work on it. All of it is read back from the system.

#include "tests/support/skip.hpp"

#include <twill/device/cpu/team.hpp>
#include <twill/kernel/run.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace twill;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) // g++
#define TEST_OWNS_MEMORY 0
#elif defined(__has_feature)
#define TEST_OWNS_MEMORY !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define TEST_OWNS_MEMORY 1
#endif

namespace {

constexpr std::int64_t large_elements = std::int64_t{16} << 20; // 64 MiB of floats

/// The flags of the mapping that an address lies in, as /proc/self/smaps has them.
std::string mapping_flags(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps{"/proc/self/smaps"};
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) inside = begin <= wanted && wanted < end;
    if (inside && line.starts_with("VmFlags:")) return line + " ";
  }
  return {};
}

/// How many pages of a stretch are in memory; -1 where the system does not tell.
std::int64_t present_pages(const void* address, std::size_t bytes) {
  const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(address) + page - 1) / page;
  std::vector<std::uint64_t> entries(bytes / page - 1);
  const auto size = static_cast<ssize_t>(entries.size() * sizeof(std::uint64_t));
  const bool is_read =
      pread(file, entries.data(), static_cast<std::size_t>(size), static_cast<off_t>(first * 8)) == size;
  close(file);
  if (!is_read) return -1;
  std::int64_t present = 0;
  for (const std::uint64_t entry : entries) present += static_cast<std::int64_t>(entry >> 63);
  return present;
}

} // namespace

TEST_CASE("large blocks of host memory ask for huge pages, small ones do not", "[memory]") {
  Cpu::Upstream upstream{Cpu{0}};
  constexpr std::size_t large = std::size_t{64} << 20;
  void* const block = upstream.allocate(large);
  CHECK(reinterpret_cast<std::uintptr_t>(block) % (std::size_t{2} << 20) == 0);
  const std::string flags = mapping_flags(block);
  upstream.release(block, large);
  if (flags.empty()) return test::skip("this system has no /proc/self/smaps");
  if (flags.find(" hg ") == std::string::npos && access("/sys/kernel/mm/transparent_hugepage", F_OK) != 0)
    return test::skip("this system has no huge pages");
  CHECK(flags.find(" hg ") != std::string::npos);
}

TEST_CASE("a new tensor's pages are untouched until a kernel writes them", "[memory]") {
  if (!TEST_OWNS_MEMORY) return test::skip("the sanitizer's allocator touches what it hands out");
  empty_cache(Cpu{0});
  const Tensor x = empty<float, Shape<dyn>>(Dims(large_elements));
  const std::int64_t before = present_pages(x.data(), large_elements * sizeof(float));
  if (before < 0) return test::skip("this system has no /proc/self/pagemap");
  CHECK(before == 0);
  x.fill(1);
  const std::int64_t after = present_pages(x.data(), large_elements * sizeof(float));
  CHECK(after ==
        static_cast<std::int64_t>(large_elements * sizeof(float) / static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) -
            1);
}

TEST_CASE("the threads that share out a kernel touch their own parts first", "[memory]") {
  if (!TEST_OWNS_MEMORY) return test::skip("the sanitizer's shadow memory has page faults of its own");
  const auto cores = cpu::cores_of_process();
  if (cores.size() < 2) return test::skip("the process has a single core");
  static auto* const threads = new detail::ForkJoin{{cores[0], cores[1]}, "team"}; // never destroyed, like a device's
  const Team team{*threads};
  const auto faults = [&team] {
    std::array<long, 2> count{};
    team.parallel([&](int rank, int) {
      rusage usage{};
      getrusage(RUSAGE_THREAD, &usage);
      count[static_cast<std::size_t>(rank)] = usage.ru_minflt;
    });
    return count;
  };
  empty_cache(Cpu{0});
  const Tensor x = empty<float, Shape<dyn>>(Dims(large_elements));
  const std::array operands{detail::immediate_operand(1.0F), detail::memory_operand(x.data(), Dims(1))};
  const auto before = faults();
  kernel::run(kernel::Program<kernel::Immediate<float>, kernel::Out<float, 0>>{}, team, Dims(large_elements),
              operands.data());
  const auto after = faults();
  // huge pages or small ones, each thread meets about half of them
  const long first = after[0] - before[0];
  const long second = after[1] - before[1];
  CHECK(first + second >= 32);
  CHECK(first * 4 >= first + second);
  CHECK(second * 4 >= first + second);
}
