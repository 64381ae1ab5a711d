#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products with bias and activation as one operation, and the operations of their gradient: a product times the
// slope of an activation with the sums of its columns, and a product with the sums of a factor. GPU libraries compute
// each in one kernel (epilogues); elsewhere a product and a program do. Models for GPUs are traced with them, see
// nn/device_trace.hpp. Read next: kernel/epilogue_product.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/gradient.hpp>
#include <twill/kernel/epilogue_product.hpp>
#include <twill/ops/detail/epilogue_programs.hpp>
#include <twill/ops/matmul.hpp>

#include <array>
#include <cstdint>
#include <optional>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void biased_product_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                        InputGradients& gradients);
TWILL_CONSTEXPR void gelu_product_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);
TWILL_CONSTEXPR void summing_product_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                         InputGradients& gradients);

/// The grid of a product with two results of its size; its third input has that size or is a vector along its columns.
template <bool HasVector> constexpr CallPlan epilogue_call(const Graph& graph, const Node& node) {
  CallPlan plan = matmul_call(graph, node);
  plan.walks[3] = plan.walks[4] = plan.walks[2];
  if (HasVector) {
    plan.walks[2] = {};
    plan.walks[2].axis_of[1] = 0;
  }
  return plan;
}

/// The grid of gelu_product, whose second result is a vector along its columns.
TWILL_CONSTEXPR CallPlan gelu_product_call(const Graph& graph, const Node& node) {
  CallPlan plan = epilogue_call<false>(graph, node);
  plan.walks[4] = {};
  plan.walks[4].axis_of[1] = 0;
  return plan;
}

/// The grid of summing_product, whose sums run along its rows or, if the attribute says so, its columns.
TWILL_CONSTEXPR CallPlan summing_product_call(const Graph& graph, const Node& node) {
  CallPlan plan = matmul_call(graph, node);
  plan.walks[3].axis_of[graph.attribute(node, 0) != 0 ? 1 : 0] = 0;
  return plan;
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// x (m, k), w (k, n) and a bias (n); results: activation(x w + bias) and, for gelu if it is read, x w + bias.
/// Attribute: the activation.
inline constexpr Operation biased_product_operation{.name = "biased_product",
                                                    .vjp = &detail::biased_product_vjp,
                                                    .call = &detail::epilogue_call<true>,
                                                    .results = 2,
                                                    .multiply_adds = &detail::matmul_multiply_adds};

/// a (m, k), b (k, n) and an argument (m, n); results: a b times gelu's slope at the argument, the sums of its columns.
inline constexpr Operation gelu_product_operation{.name = "gelu_product",
                                                  .vjp = &detail::gelu_product_vjp,
                                                  .call = &detail::gelu_product_call,
                                                  .results = 2,
                                                  .multiply_adds = &detail::matmul_multiply_adds};

/// a (m, k) and b (k, n); results: a b, and the sums of a's rows, or of b's columns if the attribute is 1.
inline constexpr Operation summing_product_operation{.name = "summing_product",
                                                     .vjp = &detail::summing_product_vjp,
                                                     .call = &detail::summing_product_call,
                                                     .results = 2,
                                                     .multiply_adds = &detail::matmul_multiply_adds};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// activation(product + bias) by nodes of their own: kernels with epilogues take one product, not those of a batch.
[[nodiscard]] TWILL_CONSTEXPR Value activated_sum(Value product, Value bias, Activation activation);

/// The argument of a biased product's activation, its second result. It is made with the product: a stage that runs
/// backward later keeps only nodes of the forward pass.
[[nodiscard]] TWILL_CONSTEXPR Value argument_of(Value product) {
  Graph& graph = product.graph();
  if (const int next = product.id() + 1; next < graph.size())
    if (const Node& node = graph.node(next); node.kind == Kind::result && node.input(0) == product.id())
      return {graph, next};
  return add_result(product, 1, product.dtype(), product.shape());
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// activation(x w + bias) for x (m, k), w (k, n), bias (n), computed in one kernel where a library can.
/// errors: those of matmul, a bias of another length
[[nodiscard]] TWILL_CONSTEXPR Value biased_product(Value x, Value w, Value bias,
                                                   Activation activation = Activation::none,
                                                   CallSite site = CallSite::here()) {
  Graph& graph = x.graph();
  const Value product = matmul(x, w, site); // checks the factors, then dropped
  if (graph.fault.any()) return product;
  const Extents shape = product.shape();
  if (shape.rank != 2 || bias.rank() != 1 || !unify(graph, bias.shape()[0], shape[1]))
    graph.refuse(Problem::broadcast_extents_differ, bias.rank() == 1 ? bias.shape()[0].factor : bias.rank(),
                 shape[shape.rank - 1].factor, site);
  if (graph.fault.any()) return product;
  if (graph.is_one_example) return detail::activated_sum(product, bias, activation);
  const Value result = add_operation(
      biased_product_operation,
      {Value{graph, product.node().input(0)}, Value{graph, product.node().input(1)}, cast(bias, product.dtype())},
      product.dtype(), shape, {static_cast<std::int64_t>(activation)});
  if (activation == Activation::gelu_tanh) (void)detail::argument_of(result);
  return result;
}

/// The activation of x, fused into the product whose plain result is x; nothing if x is anything else.
[[nodiscard]] TWILL_CONSTEXPR std::optional<Value> activated_product(Value x, Activation activation) {
  Graph& graph = x.graph();
  int id = x.id();
  while (graph.node(id).kind == Kind::reshape) id = graph.node(id).input(0);
  const Node& node = graph.node(id);
  if (node.kind != Kind::operation || !is_same(*node.operation, biased_product_operation) ||
      graph.attribute(node, 0) != static_cast<std::int64_t>(Activation::none))
    return {};
  const int scope = graph.scope();
  graph.set_scope(node.scope); // it stays the product's layer
  const Value inputs[] = {{graph, node.input(0)}, {graph, node.input(1)}, {graph, node.input(2)}};
  const Value result = add_operation(biased_product_operation, {inputs[0], inputs[1], inputs[2]}, node.dtype,
                                     Extents{node.shape}, {static_cast<std::int64_t>(activation)});
  if (activation == Activation::gelu_tanh) (void)detail::argument_of(result);
  graph.set_scope(scope);
  return reshape(result, x.shape());
}

template <>
inline constexpr Absorber absorbed<formula::Relu> = [](Value x) { return activated_product(x, Activation::relu); };
template <>
inline constexpr Absorber absorbed<formula::GeluTanh> =
    [](Value x) { return activated_product(x, Activation::gelu_tanh); };

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR Value activated_sum(Value product, Value bias, Activation activation) {
  const Value y = product + cast(bias, product.dtype());
  return activation == Activation::relu ? relu(y) : activation == Activation::gelu_tanh ? gelu_tanh(y) : y;
}

/// The gradients of x, w and bias from that of x w + bias. `sums`, if known, is that of the bias.
TWILL_CONSTEXPR void set_gradients(Value x, Value w, Value g, std::optional<Value> sums, InputGradients& gradients) {
  if (gradients.wants(0)) gradients.set(0, gradient_of_left(x, w, g));
  if (gradients.wants(1) && gradients.wants(2) && !sums) { // both in one product
    const bool is_transposed = w.node().kind == Kind::transpose;
    const Value left = transpose(is_transposed ? g : x);
    const Value right = is_transposed ? x : g;
    Extents shape{};
    shape.append(left.shape()[0]);
    shape.append(right.shape()[1]);
    const Value product =
        add_operation(summing_product_operation, {left, right}, g.dtype(), shape, {is_transposed ? 0 : 1});
    Extents length{};
    length.append(g.shape()[1]);
    gradients.set(1, is_transposed ? transpose(product) : product);
    gradients.set(2, add_result(product, 1, g.dtype(), length));
    return;
  }
  if (gradients.wants(1)) gradients.set(1, gradient_of_right(x, w, g));
  if (gradients.wants(2)) gradients.set(2, sums ? *sums : cast(sum(g, {0}), g.dtype()));
}

/// The plain product that makes up a whole value, -1 for none.
[[nodiscard]] TWILL_CONSTEXPR int product_behind(const Graph& graph, int id, const Extents& shape) {
  while (graph.node(id).kind == Kind::reshape) id = graph.node(id).input(0);
  const Node& node = graph.node(id);
  const bool fits = node.kind == Kind::operation && is_same(*node.operation, matmul_operation) && node.shape == shape;
  return fits ? id : -1;
}

TWILL_CONSTEXPR void biased_product_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                        InputGradients& gradients) {
  const Node self = graph.node(node);
  const Value x{graph, self.input(0)};
  const Value w{graph, self.input(1)};
  const Value y{graph, node};
  const auto activation = static_cast<Activation>(graph.attribute(self, 0));
  std::optional<Value> g{};
  std::optional<Value> sums{};
  if (cotangents[0] >= 0) {
    g = Value{graph, cotangents[0]};
    if (activation == Activation::relu) g = where(y > 0, *g, 0);
    if (activation == Activation::gelu_tanh) {
      const Value argument = argument_of(y);
      const int product = product_behind(graph, g->id(), self.shape);
      if (product >= 0 && gradients.wants(2) && cotangents[1] < 0) {
        const Node factors = graph.node(product);
        g = add_operation(gelu_product_operation,
                          {Value{graph, factors.input(0)}, Value{graph, factors.input(1)}, argument}, self.dtype,
                          self.shape);
        Extents length{};
        length.append(self.shape[1]);
        sums = add_result(*g, 1, self.dtype, length);
      } else {
        g = cast(widened(*g) * gelu_tanh_slope(widened(argument)), self.dtype);
      }
    }
    // these gradients are made by a program, which sums their columns on the way
    if (activation != Activation::none && !sums && gradients.wants(2)) sums = cast(sum(*g, {0}), self.dtype);
  }
  if (cotangents[1] >= 0) {
    const Value of_argument{graph, cotangents[1]};
    g = g ? *g + of_argument : of_argument;
    sums.reset();
  }
  if (g) set_gradients(x, w, *g, sums, gradients);
}

/// With G, the gradient of a b s(z): of the product G s(z), of the argument G a b s'(z).
TWILL_CONSTEXPR void gelu_product_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& result) {
  const Node self = graph.node(node);
  const Value a{graph, self.input(0)};
  const Value b{graph, self.input(1)};
  const Value argument = stop_gradient(Value{graph, self.input(2)});
  std::optional<Value> g{};
  if (cotangents[0] >= 0) g = Value{graph, cotangents[0]};
  if (cotangents[1] >= 0) {
    const Value of_sums = broadcast_to(Value{graph, cotangents[1]}, self.shape);
    g = g ? *g + of_sums : of_sums;
  }
  if (!g) return;
  const Value slope = gelu_tanh_slope(widened(argument));
  const Value of_product = cast(widened(*g) * slope, self.dtype);
  if (result.wants(0)) result.set(0, gradient_of_left(a, b, of_product));
  if (result.wants(1)) result.set(1, gradient_of_right(a, b, of_product));
  if (!result.wants(2)) return;
  const Value of_slope = widened(*g) * widened(matmul(a, b));
  List<int> variables{};
  variables.push_back(argument.id());
  const List<int> found = gradients(graph, {{slope.id(), of_slope.id()}}, variables);
  if (found[0] >= 0) result.set(2, Value{graph, found[0]});
}

TWILL_CONSTEXPR void summing_product_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                         InputGradients& gradients) {
  const Node self = graph.node(node);
  const Value factors[] = {{graph, self.input(0)}, {graph, self.input(1)}};
  const int summed = graph.attribute(self, 0) != 0 ? 1 : 0;
  for (int i = 0; i < 2; ++i) {
    if (!gradients.wants(i)) continue;
    const Value own = factors[i];
    std::optional<Value> g{};
    if (cotangents[0] >= 0) {
      const Value of_product{graph, cotangents[0]};
      g = i == 0 ? gradient_of_left(own, factors[1], of_product) : gradient_of_right(factors[0], own, of_product);
    }
    if (cotangents[1] >= 0 && i == summed) {
      const Value sums{graph, cotangents[1]};
      const Value of_sums = broadcast_to(i == 0 ? unsqueeze(sums, 1) : sums, own.shape());
      g = g ? *g + of_sums : of_sums;
    }
    if (g) gradients.set(i, *g);
  }
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

/// Computes the product of a call's first two operands, without an epilogue, into this memory.
template <class T, class TeamType> void run_product(const TeamType& team, const kernel::Launch& launch, void* to) {
  std::array<kernel::Operand, 3> operands{launch.operands[0], launch.operands[1], {}};
  operands[2].data = to;
  operands[2].strides[0] = launch.grid[1];
  operands[2].strides[1] = 1;
  KernelOf<&graph::matmul_operation>::template run<T>(team, kernel::Launch{launch.grid, operands.data()});
}

template <class T>
[[nodiscard]] kernel::EpilogueProduct<T> epilogue_product(const kernel::Launch& launch, nvidia::GemmEpilogue epilogue,
                                                          const kernel::Operand& result, const kernel::Operand& bias,
                                                          void* auxiliary) {
  const std::array<kernel::Operand, 3> operands{launch.operands[0], launch.operands[1], result};
  return {product_stack<T>(kernel::Launch{launch.grid, operands.data()}), epilogue, static_cast<T*>(bias.data),
          static_cast<T*>(auxiliary)};
}

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <> struct KernelOf<&graph::biased_product_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    using graph::Activation;
    using nvidia::GemmEpilogue;
    const kernel::Operand& bias = launch.operands[2];
    const kernel::Operand& result = launch.operands[3];
    void* const kept = launch.operands[4].data;
    const auto activation = static_cast<Activation>(launch.attributes[0]);
    if (launch.grid[0] == 0 || launch.grid[1] == 0) return;
    const GemmEpilogue epilogue = activation == Activation::none   ? GemmEpilogue::bias
                                  : activation == Activation::relu ? GemmEpilogue::relu_bias
                                  : kept == nullptr                ? GemmEpilogue::gelu_bias
                                                                   : GemmEpilogue::gelu_bias_keep;
    if (bias.strides[1] == 1 &&
        run_epilogue_product(team, detail::epilogue_product<T>(launch, epilogue, result, bias, kept)))
      return;
    void* const product = kept == nullptr ? result.data : kept;
    detail::run_product<T>(team, launch, product);
    if (activation == Activation::none) return finish<T, Activation::none>(team, launch, product);
    if (activation == Activation::relu) return finish<T, Activation::relu>(team, launch, product);
    finish<T, Activation::gelu_tanh>(team, launch, product);
  }

private:
  template <class T, graph::Activation A, class TeamType>
  static void finish(const TeamType& team, const kernel::Launch& launch, const void* product) {
    using detail::FinishProduct;
    const std::int64_t columns = launch.grid[1];
    const kernel::Grid grid(launch.grid[0], columns);
    const auto matrix = [&](const void* data) { return detail::over_grid(data, columns, 1); };
    const kernel::Operand bias = detail::over_grid(launch.operands[2].data, 0, launch.operands[2].strides[1]);
    const kernel::Operand result = matrix(launch.operands[3].data);
    if (const void* const kept = launch.operands[4].data; kept != nullptr)
      detail::run_code<FinishProduct<T, A, true>>(team, grid, std::array{matrix(product), bias, matrix(kept), result});
    else
      detail::run_code<FinishProduct<T, A, false>>(team, grid, std::array{matrix(product), bias, result});
  }
};

template <> struct KernelOf<&graph::gelu_product_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    const kernel::Operand& argument = launch.operands[2];
    const kernel::Operand& result = launch.operands[3];
    const kernel::Operand& sums = launch.operands[4];
    const std::int64_t columns = launch.grid[1];
    if (launch.grid[0] == 0 || columns == 0) return;
    const bool is_dense = argument.strides[1] == 1 && argument.strides[0] == columns;
    if (is_dense && sums.data != nullptr &&
        run_epilogue_product(team, detail::epilogue_product<T>(launch, nvidia::GemmEpilogue::gelu_gradient_bias, result,
                                                               sums, argument.data)))
      return;
    detail::run_product<T>(team, launch, result.data);
    const kernel::Grid grid(launch.grid[0], columns);
    const kernel::Operand product = detail::over_grid(result.data, columns, 1);
    if (sums.data == nullptr)
      return detail::run_code<detail::GeluGradient<T, false>>(team, grid, std::array{product, argument, product});
    detail::run_code<detail::GeluGradient<T, true>>(
        team, grid, std::array{product, argument, product, detail::over_grid(sums.data, 0, 1)});
  }
};

template <> struct KernelOf<&graph::summing_product_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    const bool is_right = launch.attributes[0] != 0;
    const kernel::Operand& result = launch.operands[2];
    const kernel::Operand& sums = launch.operands[3];
    if (sums.data != nullptr &&
        run_epilogue_product(team, detail::epilogue_product<T>(launch,
                                                               is_right ? nvidia::GemmEpilogue::sum_right
                                                                        : nvidia::GemmEpilogue::sum_left,
                                                               result, sums, nullptr)))
      return;
    detail::run_product<T>(team, launch, result.data);
    if (sums.data == nullptr) return;
    const kernel::Operand& summed = launch.operands[is_right ? 1 : 0];
    const kernel::Grid grid(launch.grid[2], launch.grid[is_right ? 1 : 0]);
    const std::array operands{detail::over_grid(summed.data, summed.strides[2], summed.strides[is_right ? 1 : 0]),
                              detail::over_grid(sums.data, 0, 1)};
    if (operands[0].strides[1] == 1)
      detail::run_code<detail::ColumnSums<T, kernel::Access::contiguous>>(team, grid, operands);
    else
      detail::run_code<detail::ColumnSums<T, kernel::Access::strided>>(team, grid, operands);
  }
};

}}} // namespace twill::v0::TWILL_ISA
