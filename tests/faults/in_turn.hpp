#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Lets every failure point of a scenario fail in turn, each in a process of its own, in which nothing of twill was used before:
// pools, threads and tables are made for the first time there, too. A scenario returns what it has computed, which
// has to be the same bits whatever failed, and counts the exceptions it met. A process that dies, leaks or computes
// something else is reported with the number of its point.

#include <tests/faults/points.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace twill::test::faults {

/// What a process tells.
struct Outcome {
  long points = 0;                 ///< how many it passed
  long of_kind[kinds.size()] = {}; ///< of each kind
  long exceptions = 0;             ///< how often the scenario had to repeat something
  long blocks_in_use = 0;          ///< of operator new, after the scenario
  long pool_bytes = 0;             ///< in use after the scenario
  long half_steps = 0;             ///< failed steps that had changed something, or said so
  bool is_half = false;            ///< one of them did not say so
  std::size_t bits = 0;            ///< of what it computed, hashed
  char message[200] = {};          ///< of the last exception
  char changed[60] = {};           ///< what a failed step had changed
  bool is_whole = false;
};

/// Repeats what throws, once: a fault comes once. Counts in the outcome.
template <class F> auto again_if_it_fails(Outcome& outcome, const F& f) {
  try {
    return f();
  } catch (const std::exception& error) {
    ++outcome.exceptions;
    std::strncpy(outcome.message, error.what(), sizeof(outcome.message) - 1);
  }
  return f();
}

/// Runs a scenario with a failing point (0: none) in a process of its own. Not whole when that died or ended badly.
template <class Scenario> Outcome in_own_process(const Scenario& scenario, long failing) {
  int ends[2] = {};
  Outcome outcome{};
  if (::pipe(ends) != 0) return outcome;
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(120); // one that hangs dies
    ::close(ends[0]);
    Outcome found{};
    try {
      found = scenario(failing);
      found.is_whole = true;
    } catch (const std::exception& error) {
      std::printf("  the scenario could not go on: %s\n", error.what());
    }
    const bool written = ::write(ends[1], &found, sizeof(found)) == static_cast<ssize_t>(sizeof(found));
    ::close(ends[1]);
    std::fflush(stdout);
    std::exit(written ? 0 : 1); // where leaks are looked for
  }
  ::close(ends[1]);
  if (child > 0) {
    if (::read(ends[0], &outcome, sizeof(outcome)) != static_cast<ssize_t>(sizeof(outcome))) outcome = {};
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) outcome.is_whole = false;
  }
  ::close(ends[0]);
  return outcome;
}

/// Under a sanitizer a process takes a tenth of a second to end; of many points every fifth fails there.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool is_slow = true;
#elif defined(__has_feature)
inline constexpr bool is_slow = __has_feature(address_sanitizer);
#else
inline constexpr bool is_slow = false;
#endif

/// Fails each point in turn. Returns how many came out wrong; fewer points than `least` are one more.
template <class Scenario> int each_in_turn(const char* name, const Scenario& scenario, long least) {
  const Outcome whole = in_own_process(scenario, 0);
  if (!whole.is_whole || whole.exceptions != 0) {
    std::printf("%s: fails by itself: %s\n", name, whole.message);
    return 1;
  }
  std::printf("%s: %ld points", name, whole.points);
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    std::printf(", %s %ld", kinds[kind].data(), whole.of_kind[kind]);
  std::printf("\n");
  int wrong = 0;
  long thrown = 0;
  long half = 0;
  if (whole.points < least) {
    std::printf("%s: there were %ld points once\n", name, least);
    ++wrong;
  }
  const long stride = is_slow && whole.points > 200 ? 5 : 1;
  for (long point = 1; point <= whole.points; point += stride) {
    const Outcome outcome = in_own_process(scenario, point);
    const char* fault = nullptr;
    if (!outcome.is_whole)
      fault = "died, or leaked";
    else if (outcome.is_half)
      fault = "leaves a step half done without a word, which changed";
    else if (outcome.bits != whole.bits)
      fault = "computes something else";
    else if (outcome.pool_bytes != whole.pool_bytes)
      fault = "leaves memory of the pool in use";
    else if (outcome.blocks_in_use > whole.blocks_in_use)
      fault = "leaves memory in use";
    if (outcome.exceptions > 0) ++thrown;
    half += outcome.half_steps;
    if (fault == nullptr) continue;
    ++wrong;
    std::printf("%s: point %ld %s %s (%ld blocks, %ld without a fault); \"%s\"\n", name, point, fault, outcome.changed,
                outcome.blocks_in_use, whole.blocks_in_use, outcome.message);
  }
  std::printf("%s: %ld of %ld points end in an exception, the others are made good inside; %ld steps said that they "
              "were stopped half-way; %d wrong\n",
              name, thrown, (whole.points + stride - 1) / stride, half, wrong);
  return wrong;
}

} // namespace twill::test::faults
