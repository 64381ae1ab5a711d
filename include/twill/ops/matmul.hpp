#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The matrix product: shape rule, gradient, kernel. Operands are (..., m, k) and (..., k, n); leading axes broadcast.
// Transposes reach the kernel as strides, so a transposed operand is never copied. Read next: nn/linear.hpp.

#include <twill/compile/program_type.hpp>
#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/operation.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/kernel/product.hpp>
#include <twill/kernel/product_stack.hpp>
#include <twill/kernel/scratch.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

[[nodiscard]] TWILL_CONSTEXPR Value matmul(Value left, Value right, CallSite site = CallSite::here());

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// The gradients of the factors for that of their product. The gradient of a transposed factor is computed transposed,
/// so that the factor's own gradient has its memory layout.
[[nodiscard]] TWILL_CONSTEXPR Value gradient_of_left(Value left, Value right, Value g) {
  return left.node().kind == Kind::transpose ? transpose(matmul(right, transpose(g))) : matmul(g, transpose(right));
}
[[nodiscard]] TWILL_CONSTEXPR Value gradient_of_right(Value left, Value right, Value g) {
  return right.node().kind == Kind::transpose ? transpose(matmul(transpose(g), left)) : matmul(transpose(left), g);
}

TWILL_CONSTEXPR void matmul_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Value left{graph, graph.node(node).input(0)};
  const Value right{graph, graph.node(node).input(1)};
  const Value g{graph, cotangents[0]};
  if (gradients.wants(0)) gradients.set(0, gradient_of_left(left, right, g));
  if (gradients.wants(1)) gradients.set(1, gradient_of_right(left, right, g));
}

/// Grid: the batch axes, then m, n, k.
TWILL_CONSTEXPR CallPlan matmul_call(const Graph& graph, const Node& node) {
  const Extents& left = graph.node(node.input(0)).shape;
  CallPlan plan{};
  const int batch = node.shape.rank - 2;
  plan.grid = node.shape;
  plan.grid.append(left[left.rank - 1]);
  for (int axis = 0; axis < batch; ++axis)
    for (std::size_t operand = 0; operand < 3; ++operand)
      plan.walks[operand].axis_of[static_cast<std::size_t>(axis)] = static_cast<std::int8_t>(axis);
  const auto m = static_cast<std::size_t>(batch);
  const auto rows = static_cast<std::int8_t>(batch);
  const auto columns = static_cast<std::int8_t>(batch + 1);
  plan.walks[0].axis_of[m] = rows;
  plan.walks[0].axis_of[m + 2] = columns;
  plan.walks[1].axis_of[m + 2] = rows;
  plan.walks[1].axis_of[m + 1] = columns;
  plan.walks[2].axis_of[m] = rows;
  plan.walks[2].axis_of[m + 1] = columns;
  return plan;
}

TWILL_CONSTEXPR Extent matmul_multiply_adds(const Graph& graph, const Node& node) {
  const Extents& left = graph.node(node.input(0)).shape;
  return node.shape.elements() * left[left.rank - 1];
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The matrix product over the last two axes; the axes before them are equal.
inline constexpr Operation matmul_operation{.name = "matmul",
                                            .vjp = &detail::matmul_vjp,
                                            .call = &detail::matmul_call,
                                            .multiply_adds = &detail::matmul_multiply_adds,
                                            .is_product = true,
                                            .batching = Batching::product};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// The product of matrices, or of stacks of equally many.
[[nodiscard]] TWILL_CONSTEXPR Value stacked_product(Value left, Value right) {
  Extents shape = left.shape();
  shape[shape.rank - 1] = right.shape()[right.rank() - 1];
  return add_operation(matmul_operation, {left, right}, left.dtype(), shape);
}

/// The axes before the last two of both operands, broadcast.
[[nodiscard]] TWILL_CONSTEXPR Extents common_batch(Graph& graph, const Extents& left, const Extents& right,
                                                   CallSite site) {
  Extents batch{};
  batch.rank = (left.rank > right.rank ? left.rank : right.rank) - 2;
  for (int axis = 0; axis < batch.rank; ++axis) {
    const int in_left = axis + left.rank - 2 - batch.rank, in_right = axis + right.rank - 2 - batch.rank;
    const Extent a = in_left < 0 ? Extent{} : left[in_left], b = in_right < 0 ? Extent{} : right[in_right];
    if (!a.is_one() && !b.is_one() && !unify(graph, a, b))
      graph.refuse(Problem::matmul_batch_extents_differ, a.factor, b.factor, site);
    batch[axis] = a.is_one() ? b : a;
  }
  return batch;
}

/// Matrices repeated to a stack of this shape.
[[nodiscard]] TWILL_CONSTEXPR Value with_batch(Value x, Extents batch) {
  const Extents shape = x.shape();
  batch.append(shape[shape.rank - 2]);
  batch.append(shape[shape.rank - 1]);
  return broadcast_to(x, batch);
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The matrix product of the last two axes: (..., m, k) times (..., k, n) is (..., m, n); axes before them broadcast. A
/// vector is a row on the left and a column on the right, and its axis disappears.
/// errors: operands without axes, extents or element types that differ
[[nodiscard]] TWILL_CONSTEXPR Value matmul(Value left, Value right, CallSite site) {
  Graph& graph = left.graph();
  left = detail::autocast_to_narrow(left);
  right = detail::autocast_to_narrow(right);
  graph.require_one_slot(left.id(), right.id(), site);
  const int ranks[] = {left.rank(), right.rank()};
  if (ranks[0] == 0 || ranks[1] == 0) {
    graph.refuse(Problem::matmul_needs_at_least_one_dimension, ranks[0], ranks[1], site);
    return left;
  }
  if (left.dtype() != right.dtype())
    graph.refuse(Problem::matmul_dtypes_differ, static_cast<int>(left.dtype()), static_cast<int>(right.dtype()), site);
  if (ranks[0] == 1) left = unsqueeze(left, 0, site);
  if (ranks[1] == 1) right = unsqueeze(right, 1, site);
  const Extent columns = left.shape()[left.rank() - 1];
  const Extent rows = right.shape()[right.rank() - 2];
  if (!unify(graph, columns, rows))
    graph.refuse(Problem::matmul_left_columns_differ_from_right_rows, columns.is_static() ? columns.factor : dyn,
                 rows.is_static() ? rows.factor : dyn, site);
  if (graph.fault.any()) return left;
  Value y{};
  if (left.rank() > 2 && right.rank() == 2) { // one product of all rows
    Extents shape = left.shape();
    y = detail::stacked_product(flatten(left, 0, -2, site), right);
    shape[shape.rank - 1] = right.shape()[1];
    y = reshape(y, shape, site);
  } else {
    const Extents batch = detail::common_batch(graph, left.shape(), right.shape(), site);
    if (graph.fault.any()) return left;
    y = detail::stacked_product(detail::with_batch(left, batch), detail::with_batch(right, batch));
  }
  if (ranks[0] > 1 && ranks[1] > 1) return y;
  Extents shape = y.shape();
  if (ranks[0] == 1) {
    shape[shape.rank - 2] = shape[shape.rank - 1];
    --shape.rank;
  }
  if (ranks[1] == 1) --shape.rank;
  return reshape(y, shape, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

/// The stack of products of a call over (batch, m, n, k) with the factors as first operands, and the result as third.
template <class T> [[nodiscard]] kernel::ProductStack<T> product_stack(const kernel::Launch& launch) {
  const kernel::Grid& grid = launch.grid;
  const kernel::Operand* const operands = launch.operands;
  const auto batch_axes = static_cast<std::size_t>(grid.rank - 3);
  kernel::ProductStack<T> stack{};
  for (std::size_t axis = 0; axis < batch_axes; ++axis) {
    stack.batch[stack.batch.rank++] = grid[static_cast<int>(axis)];
    stack.a.batch[axis] = operands[0].strides[axis];
    stack.b.batch[axis] = operands[1].strides[axis];
    stack.c_batch[axis] = operands[2].strides[axis];
  }
  stack.m = grid[grid.rank - 3];
  stack.n = grid[grid.rank - 2];
  stack.k = grid[grid.rank - 1];
  const auto place = [&](kernel::MatrixStack<T>& matrix, const kernel::Operand& operand, std::size_t rows,
                         std::size_t columns) {
    matrix.data = static_cast<const T*>(operand.data);
    matrix.row_stride = operand.strides[batch_axes + rows];
    matrix.column_stride = operand.strides[batch_axes + columns];
  };
  place(stack.a, operands[0], 0, 2);
  place(stack.b, operands[1], 2, 1);
  stack.c = static_cast<T*>(operands[2].data);
  stack.c_row_stride = stack.n;
  return stack;
}

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <> struct KernelOf<&graph::matmul_operation> {
  template <class T> static void run(const Team& team, const kernel::Launch& launch) {
    const kernel::Grid& grid = launch.grid;
    const kernel::Operand* const operands = launch.operands;
    const int batch_axes = grid.rank - 3;
    const Matrix<T> a = matrix_of<T>(launch, 0, 0, 2);
    const Matrix<T> b = matrix_of<T>(launch, 1, 2, 1);
    const std::int64_t count = stack_of(grid);
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t offsets[3] = {0, 0, 0};
      std::int64_t rest = i;
      for (int axis = batch_axes - 1; axis >= 0; --axis) {
        const std::int64_t index = rest % grid[axis];
        rest /= grid[axis];
        for (int operand = 0; operand < 3; ++operand)
          offsets[operand] += index * operands[operand].strides[static_cast<std::size_t>(axis)];
      }
      product(team, grid[batch_axes], grid[batch_axes + 1], grid[batch_axes + 2],
              Matrix<T>{a.data + offsets[0], a.row_stride, a.column_stride},
              Matrix<T>{b.data + offsets[1], b.row_stride, b.column_stride},
              static_cast<T*>(operands[2].data) + offsets[2]);
    }
  }

  /// On other teams than that of a host device the whole stack is one call, found by the team.
  template <class T, class TeamType>
  requires(!std::same_as<TeamType, Team>) static void run(const TeamType& team, const kernel::Launch& launch) {
    run_products(team, detail::product_stack<T>(launch));
  }

  /// Reserves for the first product of a stack: all need the same.
  template <class T> static void reserve(const Team& team, const kernel::Launch& launch) {
    const kernel::Grid& grid = launch.grid;
    const std::int64_t m = grid[grid.rank - 3];
    const std::int64_t n = grid[grid.rank - 2];
    const std::int64_t k = grid[grid.rank - 1];
    if (stack_of(grid) == 0 || m == 0 || n == 0) return;
    Layout left = layout_of(matrix_of<T>(launch, 0, 0, 2), m, k);
    Layout right = layout_of(matrix_of<T>(launch, 1, 2, 1), k, n);
    kernel::Scratch::reserve<T, kernel::ScratchSlot::packed>((left.is_dense ? 0 : m * k) +
                                                             (right.is_dense ? 0 : k * n));
    if (!left.is_dense) left.leading = std::max<std::int64_t>(k, 1);
    if (!right.is_dense) right.leading = std::max<std::int64_t>(n, 1);
    kernel::reserve_product<T>(team, left.transposed, right.transposed, m, n, k, left.leading, right.leading, n);
  }

  /// Of one product of matrices that no one has to copy.
  template <class T> [[nodiscard]] static kernel::SmallLaunch resolve(const kernel::Launch& launch) {
    const kernel::Grid& grid = launch.grid;
    const std::int64_t m = grid[grid.rank - 3];
    const std::int64_t n = grid[grid.rank - 2];
    const std::int64_t k = grid[grid.rank - 1];
    const Layout left = layout_of(matrix_of<T>(launch, 0, 0, 2), m, k);
    const Layout right = layout_of(matrix_of<T>(launch, 1, 2, 1), k, n);
    if (stack_of(grid) != 1 || !left.is_dense || !right.is_dense) return {};
    return kernel::resolve_product<T>(left.transposed, right.transposed, m, n, k, left.leading, right.leading);
  }

private:
  template <class T> struct Matrix {
    const T* data;
    std::int64_t row_stride;
    std::int64_t column_stride;
  };

  /// The number of products.
  [[nodiscard]] static std::int64_t stack_of(const kernel::Grid& grid) {
    std::int64_t count = 1;
    for (int axis = 0; axis < grid.rank - 3; ++axis) count *= grid[axis];
    return count;
  }

  /// A factor of the first product, with the axes of the grid that are its rows and its columns.
  template <class T>
  [[nodiscard]] static Matrix<T> matrix_of(const kernel::Launch& launch, int operand, int rows, int columns) {
    const kernel::Operand& factor = launch.operands[operand];
    const int batch_axes = launch.grid.rank - 3;
    return {static_cast<const T*>(factor.data), factor.strides[static_cast<std::size_t>(batch_axes + rows)],
            factor.strides[static_cast<std::size_t>(batch_axes + columns)]};
  }

  /// Layout of a matrix: row-major or, transposed, column-major, with the distance of two rows or columns.
  struct Layout {
    bool is_dense = false;
    bool transposed = false;
    std::int64_t leading = 0;
  };

  template <class T>
  [[nodiscard]] static Layout layout_of(const Matrix<T>& matrix, std::int64_t rows, std::int64_t columns) {
    const auto leading = [](std::int64_t major, std::int64_t minor_extent) {
      return std::max<std::int64_t>(major, std::max<std::int64_t>(minor_extent, 1));
    };
    if ((matrix.column_stride == 1 || columns == 1) && (matrix.row_stride >= columns || rows == 1))
      return {true, false, leading(matrix.row_stride, columns)};
    if ((matrix.row_stride == 1 || rows == 1) && (matrix.column_stride >= rows || columns == 1))
      return {true, true, leading(matrix.column_stride, rows)};
    return {};
  }

  template <class T>
  static void product(const Team& team, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix<T>& a,
                      const Matrix<T>& b, T* c) {
    if (m == 0 || n == 0) return;
    const Layout left = layout_of(a, m, k);
    const Layout right = layout_of(b, k, n);
    if (left.is_dense && right.is_dense) [[likely]]
      kernel::product<T>(team, left.transposed, right.transposed, m, n, k, 1, a.data, left.leading, b.data,
                         right.leading, 0, c, n);
    else
      packed_product(team, m, n, k, a, b, c);
  }

  /// Copies a matrix of any other layout.
  template <class T>
  [[gnu::noinline]] static void packed_product(const Team& team, std::int64_t m, std::int64_t n, std::int64_t k,
                                               Matrix<T> a, Matrix<T> b, T* c) {
    const bool packs_a = !layout_of(a, m, k).is_dense;
    const bool packs_b = !layout_of(b, k, n).is_dense;
    const std::int64_t count = (packs_a ? m * k : 0) + (packs_b ? k * n : 0);
    T* room = kernel::Scratch::of_thread<T, kernel::ScratchSlot::packed>(count);
    const auto pack = [&](Matrix<T>& matrix, std::int64_t rows, std::int64_t columns) {
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
          room[i * columns + j] = matrix.data[i * matrix.row_stride + j * matrix.column_stride];
      matrix = {room, columns, 1};
      room += rows * columns;
    };
    if (packs_a) pack(a, m, k);
    if (packs_b) pack(b, k, n);
    product(team, m, n, k, a, b, c);
  }
};

}}} // namespace twill::v0::TWILL_ISA

#if !TWILL_HEADER_ONLY
namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {
TWILL_INSTANCE template void run_operation<&graph::matmul_operation, float>(const Team&, const kernel::Launch&);
TWILL_INSTANCE template void run_operation<&graph::matmul_operation, double>(const Team&, const kernel::Launch&);
TWILL_INSTANCE template void run_operation<&graph::matmul_operation, half>(const Team&, const kernel::Launch&);
TWILL_INSTANCE template void run_operation<&graph::matmul_operation, bfloat16>(const Team&, const kernel::Launch&);
}}}}} // namespace twill::v0::compile::detail::TWILL_ISA
#endif
