#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices in models: a CSR matrix whose row offsets, column indices and values are traced values, and its
// products with dense ones. The three operations give each other's gradients: A x, A^T x, and the elements of a dense
// product at A's non-zeros, so derivatives of any order follow, by the values and by the dense operands. Read next:
// sparse/products.hpp.

#include <twill/compile/program_type.hpp>
#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/operation.hpp>
#include <twill/graph/shape_functions.hpp>
#include <twill/sparse/products.hpp>
#include <twill/sparse/structure.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace twill { inline namespace v0 { namespace sparse { inline namespace TWILL_ISA {

using graph::Extent;
using graph::Extents;
using graph::Graph;
using graph::Problem;
using graph::Value;

/// A CSR matrix in a model. `csr` makes one.
struct CsrValue {
  Value row_offsets{};    ///< (rows + 1): where the entries of each row begin and end
  Value column_indices{}; ///< (entries)
  Value values{};         ///< (entries), float32 or float64
  Extent rows{};          ///< of the matrix
  Extent columns{};       ///< of the matrix

  /// The graph that it belongs to.
  [[nodiscard]] constexpr Graph& graph() const { return values.graph(); }
};

}}}} // namespace twill::v0::sparse::TWILL_ISA

namespace twill { inline namespace v0 { namespace sparse { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void matmul_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                                graph::InputGradients& gradients);
TWILL_CONSTEXPR void transposed_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                                    graph::InputGradients& gradients);
TWILL_CONSTEXPR void sampled_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                                 graph::InputGradients& gradients);

/// Entries times the width of the dense operand, the last one.
TWILL_CONSTEXPR Extent multiply_adds(const Graph& graph, const graph::Node& node) {
  const Extents dense = graph.node(node.input(3)).shape;
  return graph.node(node.input(1)).shape.elements() * dense[dense.rank - 1];
}

// Operands: row offsets (..., rows + 1), column indices (..., entries), values (..., entries), x (..., rows, width).

inline constexpr graph::Operation matmul_operation{.name = "sparse_matmul",
                                                   .vjp = &matmul_vjp,
                                                   .wants_dense = true,
                                                   .multiply_adds = &multiply_adds,
                                                   .batching = graph::Batching::stack};
inline constexpr graph::Operation transposed_operation{.name = "sparse_transposed_matmul",
                                                       .vjp = &transposed_vjp,
                                                       .wants_dense = true,
                                                       .multiply_adds = &multiply_adds,
                                                       .batching = graph::Batching::stack};
/// Operands: row offsets, column indices, x (..., rows, width), y (..., columns, width).
inline constexpr graph::Operation sampled_operation{.name = "sparse_sampled_matmul",
                                                    .vjp = &sampled_vjp,
                                                    .wants_dense = true,
                                                    .multiply_adds = &multiply_adds,
                                                    .batching = graph::Batching::stack};

/// The rows of a dense operand, and its shape with other rows. Under `vmap` examples come first.
[[nodiscard]] TWILL_CONSTEXPR Extent rows_of(Value x) { return x.shape()[x.rank() - 2]; }
[[nodiscard]] TWILL_CONSTEXPR Extents with_rows(Extents shape, Extent rows) {
  shape[shape.rank - 2] = rows;
  return shape;
}

[[nodiscard]] TWILL_CONSTEXPR Value multiplied(Value offsets, Value indices, Value values, Value x, Extent rows) {
  return add_operation(matmul_operation, {offsets, indices, values, x}, x.dtype(), with_rows(x.shape(), rows));
}
[[nodiscard]] TWILL_CONSTEXPR Value multiplied_transposed(Value offsets, Value indices, Value values, Value x,
                                                          Extent columns) {
  return add_operation(transposed_operation, {offsets, indices, values, x}, x.dtype(), with_rows(x.shape(), columns));
}
[[nodiscard]] TWILL_CONSTEXPR Value multiplied_sampled(Value offsets, Value indices, Value x, Value y) {
  return add_operation(sampled_operation, {offsets, indices, x, y}, x.dtype(), indices.shape());
}

/// y = A x: dA = the elements of dy x^T at A's non-zeros, dx = A^T dy.
TWILL_CONSTEXPR void matmul_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                                graph::InputGradients& gradients) {
  const graph::Node self = graph.node(node);
  const Value offsets{graph, self.input(0)};
  const Value indices{graph, self.input(1)};
  const Value x{graph, self.input(3)};
  const Value g{graph, cotangents[0]};
  if (gradients.wants(2)) gradients.set(2, multiplied_sampled(offsets, indices, g, x));
  if (gradients.wants(3))
    gradients.set(3, multiplied_transposed(offsets, indices, {graph, self.input(2)}, g, rows_of(x)));
}

/// y = A^T x: dA = the elements of x dy^T at A's non-zeros, dx = A dy.
TWILL_CONSTEXPR void transposed_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                                    graph::InputGradients& gradients) {
  const graph::Node self = graph.node(node);
  const Value offsets{graph, self.input(0)};
  const Value indices{graph, self.input(1)};
  const Value x{graph, self.input(3)};
  const Value g{graph, cotangents[0]};
  if (gradients.wants(2)) gradients.set(2, multiplied_sampled(offsets, indices, x, g));
  if (gradients.wants(3)) gradients.set(3, multiplied(offsets, indices, {graph, self.input(2)}, g, rows_of(x)));
}

/// s = the elements of x y^T at A's non-zeros: with those of ds in their places, dx = dS y and dy = dS^T x.
TWILL_CONSTEXPR void sampled_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                                 graph::InputGradients& gradients) {
  const graph::Node self = graph.node(node);
  const Value offsets{graph, self.input(0)};
  const Value indices{graph, self.input(1)};
  const Value x{graph, self.input(2)};
  const Value y{graph, self.input(3)};
  const Value g{graph, cotangents[0]};
  if (gradients.wants(2)) gradients.set(2, multiplied(offsets, indices, g, y, rows_of(x)));
  if (gradients.wants(3)) gradients.set(3, multiplied_transposed(offsets, indices, g, x, rows_of(y)));
}

/// Refuses a vector of another length.
TWILL_CONSTEXPR void require_length(Graph& graph, Value vector, Extent length, CallSite site) {
  if (vector.rank() != 1) return graph.refuse(Problem::index_has_another_rank, vector.rank(), 1, site);
  if (!unify(graph, vector.shape()[0], length))
    graph.refuse(Problem::index_has_another_extent, vector.shape()[0].factor, length.factor, site);
}

/// An index as int64, refused where it is none.
[[nodiscard]] TWILL_CONSTEXPR Value integers(Value index, CallSite site) {
  if (is_floating(index.dtype()) || index.dtype() == DType::boolean)
    index.graph().refuse(Problem::indices_are_not_integers, static_cast<int>(index.dtype()), 0, site);
  return cast(index, DType::int64);
}

/// The type in which a product of two types is computed: float32 or float64.
[[nodiscard]] TWILL_CONSTEXPR DType computed_type(DType a, DType b) {
  return floating_type(promote(a, b)) == DType::float64 ? DType::float64 : DType::float32;
}

/// The matrix and a dense operand in one type, the operand as a matrix with this number of rows.
struct Operands {
  CsrValue a{};
  Value x{};
  DType result = DType::float32; ///< the type of the product
  bool is_vector = false;
};
[[nodiscard]] TWILL_CONSTEXPR Operands fitting(const CsrValue& a, Value x, Extent rows, CallSite site) {
  Graph& graph = a.graph();
  Operands operands{a, x, floating_type(promote(a.values.dtype(), x.dtype())), x.rank() == 1};
  if (x.rank() != 1 && x.rank() != 2) {
    graph.refuse(Problem::matrix_needs_two_axes, x.rank(), 2, site);
    return operands;
  }
  if (!unify(graph, rows, x.shape()[0]))
    graph.refuse(Problem::matmul_left_columns_differ_from_right_rows, rows.factor, x.shape()[0].factor, site);
  if (operands.is_vector) x = unsqueeze(x, -1, site);
  const DType dtype = computed_type(a.values.dtype(), x.dtype());
  operands.a.values = cast(a.values, dtype);
  operands.x = cast(x, dtype);
  return operands;
}

/// A product in the type and of the rank that its operands say.
[[nodiscard]] TWILL_CONSTEXPR Value finished(Value y, const Operands& operands, CallSite site) {
  y = cast(y, operands.result);
  return operands.is_vector ? squeeze(y, -1, site) : y;
}

/// Ones, as a vector.
[[nodiscard]] TWILL_CONSTEXPR Value ones(const CsrValue& a, Extent length) {
  return broadcast_to(constant(a.graph(), a.values.dtype(), 1), {length});
}

}}}}} // namespace twill::v0::sparse::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace sparse { inline namespace TWILL_ISA {

/// A matrix of a model from row offsets (rows + 1), column indices (entries) and values (entries). Columns of a row may
/// come in any order; entries of one place are added up. Indices may have any integer type, best int64.
/// errors: extents that differ, no integers    throws: in a run, ShapeError for offsets that are not rows + 1,
/// ValueError for offsets that do not ascend, IndexError for a column of an input outside of the matrix
[[nodiscard]] TWILL_CONSTEXPR CsrValue csr(Value row_offsets, Value column_indices, Value values, Extent rows,
                                           Extent columns, CallSite site = CallSite::here()) {
  Graph& graph = values.graph();
  CsrValue a{row_offsets, column_indices, values, rows, columns};
  if (row_offsets.rank() != 1) graph.refuse(Problem::index_has_another_rank, row_offsets.rank(), 1, site);
  if (column_indices.rank() != 1) graph.refuse(Problem::index_has_another_rank, column_indices.rank(), 1, site);
  if (graph.fault.any()) return a;
  detail::require_length(graph, values, column_indices.shape()[0], site);
  if (rows.is_static()) detail::require_length(graph, row_offsets, {rows.factor + 1, 0}, site);
  a.row_offsets = detail::integers(row_offsets, site);
  a.column_indices = detail::integers(column_indices, site);
  if (!is_floating(values.dtype())) a.values = cast(values, floating_type(values.dtype()));
  graph.require_within(column_indices.id(), {.what = "a column index", .end = columns});
  return a;
}

/// The matrix with other values at the same places.
[[nodiscard]] TWILL_CONSTEXPR CsrValue with_values(CsrValue a, Value values, CallSite site = CallSite::here()) {
  detail::require_length(a.graph(), values, a.column_indices.shape()[0], site);
  a.values = cast(values, floating_type(values.dtype()));
  return a;
}

/// A x for x (columns, width), or a vector: `torch.sparse.mm`. 16-bit floats are computed in float32.
[[nodiscard]] TWILL_CONSTEXPR Value matmul(const CsrValue& a, Value x, CallSite site = CallSite::here()) {
  const detail::Operands fitting = detail::fitting(a, x, a.columns, site);
  if (a.graph().fault.any()) return x;
  return detail::finished(
      detail::multiplied(fitting.a.row_offsets, fitting.a.column_indices, fitting.a.values, fitting.x, a.rows), fitting,
      site);
}

/// A^T x for x (rows, width), or a vector, without the transposed matrix.
[[nodiscard]] TWILL_CONSTEXPR Value transposed_matmul(const CsrValue& a, Value x, CallSite site = CallSite::here()) {
  const detail::Operands fitting = detail::fitting(a, x, a.rows, site);
  if (a.graph().fault.any()) return x;
  return detail::finished(detail::multiplied_transposed(fitting.a.row_offsets, fitting.a.column_indices,
                                                        fitting.a.values, fitting.x, a.columns),
                          fitting, site);
}

/// The elements of x y at the non-zeros, (entries), for x (rows, width) and y (width, columns). No value of A is read.
/// `torch.sparse.sampled_addmm` with beta = 0.
[[nodiscard]] TWILL_CONSTEXPR Value sampled_matmul(const CsrValue& a, Value x, Value y,
                                                   CallSite site = CallSite::here()) {
  Graph& graph = a.graph();
  if (x.rank() != 2) graph.refuse(Problem::matrix_needs_two_axes, x.rank(), 2, site);
  if (y.rank() != 2) graph.refuse(Problem::matrix_needs_two_axes, y.rank(), 2, site);
  if (graph.fault.any()) return a.values;
  const auto require = [&](Extent left, Extent right) {
    if (!unify(graph, left, right))
      graph.refuse(Problem::matmul_left_columns_differ_from_right_rows, left.factor, right.factor, site);
  };
  require(x.shape()[1], y.shape()[0]);
  require(a.rows, x.shape()[0]);
  require(a.columns, y.shape()[1]);
  if (graph.fault.any()) return a.values;
  const DType dtype = detail::computed_type(x.dtype(), y.dtype());
  const Value s =
      detail::multiplied_sampled(a.row_offsets, a.column_indices, cast(x, dtype), cast(transpose(y), dtype));
  return cast(s, floating_type(promote(x.dtype(), y.dtype())));
}

/// Sums along an axis of the matrix: `sum<1>(a)` is one number for each row, as a vector.
template <int Axis> [[nodiscard]] constexpr Value sum(const CsrValue& a, CallSite site = CallSite::here()) {
  static_assert(Axis >= -2 && Axis < 2, "twill: sparse: sum: a matrix has axes 0 and 1");
  return (Axis + 2) % 2 == 1 ? matmul(a, detail::ones(a, a.columns), site)
                             : transposed_matmul(a, detail::ones(a, a.rows), site);
}

/// The matrix with row r times s[r].
[[nodiscard]] TWILL_CONSTEXPR CsrValue scale_rows(const CsrValue& a, Value s, CallSite site = CallSite::here()) {
  detail::require_length(a.graph(), s, a.rows, site);
  if (a.graph().fault.any()) return a;
  const Value of_entries = sampled_matmul(a, unsqueeze(s, 1), unsqueeze(detail::ones(a, a.columns), 0), site);
  return with_values(a, a.values * of_entries, site);
}

/// The matrix with column c times s[c].
[[nodiscard]] TWILL_CONSTEXPR CsrValue scale_columns(const CsrValue& a, Value s, CallSite site = CallSite::here()) {
  detail::require_length(a.graph(), s, a.columns, site);
  if (a.graph().fault.any()) return a;
  const Value of_entries = sampled_matmul(a, unsqueeze(detail::ones(a, a.rows), 1), unsqueeze(s, 0), site);
  return with_values(a, a.values * of_entries, site);
}

}}}} // namespace twill::v0::sparse::TWILL_ISA

namespace twill { inline namespace v0 { namespace sparse { namespace detail { inline namespace TWILL_ISA {

/// The structure of a launch; its arrays are not read. throws: ShapeError for a number of offsets that is not rows + 1
[[nodiscard]] Structure described_structure(std::string_view where, const kernel::Launch& launch, std::int64_t rows,
                                            std::int64_t columns);
/// The structure of a launch on a host. throws: ShapeError, ValueError for offsets that belong to no such matrix
[[nodiscard]] Structure launched_structure(std::string_view where, const kernel::Launch& launch, std::int64_t rows,
                                           std::int64_t columns);
/// The structure of a launch on a team: on a GPU as a model computed it.
template <class TeamType>
[[nodiscard]] auto structure_on(const TeamType&, std::string_view where, const kernel::Launch& launch,
                                std::int64_t rows, std::int64_t columns) {
  static_assert(has_products<TeamType>,
                "twill: sparse: on CUDA devices products are cuSPARSE's; include <twill/sparse/cuda/products.cuh> in a "
                "program that is configured with cuSPARSE, or run the model on a host device");
  if constexpr (std::is_same_v<TeamType, Team>)
    return launched_structure(where, launch, rows, columns);
  else
    return ComputedStructure{described_structure(where, launch, rows, columns)};
}

/// The last extents of an operand of a launch.
[[nodiscard]] inline std::int64_t rows_of(const Dims& shape) { return shape[shape.rank - 2]; }
[[nodiscard]] inline std::int64_t columns_of(const Dims& shape) { return shape[shape.rank - 1]; }

template <class T> [[nodiscard]] const T* input(const kernel::Launch& launch, int k) {
  return static_cast<const T*>(launch.operands[k].data);
}

}}}}} // namespace twill::v0::sparse::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <> struct KernelOf<&sparse::detail::matmul_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    using namespace sparse::detail;
    using sparse::multiply; // and the overloads for GPUs
    const auto a = structure_on(team, "sparse matmul", launch, rows_of(launch.shapes[4]), rows_of(launch.shapes[3]));
    multiply(team, a, input<T>(launch, 2), input<T>(launch, 3), columns_of(launch.shapes[3]),
             static_cast<T*>(launch.operands[4].data));
  }
};

template <> struct KernelOf<&sparse::detail::transposed_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    using namespace sparse::detail;
    using sparse::multiply_transposed;
    const auto a =
        structure_on(team, "sparse transposed_matmul", launch, rows_of(launch.shapes[3]), rows_of(launch.shapes[4]));
    multiply_transposed(team, a, input<T>(launch, 2), input<T>(launch, 3), columns_of(launch.shapes[3]),
                        static_cast<T*>(launch.operands[4].data));
  }
};

template <> struct KernelOf<&sparse::detail::sampled_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    using namespace sparse::detail;
    using sparse::multiply_sampled;
    const auto a =
        structure_on(team, "sparse sampled_matmul", launch, rows_of(launch.shapes[2]), rows_of(launch.shapes[3]));
    multiply_sampled(team, a, input<T>(launch, 2), input<T>(launch, 3), columns_of(launch.shapes[2]),
                     static_cast<T*>(launch.operands[4].data));
  }
};

}}} // namespace twill::v0::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/sparse/csr_value.ipp>
#endif
