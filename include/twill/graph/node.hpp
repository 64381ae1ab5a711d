#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Nodes of a traced graph: plain values in topological order; an input is the number of an earlier node. Gradients,
// optimiser updates and recomputation are nodes like any other. Reductions keep their axes (extent one) and
// broadcasting is a node of its own, so every primitive sees operands of one shape. Read next: graph/graph.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/graph/extent.hpp>
#include <twill/kernel/primitive.hpp>
#include <twill/kernel/rank_group.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace graph {

using kernel::Primitive;
using kernel::Reduction;

/// The kind of a node: where its value comes from.
enum class Kind : std::uint8_t {
  input,         ///< a tensor given by the caller; `index` counts them
  parameter,     ///< a weight of the model, or an optimiser's state; `index` into the graph's list
  constant,      ///< `value / over`, a scalar
  run_scalar,    ///< a scalar that changes between runs; `index` into the graph's list
  iota,          ///< the row-major position of each element of its shape, int64
  primitive,     ///< elementwise
  cast,          ///< elementwise conversion to `dtype`
  reduce,        ///< over `axis`, which becomes one
  broadcast,     ///< to `shape`, aligned at the right
  reshape,       ///< the same elements in row-major order
  transpose,     ///< axis d of the result is axis `permutation[d]` of the operand
  stop_gradient, ///< the operand, through which no gradient flows
  rule,          ///< input 0, with the gradients of all inputs that `operation->vjp` gives
  operation, ///< an operation with a kernel of its own, see `Operation`; `index`: its attributes in the graph's list
  result,    ///< a further result of the operation that is its input; `index` counts them from one
  assign,    ///< writes input 1 into the parameter that is input 0
  after,     ///< input 0, but not before input 1, if there is one, is known
  carry,     ///< a value passed from step to step: input 0 at first; `index` into the graph's list of carries
  slice,     ///< the element of input 0, along its first axis, that belongs to a step of loop `index`
  stack,     ///< input 0 of every step of loop `index`, along a new first axis
  close,     ///< ends a step: the carry that is input 0 becomes input 1; `axis` is 1 where it may read only memory
  leave,     ///< the carry that is input 0 after the last step; input 1 is its `close`
};

inline constexpr int max_inputs = 8;  ///< of a node
inline constexpr int max_results = 4; ///< of an operation

class Graph;
struct Node;

/// The walk of an operation's kernel through one array: grid dimension d moves along axis `axis_of[d]`, -1 for none.
struct Walk {
  Few<std::int8_t, max_rank> axis_of{-1, -1, -1, -1, -1, -1, -1, -1}; ///< for each dimension of the grid
};

/// How an operation's kernel is called: its grid, and for each input, then each result, how it is walked through.
struct CallPlan {
  Extents grid{};                                     ///< over which the kernel runs
  std::array<Walk, max_inputs + max_results> walks{}; ///< of the inputs, then of the results
};

/// For each result of an operation the node that carries its gradient, -1 where none reaches it.
using Cotangents = Few<int, max_results>;

/// The gradients of a node's inputs; `wanted` says which are asked for, an id of -1 means zero.
struct InputGradients {
  Few<bool, max_inputs> wanted{};                           ///< by input
  Few<int, max_inputs> ids{-1, -1, -1, -1, -1, -1, -1, -1}; ///< of nodes, by input

  /// Sets the gradient of an input.
  constexpr void set(int position, const auto& gradient) { ids.items[position] = gradient.id(); }
  /// Whether the gradient of an input is asked for.
  [[nodiscard]] constexpr bool wants(int position) const { return wanted.items[position]; }
};

/// A call of an operation with numbers for its extents, for questions before it runs.
struct SizedCall {
  DType dtype = DType::float32;             ///< for which the kernel is compiled
  const Dims* shapes = nullptr;             ///< of the inputs, then of the results
  const std::int64_t* attributes = nullptr; ///< the integers that the operation was traced with
  unsigned there = 0;                       ///< a bit for each operand; a further result that is not read is not there

  /// Whether an operand is there.
  [[nodiscard]] constexpr bool has(int operand) const { return (there >> operand & 1U) != 0; }
};

/// The batching rule of an operation: how one call computes the calls of many examples, see graph/batching_rules.hpp.
enum class Batching : std::uint8_t {
  none,        ///< it has no rule: `vmap` refuses it
  stack,       ///< leading axes count independent calls
  first_axis,  ///< the first axis of all operands and results counts independent calls
  look_up,     ///< so it does, and an index of places, the second operand, may be of many tables or of one
  product,     ///< a product of stacks of matrices
  convolution, ///< images and weights give outputs
  convolution_input_gradient,  ///< outputs and weights give images
  convolution_weight_gradient, ///< images and outputs give weights
  by_formula,                  ///< of a `rule`: the nodes that compute the value have the right gradients as well
};

/// An operation that brings its own kernel. Instances are constexpr objects; their kernel is `KernelOf<&instance>`.
struct Operation {
  std::string_view name; ///< as messages and tables call it
  /// Emits the gradients of `node`'s inputs for those of its results. Null: not differentiable.
  void (*vjp)(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) = nullptr;
  /// Null: the kernel sees whole arrays, and the strides of its operands belong to their own axes.
  CallPlan (*call)(const Graph& graph, const Node& node) = nullptr;
  int results = 1;            ///< how many values it has, at most `max_results`
  int typed_by = -1;          ///< the input whose element type the kernel is compiled for; -1: that of result 0
  bool wants_dense = false;   ///< operands are brought into row-major order first
  bool channels_last = false; ///< a result that is an image is channels-last, see compile/passes/channels_last.hpp
  /// The number of multiplications and additions, in pairs.
  Extent (*multiply_adds)(const Graph& graph, const Node& node) = nullptr;
  /// Other than none: no kernel, but a call of a group of ranks, with the attributes of ops/collective.hpp.
  kernel::Collective collective = kernel::Collective::none;
  bool moves = false; ///< no kernel, but a copy of its one operand into the memory of another slot, see ops/move.hpp
  bool is_product =
      false; ///< the product of two matrices, or stacks of them, over a grid of rows, columns and inner axis
  Batching batching = Batching::none; ///< how `vmap` computes it for many examples
  int shared_operand = -1; ///< of `first_axis`: the input that may have one element there, for all calls; -1: none
  /// The most bytes that its kernel has of a GPU's pool at a time, as the pool counts them. Null: none.
  std::int64_t (*working_bytes)(const SizedCall& call) = nullptr;
};

/// Whether both are the same operation. Names first: under a sanitizer, g++ does not compare the addresses of two
/// variables at compile time.
[[nodiscard]] constexpr bool is_same(const Operation& a, const Operation& b) { return a.name == b.name && &a == &b; }

/// The index of a reduction whose bits do not depend on the kernel that computes it, see compile/in_one_order.hpp.
inline constexpr int in_order = 1;

/// One value of a graph: an operation, its operands, and the shape and type of what it gives.
struct Node {
  Kind kind = Kind::constant;               ///< what it is
  DType dtype = DType::float32;             ///< of its elements
  Primitive primitive = Primitive::add;     ///< where it is elementwise
  Reduction reduction = Reduction::sum;     ///< where it is a reduction
  std::uint8_t arity = 0;                   ///< how many of `inputs` count
  std::int8_t axis = 0;                     ///< that a reduction or an iota goes along
  std::int8_t slot = 0;                     ///< of the device that computes it, see graph/slots.hpp
  Few<std::int8_t, max_rank> permutation{}; ///< which axis of the operand each axis is, where it is a view
  Few<int, max_inputs> inputs{-1, -1, -1, -1, -1, -1, -1, -1}; ///< ids of operands
  int index = 0;    ///< of an input, parameter, run_scalar, result or list of attributes; of a reduction: `in_order`
  int scope = 0;    ///< in which scope it was traced, from 1; negative: for the gradient of what was traced there
  int region = 0;   ///< the part of the function, see graph/checkpoint.hpp, whose kernels the node is computed in
  double value = 0; ///< of a constant, or the number an operation takes
  Extent over{};    ///< the extent that a constant is divided by
  Extents shape{};  ///< of the value
  const Operation* operation = nullptr; ///< where it brings its own kernel

  /// The id of an operand.
  [[nodiscard]] constexpr int input(int position) const { return inputs.items[position]; }
};

/// True where two nodes of this kind with equal fields and inputs compute the same.
[[nodiscard]] TWILL_CONSTEXPR bool is_pure(Kind kind) {
  return kind != Kind::input && kind != Kind::parameter && kind != Kind::assign && kind != Kind::close;
}

/// Whether it is computed element by element by a fused kernel.
[[nodiscard]] constexpr bool is_elementwise(Kind kind) { return kind == Kind::primitive || kind == Kind::cast; }

/// The kinds of views, a bit each: passes that walk through many views test it without a call.
inline constexpr unsigned view_kinds =
    1u << static_cast<int>(Kind::broadcast) | 1u << static_cast<int>(Kind::reshape) |
    1u << static_cast<int>(Kind::transpose) | 1u << static_cast<int>(Kind::stop_gradient) |
    1u << static_cast<int>(Kind::rule) | 1u << static_cast<int>(Kind::after) | 1u << static_cast<int>(Kind::slice);

/// A node that only looks at its operand's memory in another way.
[[nodiscard]] constexpr bool is_view(Kind kind) { return (view_kinds >> static_cast<int>(kind) & 1u) != 0; }

/// A member of a fused program that only copies one of its inputs: into its own memory, or into that of a carry.
[[nodiscard]] TWILL_CONSTEXPR bool is_copy(Kind kind) {
  return kind == Kind::assign || kind == Kind::carry || kind == Kind::stack || kind == Kind::close ||
         kind == Kind::leave;
}

/// The input that such a node copies.
[[nodiscard]] constexpr int copied_input(Kind kind) { return kind == Kind::assign || kind == Kind::close ? 1 : 0; }

}}} // namespace twill::v0::graph
