// SPDX-License-Identifier: Apache-2.0
//
// Programs with several device slots: whatever order their streams and copies find, results are those of one device, and what
// does not depend on each other runs at once. Seeds are fresh in each run and printed when something fails; TWILL_TEST_SEED
// repeats one.

#include "tests/support/random_graph.hpp"
#include "tests/support/table_interpreter.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/compile/plan/segments.hpp>
#include <twill/ops/move.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

using graph::Graph;
using graph::Value;

/// The same function with its parts in slots drawn at random. A weight stays in the slot that reads it first.
Graph in_slots(const Graph& whole, int slots, std::mt19937_64& random) {
  Graph graph = whole;
  graph.nodes.clear();
  graph.add_slot(slots - 1, {});
  std::vector<int> place(whole.nodes.size());
  const auto draw = [&] { return static_cast<int>(random() % static_cast<std::uint64_t>(slots)); };
  for (std::size_t i = 0; i < whole.nodes.size(); ++i) {
    graph::Node node = whole.nodes[i];
    const int first = node.arity > 0 ? place[static_cast<std::size_t>(node.input(0))] : -1;
    int slot = draw();
    if (node.kind == graph::Kind::assign) slot = graph.settle(first, slot, {});
    for (int k = 0; k < node.arity; ++k) {
      Value input{graph, place[static_cast<std::size_t>(node.input(k))]};
      if (node.kind != graph::Kind::assign || k > 0) input = graph::to_slot(input, slot);
      node.inputs.items[k] = input.id();
    }
    if (node.kind == graph::Kind::input) {
      node.slot = static_cast<std::int8_t>(slot);
      graph.inputs[static_cast<std::size_t>(node.index)].slot = slot;
    }
    place[i] = graph.add(node);
  }
  for (int& output : graph.outputs) output = place[static_cast<std::size_t>(output)];
  for (auto& info : graph.inputs) info.node = place[static_cast<std::size_t>(info.node)];
  for (auto& info : graph.parameters) info.node = place[static_cast<std::size_t>(info.node)];
  return graph;
}

/// Runs a schedule: in each slot the segments in order, each as soon as the ones that it waits for are done; which slot goes on, and when the
/// copy of a move that has begun is made, is drawn.
Results in_any_order(const compile::Lowered& lowered, const Environment& environment, std::mt19937_64& random) {
  const compile::TableView table = compile::view_of(lowered);
  const compile::Segments schedule = compile::segments_of(table, compile::plan_arenas(table, environment.symbols));
  TableRun run{lowered, environment};
  const std::size_t count = schedule.list.size();
  std::vector<bool> begun(count, false);
  std::vector<bool> done(count, false);
  const auto is_ready = [&](std::size_t s) {
    if (begun[s]) return false;
    for (std::size_t before = 0; before < s; ++before)
      if (schedule.list[before].slot == schedule.list[s].slot && !begun[before]) return false;
    for (std::size_t w = schedule.list[s].first_wait; w < schedule.list[s].end_wait; ++w)
      if (const int step = schedule.waits[w].segment; step >= 0 && !done[static_cast<std::size_t>(step)]) return false;
    return true;
  };
  while (std::find(done.begin(), done.end(), false) != done.end()) {
    std::vector<std::size_t> next{};
    for (std::size_t s = 0; s < count; ++s)
      if (is_ready(s) || (begun[s] && !done[s])) next.push_back(s);
    require(!next.empty(), "segments wait for each other");
    const std::size_t s = next[random() % next.size()];
    const compile::Segment& segment = schedule.list[s];
    if (segment.kind == compile::Segment::Kind::copy && !begun[s]) {
      begun[s] = true;
      continue;
    }
    for (std::size_t i = segment.begin; i < segment.end; ++i) run.run(i);
    begun[s] = done[s] = true;
  }
  return run.results();
}

bool are_same_bits(const std::vector<Array>& a, const std::vector<Array>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < a[i].elements.size(); ++k)
      if (a[i].elements[k] != b[i].elements[k] && !(std::isnan(a[i].elements[k]) && std::isnan(b[i].elements[k])))
        return false;
  return true;
}

bool are_close(const std::vector<Array>& a, const std::vector<Array>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < a[i].elements.size(); ++k) {
      const double x = a[i].elements[k];
      const double y = b[i].elements[k];
      if (!(std::isnan(x) && std::isnan(y)) && x != y && !(std::fabs(x - y) <= 1e-5 * (1 + std::fabs(x)))) return false;
    }
  return true;
}

struct Tried {
  int moves = 0;
  std::string fault{};
};

Tried try_slots(std::uint64_t seed) {
  Tried tried{};
  std::mt19937_64 random{seed};
  const RandomGraph made = random_graph(seed, {.steps = 16});
  const Graph placed = in_slots(made.graph, 2 + static_cast<int>(seed % 2), random);
  if (placed.fault.any()) return {0, "problem " + std::to_string(static_cast<int>(placed.fault.problem))};
  const compile::Lowered lowered = compile::lower(placed);
  for (const compile::Instruction& instruction : lowered.instructions) {
    tried.moves += instruction.moves ? 1 : 0;
    for (int k = 0; k < instruction.operand_count; ++k) {
      const compile::OperandBinding& operand =
          lowered.operands[static_cast<std::size_t>(instruction.first_operand + k)];
      if (operand.kind != compile::OperandKind::memory) continue;
      const compile::ValueInfo& value = lowered.values[static_cast<std::size_t>(operand.value)];
      const bool is_read_elsewhere = instruction.moves && !operand.writes;
      if (value.storage != compile::Storage::run_scalar && !is_read_elsewhere && value.slot != instruction.slot)
        tried.fault =
            "a kernel in slot " + std::to_string(instruction.slot) + " touches slot " + std::to_string(value.slot);
    }
  }
  const Results whole = interpret(compile::lower(made.graph), made.environment);
  const Results in_order = interpret(lowered, made.environment);
  if (!are_close(whole.outputs, in_order.outputs) || !are_close(whole.parameters, in_order.parameters))
    tried.fault = "results differ from those of one slot";
  for (int i = 0; i < 3; ++i) {
    const Results any = in_any_order(lowered, made.environment, random);
    if (!are_same_bits(any.outputs, in_order.outputs) || !are_same_bits(any.parameters, in_order.parameters))
      tried.fault = "results depend on the order of the streams";
  }
  return tried;
}

/// When the last step ends if each instruction takes one unit of time, and a copy two, beside the work of its slot.
int makespan(const compile::Lowered& lowered) {
  const compile::TableView table = compile::view_of(lowered);
  const compile::Segments schedule = compile::segments_of(table, compile::plan_arenas(table, {}));
  std::vector<int> end(schedule.list.size(), 0);
  std::vector<int> clock(static_cast<std::size_t>(lowered.slots), 0);
  int last = 0;
  for (std::size_t s = 0; s < schedule.list.size(); ++s) {
    const compile::Segment& segment = schedule.list[s];
    int& now = clock[static_cast<std::size_t>(segment.slot)];
    int begin = now;
    for (std::size_t w = segment.first_wait; w < segment.end_wait; ++w)
      if (const int wait = schedule.waits[w].segment; wait >= 0)
        begin = std::max(begin, end[static_cast<std::size_t>(wait)]);
    end[s] = begin + (segment.kind == compile::Segment::Kind::copy ? 2 : static_cast<int>(segment.end - segment.begin));
    if (segment.kind != compile::Segment::Kind::copy) now = end[s];
    last = std::max(last, end[s]);
  }
  return last;
}

} // namespace

TEST_CASE("programs in slots have the results of one device in whatever order their streams run", "[compile][PAR-5]") {
  const std::uint64_t first = test_seed();
  int moves = 0;
  for (std::uint64_t seed = first; seed < first + 300; ++seed) {
    INFO("seed " << seed);
    const Tried tried = try_slots(seed);
    REQUIRE(tried.fault == "");
    moves += tried.moves;
  }
  CHECK(moves > 300);
}

TEST_CASE("branches in two slots, and a copy beside both, take the time of the longer one", "[compile][PAR-5]") {
  Graph graph{};
  const auto square = [&] {
    graph::Extents shape{};
    for (int axis = 0; axis < 2; ++axis) shape.append({4, 0});
    return Value{graph, graph.add_input(DType::float32, shape)};
  };
  const Value x = square();
  const Value away = graph::to_slot(x, 1);
  Value left = x;
  Value right = away;
  for (int i = 0; i < 6; ++i) left = graph::matmul(left, left);
  for (int i = 0; i < 6; ++i) right = graph::matmul(right, right);
  const Value joined = graph::matmul(left, graph::to_slot(right, 0));
  graph.outputs.push_back(joined.id());
  // A copy, six products, and a copy back to where six products are done; then the last one.
  CHECK(makespan(compile::lower(graph)) == 2 + 6 + 2 + 1);
}
