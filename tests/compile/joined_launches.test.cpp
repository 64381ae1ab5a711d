// SPDX-License-Identifier: Apache-2.0
//
// The updates of many weights are one launch, whose elements the threads of a team share.

#include "tests/support/random_graph.hpp"

#include <twill/compile/report/report.hpp>
#include <twill/compile/run/launch.hpp>
#include <twill/graph/operators.hpp>
#include <twill/optim/adam.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace twill;

namespace {

constexpr std::int64_t sizes[] = {70001, 3, 128, 40007, 1};

/// Adam for five weights of different sizes, as an optimiser's step traces it.
struct Updates {
  static constexpr graph::Graph trace() {
    graph::Graph graph{DType::float32};
    List<int> weights{};
    List<int> gradients{};
    char name = 'a';
    for (std::int64_t size : sizes) {
      graph::Extents shape{};
      shape.append({size, 0});
      weights.push_back(graph.add_parameter({&name, 1}, DType::float32, shape, {}, graph::Role::weight, {}));
      gradients.push_back(graph.add_input(DType::float32, shape));
      ++name;
    }
    optim::update_all<optim::Adam>(graph, weights, gradients);
    return graph;
  }
};

static_assert(compile::plan<Updates>().launches == 1);
static_assert(compile::plan<Updates>().distinct_kernels == 1);
static_assert(compile::Compiled<Updates>::sizes.instructions == 5);

/// Weights and states after one update, run by this team.
std::vector<std::vector<float>> run_on(const Team& team) {
  const compile::TableView table = compile::Compiled<Updates>::view();
  compile::Binding binding = compile::bind(table, {});
  std::vector<std::vector<float>> parameters{};
  std::vector<std::vector<float>> gradients{};
  for (const auto& info : table.parameters) {
    const auto size = static_cast<std::size_t>(info.shape[0].factor);
    parameters.emplace_back(size, 0.0F);
    for (std::size_t i = 0; i < size; ++i)
      if (info.role == graph::Role::weight) parameters.back()[i] = std::sin(static_cast<float>(i));
  }
  for (const auto& info : table.inputs) {
    gradients.emplace_back(static_cast<std::size_t>(info.shape[0].factor), 0.0F);
    for (std::size_t i = 0; i < gradients.back().size(); ++i) gradients.back()[i] = std::cos(static_cast<float>(3 * i));
  }
  std::vector<std::uint64_t> numbers(table.run_scalars.size());
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = kernel::bits_of(table.run_scalars[k].dtype, 0.5);
  for (const auto& operand : binding.numbers) binding.operands[operand.operand].data = &numbers[operand.index];
  for (const auto& operand : binding.outside)
    binding.operands[operand.operand].data =
        (operand.storage == compile::Storage::input ? gradients : parameters)[operand.index].data();
  REQUIRE(binding.instructions[0].members == 5);
  for (const compile::Segment& segment : binding.segments.list)
    compile::run_segment(team, binding, segment, compile::kernels<Updates>);
  return parameters;
}

} // namespace

TEST_CASE("a launch over many tensors gives the same bits for every number of threads", "[compile][TRAIN-4]") {
  const std::vector<std::vector<float>> alone = run_on(Team::serial());
  REQUIRE(alone[0][5] != std::sin(5.0F));
  // Ranks may share a core.
  static auto* const threads = new twill::detail::ForkJoin{{0, 0, 0}, "joined"};
  REQUIRE(run_on(Team{*threads}) == alone);
}

TEST_CASE("launches that need each other's results stay apart", "[compile]") {
  graph::Graph graph{DType::float32};
  graph::Extents shape{};
  shape.append({100, 0});
  graph::Extents turned = shape;
  turned.append({100, 0});
  const graph::Value x{graph, graph.add_input(DType::float32, turned)};
  const graph::Value once = graph::tanh(graph::transpose(x));
  const graph::Value twice = graph::tanh(graph::transpose(once)); // the same kernel, on what the first one writes
  graph.outputs.push_back(once.id());
  graph.outputs.push_back(twice.id());
  const compile::Lowered table = compile::lower(graph);
  REQUIRE(table.instructions.size() == 2);
  REQUIRE(table.instructions[0].kernel == table.instructions[1].kernel);
  REQUIRE_FALSE(table.instructions[1].continues);
}
