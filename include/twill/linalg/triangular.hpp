#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Triangular systems, which read one triangle of a matrix, and the right sides of all solvers. Read next:
// linalg/lu.hpp, linalg/cholesky.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/matrix_values.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/ops/triangles.hpp>

#include <algorithm>
#include <cstdint>

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// The triangle of a matrix that a function reads.
enum class UpLo : bool { lower, upper };

/// Whether the diagonal is read, or ones are taken for it.
enum class Diagonal : bool { stored, ones };

}}}} // namespace twill::v0::linalg::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

/// The right sides as stacks of matrices that fit the stack of `a`, whose leading axes broadcast with theirs.
template <MatrixValue V> struct Sides {
  V a{};
  V b{};
};

template <MatrixValue V> [[nodiscard]] constexpr Sides<V> fitting_sides(const V& a, V b, CallSite site) {
  Graph& graph = a.graph();
  if (b.rank() == 1) b = each_part(b, [](Value part) { return as_column(part); });
  b = checked_matrix(b, site);
  if (graph.fault.any()) return {a, b};
  const DType dtype = promote(part_type(a), part_type(b));
  const Extent rows = rows_of(b.shape());
  if (!unify(graph, rows_of(a.shape()), rows))
    graph.refuse(Problem::solve_sides_have_other_rows_than_the_matrix, rows_of(a.shape()).factor, rows.factor, site);
  const Extents stack = broadcast_shape(graph, stack_of(a.shape()), stack_of(b.shape()), site);
  if (graph.fault.any()) return {a, b};
  const auto stacked = [&](Value x) {
    Extents shape = stack;
    shape.append(rows_of(x.shape()));
    shape.append(columns_of(x.shape()));
    return broadcast_to(cast(x, dtype), shape);
  };
  return {each_part(a, stacked), each_part(b, stacked)};
}

/// A triangular system: the triangle that is read, and whether the matrix is taken transposed.
struct Triangular {
  UpLo triangle = UpLo::lower;
  Diagonal diagonal = Diagonal::stored;
  bool transposed = false;
};

template <MatrixValue V>
constexpr void triangular_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                              graph::InputGradients& gradients);
inline constexpr graph::Operation triangular_operation{.name = "solve_triangular",
                                                       .vjp = &triangular_vjp<Value>,
                                                       .wants_dense = true,
                                                       .batching = graph::Batching::stack,
                                                       .working_bytes = &triangular_bytes};
inline constexpr graph::Operation complex_triangular_operation{.name = "complex_solve_triangular",
                                                               .vjp = &triangular_vjp<ComplexValue>,
                                                               .wants_dense = true,
                                                               .batching = graph::Batching::stack};

template <MatrixValue V>
[[nodiscard]] constexpr V solve_with_triangle(const V& a, const V& b, const Triangular& system) {
  return value_of<V>(
      add_operation(operation_of<V, triangular_operation, complex_triangular_operation>(), {stored(a), stored(b)},
                    part_type(b), stored_shape<V>(b.shape()),
                    {system.triangle == UpLo::upper, system.diagonal == Diagonal::ones, system.transposed}));
}
/// X with A^H X = B, or A X = B where the system is one of transposed matrices.
template <MatrixValue V> [[nodiscard]] constexpr V solve_with_adjoint(const V& a, const V& b, Triangular system = {}) {
  system.transposed = !system.transposed;
  return conjugate(solve_with_triangle(a, conjugate(b), system));
}

/// A solution without its last axis where the right side was one vector.
template <MatrixValue V> [[nodiscard]] constexpr V as_given(const V& x, bool is_vector, CallSite site) {
  return is_vector ? each_part(x, [&](Value part) { return squeeze(part, -1, site); }) : x;
}

template <MatrixValue V>
[[nodiscard]] constexpr V solved_with_triangle(V a, const V& b, const Triangular& system, CallSite site) {
  a = checked_square(a, site);
  if (a.graph().fault.any()) return b;
  const Sides<V> sides = fitting_sides(a, b, site);
  if (a.graph().fault.any()) return b;
  return as_given(solve_with_triangle(sides.a, sides.b, system), b.rank() == 1, site);
}

/// The gradients of `solve`, those of A in its triangle alone.
template <MatrixValue V>
constexpr void triangular_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                              graph::InputGradients& gradients) {
  const graph::Node call = graph.node(node);
  const V a = value_of<V>({graph, call.input(0)});
  const V x = value_of<V>({graph, node});
  const Triangular system{.triangle = graph.attribute(call, 0) != 0 ? UpLo::upper : UpLo::lower,
                          .diagonal = graph.attribute(call, 1) != 0 ? Diagonal::ones : Diagonal::stored,
                          .transposed = graph.attribute(call, 2) != 0};
  const V g = solve_with_adjoint(a, cotangent_of<V>(graph, cotangents, 0), system);
  if (gradients.wants(0)) {
    const V whole = system.transposed ? -conjugate(matmul(x, adjoint(g))) : -matmul(g, adjoint(x));
    const std::int64_t offset = system.diagonal == Diagonal::ones ? 1 : 0;
    gradients.set(0, stored(system.triangle == UpLo::upper ? upper_part(whole, offset) : lower_part(whole, -offset)));
  }
  if (gradients.wants(1)) gradients.set(1, stored(g));
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// X with A X = B for a triangular A (..., n, n), of which one triangle is read, and B (..., n, k), or (n) for one
/// vector. Leading axes broadcast. A zero on the diagonal gives infinities, as in PyTorch.
template <UpLo Triangle = UpLo::lower, Diagonal D = Diagonal::stored>
[[nodiscard]] constexpr Value solve_triangular(Value a, Value b, CallSite site = CallSite::here()) {
  return detail::solved_with_triangle(a, b, {Triangle, D}, site);
}

}}}} // namespace twill::v0::linalg::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <>
struct KernelOf<&linalg::detail::triangular_operation>
    : linalg::detail::QueueKernel<&linalg::detail::triangular_operation> {
  using ForQueues::run;

  template <class T> static void run(const Team& team, const kernel::Launch& launch) {
    const linalg::detail::Stack stack = linalg::detail::matrices_of(launch.shapes[1]);
    const std::int64_t n = stack.rows;
    const std::int64_t k = stack.columns;
    const auto* matrices = static_cast<const T*>(launch.operands[0].data);
    const auto* from = static_cast<const T*>(launch.operands[1].data);
    auto* to = static_cast<T*>(launch.operands[2].data);
    // To LAPACK matrices are transposed: X^T op(A)^T = B^T.
    const auto triangle = launch.attributes[0] != 0 ? linalg::detail::Triangle::lower : linalg::detail::Triangle::upper;
    const auto unit = launch.attributes[1] != 0 ? linalg::detail::UnitDiagonal::yes : linalg::detail::UnitDiagonal::no;
    const auto transposed =
        launch.attributes[2] != 0 ? linalg::detail::Transposed::yes : linalg::detail::Transposed::no;
    linalg::detail::for_each_matrix(team, {stack.count, n, std::max(n, k)}, [&](std::int64_t i) {
      std::copy(from + i * n * k, from + (i + 1) * n * k, to + i * n * k);
      linalg::detail::Lapack<T>::trsm_right(triangle, transposed, unit, k, n, matrices + i * n * n, to + i * n * k);
    });
  }
};

template <>
struct KernelOf<&linalg::detail::complex_triangular_operation>
    : linalg::detail::ComplexKernel<&linalg::detail::triangular_operation, true, true, true> {};

}}} // namespace twill::v0::TWILL_ISA
