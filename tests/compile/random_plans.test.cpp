// SPDX-License-Identifier: Apache-2.0
//
// What has to hold for the memory plan and the gradients of any graph, on thousands of random ones. Seeds are fresh in each
// run and printed when something fails; TWILL_TEST_SEED repeats one.

#include "tests/support/random_graph.hpp"
#include "tests/support/table_interpreter.hpp"
#include "tests/support/test_seed.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

/// Bytes that are live while an instruction runs.
std::int64_t live_bytes(const compile::TableView& table, const List<std::size_t>& bytes, const List<int>& planned,
                        int instruction) {
  std::int64_t live = 0;
  for (std::size_t v = 0; v < table.values.size(); ++v) {
    const compile::ValueInfo& value = table.values[v];
    if (planned[v] >= 0 && value.first_use <= instruction && instruction <= value.last_use)
      live += static_cast<std::int64_t>(bytes[v]);
  }
  return live;
}

std::string plan_fault(std::uint64_t seed) {
  const RandomGraph made = random_graph(seed, {.steps = 24});
  const compile::Lowered lowered = compile::lower(made.graph);
  const compile::TableView table = compile::view_of(lowered);
  List<std::size_t> bytes(table.values.size(), 0);
  List<int> planned(table.values.size(), -1);
  const auto plan = compile::plan_arena(table, made.environment.symbols, bytes, planned);
  const auto offset = [&](std::size_t v) { return plan.offsets[static_cast<std::size_t>(planned[v])]; };
  for (std::size_t a = 0; a < table.values.size(); ++a) {
    if (planned[a] < 0) continue;
    const compile::ValueInfo& first = table.values[a];
    const std::int64_t end = offset(a) + static_cast<std::int64_t>(bytes[a]);
    if (offset(a) < 0 || end > plan.total_bytes) return "value " + std::to_string(a) + " lies outside of the arena";
    for (std::size_t b = a + 1; b < table.values.size(); ++b) {
      if (planned[b] < 0) continue;
      const compile::ValueInfo& second = table.values[b];
      const bool live_together = first.first_use <= second.last_use && second.first_use <= first.last_use;
      if (live_together && offset(a) < offset(b) + static_cast<std::int64_t>(bytes[b]) && offset(b) < end)
        return "values " + std::to_string(a) + " and " + std::to_string(b) + " share bytes while both are live";
    }
  }
  for (int i = 0; i < static_cast<int>(table.instructions.size()); ++i)
    if (const std::int64_t live = live_bytes(table, bytes, planned, i); live > plan.total_bytes)
      return "instruction " + std::to_string(i) + " needs " + std::to_string(live) + " bytes of " +
             std::to_string(plan.total_bytes);
  return {};
}

/// The loss of a graph with one element of a source moved.
double moved_loss(const RandomGraph& made, bool is_input, std::size_t source, std::size_t element, double by) {
  Environment environment = made.environment;
  (is_input ? environment.inputs : environment.parameters)[source].elements[element] += by;
  return evaluate_nodes(made.graph, environment)[static_cast<std::size_t>(made.loss)].elements[0];
}

/// What became of one graph: how many derivatives were compared, and the first that differs.
struct Derivatives {
  int compared = 0;
  std::string fault{};
};

Derivatives check_gradients(std::uint64_t seed) {
  const RandomGraph made = random_graph(seed, {.steps = 12, .assignments = false, .smooth = true});
  Derivatives result{};
  if (made.loss < 0) return result;
  const std::vector<Array> values = evaluate_nodes(made.graph, made.environment);
  const std::size_t inputs = made.environment.inputs.size();
  for (std::size_t k = 0; k < made.gradients.size(); ++k) {
    if (made.gradients[k] < 0) continue;
    const bool is_input = k < inputs;
    const std::size_t source = is_input ? k : k - inputs;
    const auto& elements = (is_input ? made.environment.inputs : made.environment.parameters)[source].elements;
    const Array& gradient = values[static_cast<std::size_t>(made.gradients[k])];
    for (std::size_t i = 0; i < elements.size() && i < 3; ++i) {
      const auto slope = [&](double h) {
        return (moved_loss(made, is_input, source, i, h) - moved_loss(made, is_input, source, i, -h)) / (2 * h);
      };
      // Where two steps of different sizes disagree there is a corner, and no derivative to compare with.
      const double fine = slope(1e-6);
      const double coarse = slope(4e-6);
      if (std::fabs(fine - coarse) > 1e-6 + 1e-4 * std::fabs(fine)) continue;
      ++result.compared;
      if (!(std::fabs(gradient.elements[i] - fine) <= 1e-5 + 1e-3 * std::fabs(fine))) {
        result.fault = "source " + std::to_string(k) + ", element " + std::to_string(i) + ": the gradient is " +
                       std::to_string(gradient.elements[i]) + ", differences say " + std::to_string(fine);
        return result;
      }
    }
  }
  return result;
}

} // namespace

TEST_CASE("no plan lets two live values share bytes or is smaller than what lives at once", "[compile][plan]") {
  const std::uint64_t first = test_seed();
  for (std::uint64_t seed = first; seed < first + 2000; ++seed) {
    INFO("seed " << seed);
    REQUIRE(plan_fault(seed) == "");
  }
}

TEST_CASE("gradients of random graphs are what finite differences say", "[compile][grad]") {
  const std::uint64_t first = test_seed();
  int compared = 0;
  for (std::uint64_t seed = first; seed < first + 1000; ++seed) {
    INFO("seed " << seed);
    const Derivatives derivatives = check_gradients(seed);
    REQUIRE(derivatives.fault == "");
    compared += derivatives.compared;
  }
  CHECK(compared > 1000);
}
