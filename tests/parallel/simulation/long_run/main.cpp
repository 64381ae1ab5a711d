// SPDX-License-Identifier: Apache-2.0
//
// `simulate_wrappers [wrapper] [steps] [seed]`: simulates trainings of every wrapper whose name begins so, "" for all, from a seed
// on, until each has taken so many steps of its ranks, a million unless told otherwise. Every sixteenth seed is played twice, and
// has to take the same course. Prints a line for each wrapper, and for each seed that fails what was wrong, then how to repeat it.

#include "tests/parallel/simulation/long_run/wrappers.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

using namespace twill::test::long_run;

namespace {

/// Simulates one wrapper. Returns the number of seeds that failed, of at most five.
int simulate_wrapper(const Wrapper& wrapper, std::int64_t steps, std::uint64_t first) {
  Tally tally{};
  std::int64_t taken = 0;
  std::uint64_t seed = first;
  int failures = 0;
  for (; taken < steps && failures < 5; ++seed) {
    try {
      const Course course = wrapper.play(seed, tally);
      taken += course.steps;
      Tally ignored{};
      if (seed % 16 == 0 && !(wrapper.play(seed, ignored) == course))
        throw std::logic_error("takes another course when it is repeated");
    } catch (const std::exception& error) {
      ++failures;
      std::printf("%s, seed %llu: %s\n  repeat: simulate_wrappers \"%s\" 1 %llu\n", wrapper.name,
                  static_cast<unsigned long long>(seed), error.what(), wrapper.name,
                  static_cast<unsigned long long>(seed));
    }
  }
  std::printf("%-24s %9lld steps, %6llu seeds, %6lld starts, %6lld ranks name the one at fault;", wrapper.name,
              static_cast<long long>(taken), static_cast<unsigned long long>(seed - first),
              static_cast<long long>(tally.starts), static_cast<long long>(tally.named));
  for (std::size_t kind = 0; kind < tally.met.size(); ++kind)
    if (tally.met[kind] > 0) std::printf(" %s %lld", names_of_wrong[kind], static_cast<long long>(tally.met[kind]));
  std::printf("%s\n", failures > 0 ? "; FAILED" : "");
  std::fflush(stdout);
  return failures;
}

} // namespace

int main(int count, char** arguments) {
  const std::string_view prefix = count > 1 ? arguments[1] : "";
  const std::int64_t steps = count > 2 ? std::atoll(arguments[2]) : 1'000'000;
  const std::uint64_t first = count > 3 ? std::strtoull(arguments[3], nullptr, 10) : 1;
  std::vector<Wrapper> all{};
  add_distributed(all);
  add_replicas(all);
  add_pipelines(all);
  add_elastic(all);
  int failures = 0;
  for (const Wrapper& wrapper : all)
    if (std::string_view{wrapper.name}.starts_with(prefix)) failures += simulate_wrapper(wrapper, steps, first);
  return failures > 0 ? 1 : 0;
}
