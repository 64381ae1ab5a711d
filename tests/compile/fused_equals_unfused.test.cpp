// SPDX-License-Identifier: Apache-2.0
//
// Hundreds of random graphs: the table that the compiler makes of each, run line by line, against the graph run node by
// node. Seeds are fresh in each run and printed when something fails; TWILL_TEST_SEED repeats one.

#include "tests/support/random_graph.hpp"
#include "tests/support/table_interpreter.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/compile/report/dump.hpp>

#include <catch2/catch.hpp>

#include <cstdlib>
#include <random>
#include <string>

using namespace twill;
using namespace twill::test;

namespace {

bool close(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::fabs(a - b) <= tolerance * (1 + std::fabs(a) + std::fabs(b));
}

std::string first_difference(const std::vector<Array>& expected, const std::vector<Array>& got, const char* what) {
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const std::string where = std::string{what} + " " + std::to_string(k) + " " + to_string(expected[k].shape);
    if (!(expected[k].shape == got[k].shape)) return where + ": shape " + to_string(got[k].shape);
    for (std::size_t i = 0; i < expected[k].elements.size(); ++i)
      if (!close(expected[k].elements[i], got[k].elements[i], 2e-5))
        return where + ", element " + std::to_string(i) + ": " + std::to_string(expected[k].elements[i]) + " became " +
               std::to_string(got[k].elements[i]);
  }
  return {};
}

std::string fault_of(std::uint64_t seed, const RandomGraphOptions& options) {
  const RandomGraph made = random_graph(seed, options);
  if (made.graph.fault.any())
    return "the trace has a fault: " + std::to_string(static_cast<int>(made.graph.fault.problem));
  const Results expected = evaluate(made.graph, made.environment);
  try {
    const Results got = interpret(compile::lower(made.graph), made.environment);
    const std::string fault = first_difference(expected.outputs, got.outputs, "output");
    return fault.empty() ? first_difference(expected.parameters, got.parameters, "parameter") : fault;
  } catch (const std::exception& fault) {
    return fault.what();
  }
}

/// The shortest failing graph of a seed, as text.
std::string shortest_failure(std::uint64_t seed, RandomGraphOptions options) {
  for (int steps = 1; steps < options.steps; ++steps) {
    RandomGraphOptions fewer = options;
    fewer.steps = steps;
    const std::string fault = fault_of(seed, fewer);
    if (!fault.empty())
      return fault + "\n" + compile::dump(random_graph(seed, fewer).graph, {{"batch", options.batch}});
  }
  return compile::dump(random_graph(seed, options).graph, {{"batch", options.batch}});
}

void check_many(int count, const RandomGraphOptions& options) {
  const std::uint64_t first = test_seed();
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    const std::string fault = fault_of(seed, options);
    if (fault.empty()) {
      SUCCEED();
      continue;
    }
    // one is enough to work with
    FAIL("seed " << seed << ": " << fault << "\n" << shortest_failure(seed, options));
  }
}

} // namespace

TEST_CASE("a fused table computes what its graph does, node by node", "[compile][fuse]") {
  check_many(400, {.steps = 16, .gradients = false, .assignments = false});
}

TEST_CASE("fused gradients are those of the graph", "[compile][fuse]") {
  check_many(300, {.steps = 16, .assignments = false});
}

TEST_CASE("parameters are overwritten only when everybody has read them", "[compile][fuse]") {
  check_many(300, {.steps = 14});
}

TEST_CASE("a fused table runs on batches of one and of none", "[compile][fuse]") {
  check_many(100, {.steps = 12, .batch = 1});
  check_many(100, {.steps = 12, .batch = 0});
}

TEST_CASE("long graphs fuse into programs of bounded length", "[compile][fuse]") { check_many(20, {.steps = 120}); }

TEST_CASE("units that would have to run before and after each other do not merge", "[compile][fuse]") {
  // Graphs in which a unit reads an old value of another that grows by newer ones.
  for (std::uint64_t seed = 1020; seed < 1040; ++seed) REQUIRE(fault_of(seed, {.steps = 120}).empty());
  for (std::uint64_t seed = 102800; seed < 102820; ++seed) REQUIRE(fault_of(seed, {.steps = 120}).empty());
}
