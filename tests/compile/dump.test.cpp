// SPDX-License-Identifier: Apache-2.0
//
// What a dump has to show: every node, launch, line, name, offset and lifetime. The layout is free.

#include <twill/compile/report/dump.hpp>
#include <twill/graph/gradient.hpp>
#include <twill/nn/dropout.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace twill;
using graph::Value;

namespace {

/// Two layers, a loss and its gradients.
struct Step {
  static constexpr graph::Graph trace() {
    graph::Graph graph{};
    graph::Extents image{};
    image.append(graph.symbol("batch"));
    image.append({8, 0});
    graph::Extents rows{};
    rows.append(graph.symbol("batch"));
    const Value x{graph, graph.add_input(DType::float32, image)};
    const Value labels{graph, graph.add_input(DType::int64, rows)};
    const Value hidden = nn::dropout(graph::tanh(nn::linear(x, 16, "first")), 0.25);
    const Value loss = nn::cross_entropy(nn::linear(hidden, 4, "second"), labels);
    List<int> weights{};
    for (const auto& parameter : graph.parameters) weights.push_back(parameter.node);
    const Value one = graph::constant(graph, DType::float32, 1);
    const List<int> gradients = graph::gradients(graph, {{loss.id(), one.id()}}, weights);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const Value weight{graph, weights[i]};
      const Value updated = weight - Value{graph, gradients[i]} * graph::run_scalar(graph, "rate", 0.1, DType::float32);
      graph.add_assign(weights[i], updated.id());
    }
    graph.outputs.push_back(loss.id());
    return graph;
  }
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

} // namespace

TEST_CASE("a dump shows nodes, launches, names and the memory plan", "[compile][dump]") {
  const std::string text = compile::dump<Step>({{"batch", 32}});
  INFO(text);
  const compile::Lowered lowered = compile::lower(Step::trace());
  for (const auto& parameter : lowered.parameters)
    CHECK(contains(text, std::string{parameter.name.view()} + " float32"));
  for (const char* name :
       {"first.weight", "second.bias", "rate", "random.seed", "batch", "matmul", "row program", "output0"})
    CHECK(contains(text, name));
  for (std::size_t i = 0; i < lowered.instructions.size(); ++i) CHECK(contains(text, "#" + std::to_string(i) + " "));
  CHECK(contains(text, "launches: " + std::to_string(compile::plan<Step>().launches)));
  CHECK(contains(text, "= tanh %"));
  CHECK(contains(text, "max over the row of %"));
  CHECK(contains(text, "write second.bias["));
  // 16 columns of a batch of 32 in float32
  CHECK(contains(text, "float32 (batch, 16), 2048 bytes at "));
  CHECK(contains(text, "arena of "));
}

TEST_CASE("a dump gives the offsets that a run uses", "[compile][dump]") {
  const compile::Lowered lowered = compile::lower(Step::trace());
  graph::SymbolValues symbols{};
  symbols[0] = 32;
  const compile::Binding binding = compile::bind(compile::view_of(lowered), symbols);
  const std::string text = compile::dump<Step>({{"batch", 32}});
  CHECK(contains(text, "arena of " + std::to_string(binding.arena_bytes) + " bytes"));
  for (const auto& operand : binding.inside) {
    const int value = lowered.operands[operand.operand].value;
    INFO("value " << value);
    CHECK(contains(text, "  t" + std::to_string(value) + " "));
    CHECK(contains(text, " bytes at " + std::to_string(operand.index) + ", used from #"));
  }
}

TEST_CASE("without the numbers of its dimensions a dump leaves the offsets out", "[compile][dump]") {
  const std::string text = compile::dump<Step>();
  CHECK(contains(text, "the arena depends on dimensions that have no number here"));
  CHECK(!contains(text, " bytes at "));
  CHECK(contains(text, "used from #0"));
}

TEST_CASE("a drawing has a box for each launch and an edge for each tensor it touches", "[compile][dump]") {
  const std::string drawing = compile::graphviz<Step>();
  const compile::Lowered lowered = compile::lower(Step::trace());
  CHECK(contains(drawing, "digraph"));
  CHECK(count(drawing, "shape=box") == static_cast<int>(lowered.instructions.size()));
  int tensors = 0;
  for (const compile::OperandBinding& operand : lowered.operands)
    if (compile::is_tensor_of(compile::view_of(lowered), operand, 0)) ++tensors;
  CHECK(count(drawing, " -> ") == tensors);
  CHECK(contains(drawing, "first.weight"));
}
