// SPDX-License-Identifier: Apache-2.0
//
// Traces, plans and interprets a case's function, with the kernels of all operations in float32 and float64, of those that
// losses and layers have in float16 and bfloat16 as well.

#include "tests/oracle/traced.hpp"

#include <twill/compile/quick.hpp>
#include <twill/compile/run/executor.hpp>
#include <twill/compile/run_scalars.hpp>
#include <twill/nn.hpp>
#include <twill/ops.hpp>
#include <twill/ops/cumprod.hpp>
#include <twill/ops/cumsum.hpp>
#include <twill/ops/interpolate.hpp>
#include <twill/ops/sort.hpp>
#include <twill/ops/split.hpp>
#include <twill/sparse.hpp>

#if defined(TWILL_WITH_LAPACK)
#include <twill/linalg.hpp>
#endif

#include <cstddef>
#include <cstring>

namespace oracle {
namespace {

using twill::compile::OperationKernel;
using twill::graph::Graph;

template <const twill::graph::Operation* O, class... T> void add_kernels(std::vector<OperationKernel>& to) {
  (to.push_back({{O, twill::dtype_of<T>}, &twill::compile::detail::run_operation<O, T>}), ...);
}
template <const twill::graph::Operation*... O> void add_wide(std::vector<OperationKernel>& to) {
  (add_kernels<O, float, double>(to), ...);
}
template <const twill::graph::Operation*... O> void add_floating(std::vector<OperationKernel>& to) {
  (add_kernels<O, twill::half, twill::bfloat16, float, double>(to), ...);
}
template <const twill::graph::Operation*... O> void add_moves(std::vector<OperationKernel>& to) {
  (add_kernels<O, bool, std::int64_t, twill::half, twill::bfloat16, float, double>(to), ...);
}

std::vector<OperationKernel> all_kernels() {
  using namespace twill::graph;
  std::vector<OperationKernel> all;
  add_moves<&slice_operation, &place_operation, &concatenate_operation, &gather_operation>(all);
  add_kernels<&matmul_operation, std::int64_t, twill::half, twill::bfloat16, float, double>(all);
  add_kernels<&cumsum_operation, std::int64_t, float, double>(all);
  add_kernels<&argsort_operation, std::int64_t, float, double>(all);
  add_floating<&scatter_operation, &split_in_2, &split_in_3, &split_in_4, &split_to_operation,
               &biased_product_operation, &gelu_product_operation, &summing_product_operation, &convolution_operation,
               &convolution_input_gradient_operation, &convolution_weight_gradient_operation, &average_pool_operation,
               &average_pool_gradient_operation, &pick_largest_operation, &scatter_largest_operation,
               &interpolation_operation, &interpolation_gradient_operation>(all);
  add_wide<&cumprod_operation, &attention_operation, &attention_backward_operation>(all);
#if defined(TWILL_WITH_LAPACK)
  using namespace twill::linalg::detail;
  add_wide<&lu_operation, &lu_solve_operation, &triangular_operation, &cholesky_operation, &qr_operation,
           &svd_operation, &eigh_operation, &matrix_exp_operation>(all);
#endif
  add_wide<&twill::sparse::detail::matmul_operation, &twill::sparse::detail::transposed_operation,
           &twill::sparse::detail::sampled_operation>(all);
  return all;
}

Value viewed(Value x, const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    const int rank = x.rank();
    if (step.kind == Step::Kind::expand) {
      x = twill::graph::broadcast_to(x, twill::graph::extents_of(step.extents));
    } else if (step.kind == Step::Kind::swap) {
      int order[4]{0, 1, 2, 3};
      std::swap(order[rank + step.first], order[rank + step.second]);
      x = rank == 2   ? twill::graph::transpose(x, {order[0], order[1]})
          : rank == 3 ? twill::graph::transpose(x, {order[0], order[1], order[2]})
                      : twill::graph::transpose(x, {order[0], order[1], order[2], order[3]});
    } else {
      const int skipped = rank - static_cast<int>(step.slices.size());
      for (int axis = skipped; axis < rank; ++axis)
        x = twill::graph::slice_axis(x, axis, step.slices[static_cast<std::size_t>(axis - skipped)]);
    }
  }
  return x;
}

/// Blocks of memory and their addresses.
struct Blocks {
  std::vector<std::vector<std::byte>> blocks{};

  void add(const std::vector<std::byte>& bytes) {
    blocks.push_back(bytes);
    blocks.back().resize(bytes.size() + 1); // an empty array has an address too
  }
  [[nodiscard]] std::vector<void*> addresses() {
    std::vector<void*> result;
    for (auto& block : blocks) result.push_back(block.data());
    return result;
  }
};

Values values_in(const Graph& graph, int node, std::vector<std::byte> bytes) {
  Values values{.type = graph.node(node).dtype, .extents = graph.node(node).shape.evaluate({})};
  bytes.resize(bytes.size() - 1);
  values.bytes = std::move(bytes);
  return values;
}

} // namespace

Value weighed_sum(Value y) {
  using namespace twill::graph;
  const Value number = cast((iota(y.graph(), y.shape()) * 37 + 11) % 64, y.dtype());
  return sum(y * ((number - 31.5) / 32));
}

TracedValues with_gradients(Value y, std::span<const Value> by) {
  TracedValues results{y};
  const Value total = weighed_sum(y);
  for (const Value& each : by) results.push_back(twill::graph::gradient(total, each));
  return results;
}

std::vector<Values> run_traced(TracedFunction function, const Case& test) {
  static const std::vector<OperationKernel> kernels = all_kernels();
  DType element = DType::float32;
  for (const Operand& operand : test.operands)
    if (twill::is_floating(operand.base.type)) element = operand.base.type;

  // The number of weights is known after a trace: it has as many inputs as are left.
  std::size_t weights = 0;
  Graph graph{element};
  for (int attempt = 0; attempt < 2; ++attempt) {
    graph = Graph{element};
    TracedValues x;
    for (std::size_t i = 0; i + weights < test.operands.size(); ++i) {
      const Operand& operand = test.operands[i];
      const int input = graph.add_input(operand.base.type, twill::graph::extents_of(operand.base.extents));
      x.push_back(viewed({graph, input}, operand.steps));
    }
    const TracedValues results = function(x, test.numbers);
    for (const Value& result : results) graph.outputs.push_back(result.id());
    if (weights == graph.parameters.size()) break;
    weights = graph.parameters.size();
  }
  if (graph.fault.any())
    throw twill::ValueError("oracle: the graph has problem " + std::to_string(static_cast<int>(graph.fault.problem)) +
                            " of " + std::to_string(graph.fault.left) + " and " + std::to_string(graph.fault.right));

  const std::size_t inputs = test.operands.size() - weights;
  Blocks given, stored, made;
  for (std::size_t i = 0; i < inputs; ++i) given.add(test.operands[i].base.bytes);
  for (std::size_t i = 0; i < weights; ++i) {
    const Values& weight = test.operands[inputs + i].base;
    const auto& declared = graph.parameters[i];
    if (weight.type != declared.dtype || weight.extents != declared.shape.evaluate({}))
      throw twill::ValueError("oracle: weight " + std::string(declared.name.view()) + " has the shape " +
                              to_string(declared.shape.evaluate({})) + ", given is " + to_string(weight.extents));
    stored.add(weight.bytes);
  }
  for (const int id : graph.outputs) {
    const auto& node = graph.node(id);
    made.add(std::vector<std::byte>(static_cast<std::size_t>(node.shape.evaluate({}).elements()) *
                                    twill::size_of(node.dtype)));
  }

  const twill::compile::QuickTable table{graph, kernels};
  const auto view = table.view();
  const twill::compile::RunScalars numbers{view.run_scalars};
  twill::compile::Executor<Cpu> executor{Cpu{}, view, table.kernels(), twill::compile::Arena::kept};
  const auto from = given.addresses();
  const auto by = stored.addresses();
  const auto to = made.addresses();
  executor.run({}, {.inputs = from, .parameters = by, .outputs = to, .run_scalars = numbers.bits()});
  synchronize(Cpu{});

  std::vector<Values> results;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i)
    results.push_back(values_in(graph, graph.outputs[i], std::move(made.blocks[i])));
  for (std::size_t i = 0; i < weights; ++i)
    if (graph.parameters[i].role == twill::graph::Role::buffer)
      results.push_back(values_in(graph, graph.parameters[i].node, std::move(stored.blocks[i])));
  return results;
}

} // namespace oracle
