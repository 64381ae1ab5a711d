#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// LU factors with partial pivoting, and what follows from them: solve, inv, det, slogdet. One factorisation serves a
// function and its gradients (Giles, 2008): they solve with the factors that the function has made.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/matrix_values.hpp>
#include <twill/linalg/triangular.hpp>
#include <twill/ops/matmul.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// Factors of square matrices: row `pivots[i]` changed places with row i, for i = 0, 1, …; then the rows are L U. L has
/// ones on its diagonal, which are not stored. PyTorch's `lu_factor` counts pivots from one.
template <class Factors, class Pivots> struct LU {
  Factors factors{}; ///< (..., n, n): L below the diagonal, U on and above it
  Pivots pivots{};   ///< (..., n), int64
};

}}}} // namespace twill::v0::linalg::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

template <MatrixValue V>
constexpr void lu_vjp(Graph& graph, int node, const graph::Cotangents& cotangents, graph::InputGradients& gradients);
/// The factors, and the parities of the exchanges as further result. Singular matrices have a zero on U's diagonal.
inline constexpr graph::Operation lu_operation{.name = "lu_factor",
                                               .vjp = &lu_vjp<Value>,
                                               .results = 3,
                                               .wants_dense = true,
                                               .batching = graph::Batching::stack,
                                               .working_bytes = &lu_bytes};
inline constexpr graph::Operation complex_lu_operation{.name = "complex_lu_factor",
                                                       .vjp = &lu_vjp<ComplexValue>,
                                                       .results = 3,
                                                       .wants_dense = true,
                                                       .batching = graph::Batching::stack};

/// The functions that solve with LU factors, as errors name them.
enum class Solver : std::int64_t { solve, inv };
inline constexpr std::string_view solver_names[] = {"solve", "inv"};

/// The first zero on the diagonal of U, counted from 1; 0 where there is none.
template <class T> [[nodiscard]] constexpr int first_zero_pivot(const T* factors, std::int64_t n) {
  for (std::int64_t row = 0; row < n; ++row)
    if (factors[row * n + row] == T{0}) return static_cast<int>(row) + 1;
  return 0;
}

[[noreturn]] TWILL_COLD inline void throw_singular(const FirstFailure& failure, Solver function, std::int64_t count) {
  throw LinAlgError(failure.text(solver_names[static_cast<std::size_t>(function)], count) + "is singular: pivot " +
                    std::to_string(failure.info() - 1) + " is zero");
}

/// Factors, exchanges and their parities, as traced values that operations see.
struct Factored {
  Value factors{};
  Value pivots{};
  Value parity{};
};

template <MatrixValue V> [[nodiscard]] constexpr Factored factored(const V& a) {
  const Extents shape = a.shape();
  const Value factors = add_operation(operation_of<V, lu_operation, complex_lu_operation>(), {stored(a)}, part_type(a),
                                      stored_shape<V>(shape));
  return {factors, add_result(factors, 1, DType::int64, with_vector(shape, rows_of(shape))),
          add_result(factors, 2, part_type(a), stored_shape<V>(stack_of(shape)))};
}

template <MatrixValue V>
constexpr void solve_vjp(Graph& graph, int node, const graph::Cotangents& cotangents, graph::InputGradients& gradients);
inline constexpr graph::Operation lu_solve_operation{.name = "lu_solve",
                                                     .results = 2,
                                                     .wants_dense = true,
                                                     .batching = graph::Batching::stack,
                                                     .working_bytes = &lu_solve_bytes};
inline constexpr graph::Operation complex_lu_solve_operation{
    .name = "complex_lu_solve", .results = 2, .wants_dense = true, .batching = graph::Batching::stack};
template <MatrixValue V>
inline constexpr graph::Operation solve_rule{.name = "solve", .vjp = &solve_vjp<V>, .batching = graph::Batching::stack};

/// X with op(A) X = B, and its gradients by A and B.
template <MatrixValue V>
[[nodiscard]] constexpr Reported<V> solved_with(Value factors, Value pivots, const V& a, const V& b, bool transposed,
                                                Solver function, OnFailure failing) {
  const Value sides = stored(b);
  const Value x = add_operation(operation_of<V, lu_solve_operation, complex_lu_solve_operation>(),
                                {factors, pivots, sides}, sides.dtype(), sides.shape(),
                                {transposed, static_cast<std::int64_t>(function), failing == OnFailure::reports});
  const Value info = failing == OnFailure::reports ? add_result(x, 1, DType::int32, stack_of(b.shape())) : Value{};
  return {value_of<V>(with_rule(x, solve_rule<V>, {stored(a), sides})), info};
}
template <MatrixValue V>
[[nodiscard]] constexpr V solve_with(Value factors, Value pivots, const V& a, const V& b, bool transposed,
                                     Solver function) {
  return solved_with(factors, pivots, a, b, transposed, function, OnFailure::throws).result;
}

/// dB = op(A)^-H dX; dA = -dB X^H, or with exchanged axes (Giles, 2008, 2.3.1).
template <MatrixValue V>
constexpr void solve_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                         graph::InputGradients& gradients) {
  const Value x{graph, graph.node(node).input(0)};
  const V a = value_of<V>({graph, graph.node(node).input(1)});
  const graph::Node call = x.node();
  const bool transposed = graph.attribute(call, 0) != 0;
  const V g = conjugate(solve_with({graph, call.input(0)}, {graph, call.input(1)}, a,
                                   conjugate(cotangent_of<V>(graph, cotangents, 0)), !transposed,
                                   static_cast<Solver>(graph.attribute(call, 1))));
  const V solution = value_of<V>({graph, node}); // further derivatives go through it
  if (gradients.wants(1))
    gradients.set(1, stored(transposed ? -conjugate(matmul(solution, adjoint(g))) : -matmul(g, adjoint(solution))));
  if (gradients.wants(2)) gradients.set(2, stored(g));
}

template <MatrixValue V>
constexpr void exchange_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                            graph::InputGradients& gradients);
template <MatrixValue V>
inline constexpr graph::Operation exchange_rule{
    .name = "exchange_rows", .vjp = &exchange_vjp<V>, .batching = graph::Batching::stack};

/// The rows of B after the exchanges of a factorisation, or before them: a solution with the factors of the identity.
template <MatrixValue V>
[[nodiscard]] constexpr V exchanged(Value identity, Value pivots, const V& b, bool is_reversed) {
  const Value sides = stored(b);
  const Value x =
      add_operation(operation_of<V, lu_solve_operation, complex_lu_solve_operation>(), {identity, pivots, sides},
                    sides.dtype(), sides.shape(), {is_reversed, static_cast<std::int64_t>(Solver::solve), true});
  return value_of<V>(with_rule(x, exchange_rule<V>, {sides}));
}

template <MatrixValue V>
constexpr void exchange_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                            graph::InputGradients& gradients) {
  const graph::Node call = graph.node(graph.node(node).input(0));
  gradients.set(1, stored(exchanged({graph, call.input(0)}, {graph, call.input(1)},
                                    cotangent_of<V>(graph, cotangents, 0), graph.attribute(call, 0) == 0)));
}

/// dA = P^T L^-H (tril(L^H dL, -1) + triu(dU U^H)) U^-H (de Hoog, Anderssen and Lukas, 2011).
template <MatrixValue V>
constexpr void lu_vjp(Graph& graph, int node, const graph::Cotangents& cotangents, graph::InputGradients& gradients) {
  const Value call{graph, node};
  const V factors = value_of<V>(call);
  const Value pivots = add_result(call, 1, DType::int64, with_vector(factors.shape(), rows_of(factors.shape())));
  const V g = cotangent_of<V>(graph, cotangents, 0);
  const V identity = identities_of(factors);
  const V l = lower_part(factors, -1) + identity;
  const V inner = lower_part(matmul(adjoint(l), lower_part(g, -1)), -1) +
                  upper_part(matmul(upper_part(g), adjoint(upper_part(factors))));
  const V right = adjoint(solve_with_triangle(factors, adjoint(inner), {.triangle = UpLo::upper}));
  const V whole = solve_with_adjoint(factors, right, {.triangle = UpLo::lower, .diagonal = Diagonal::ones});
  gradients.set(0, stored(exchanged(stored(identity), pivots, whole, true)));
}

/// A^-H from factors.
template <MatrixValue V> [[nodiscard]] constexpr V adjoint_inverse(Value factors, Value pivots, const V& a) {
  return conjugate(solve_with(factors, pivots, a, identities_of(a), true, Solver::inv));
}

/// The gradient of the logarithm of a determinant's absolute value by A is A^-H.
template <MatrixValue V>
constexpr void logabsdet_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                             graph::InputGradients& gradients) {
  const graph::Node call = graph.node(node);
  const Value g{graph, cotangents[0]};
  if (gradients.wants(1))
    gradients.set(
        1, stored(adjoint_inverse({graph, call.input(2)}, {graph, call.input(3)}, value_of<V>({graph, call.input(1)})) *
                  as_column(as_column(g))));
}
template <MatrixValue V>
inline constexpr graph::Operation logabsdet_rule{
    .name = "logabsdet", .vjp = &logabsdet_vjp<V>, .batching = graph::Batching::stack};

/// The logarithm of the absolute value of a determinant.
template <MatrixValue V> [[nodiscard]] constexpr Value logabsdet_of(const Factored& lu, const V& a) {
  const Value pivots = abs(each_part(value_of<V>(stop_gradient(lu.factors)), &diagonal_of));
  return with_rule(sum(log(pivots), {-1}), logabsdet_rule<V>, {stored(a), lu.factors, lu.pivots});
}

// What the functions of real and of complex matrices have in common.

template <MatrixValue V> [[nodiscard]] constexpr Reported<V> solved(V a, const V& b, OnFailure failing, CallSite site) {
  a = checked_square(a, site);
  if (a.graph().fault.any()) return {b, real_part(b)};
  const Sides<V> sides = fitting_sides(a, b, site);
  if (a.graph().fault.any()) return {b, real_part(b)};
  const Factored lu = factored(sides.a);
  const Reported<V> parts = solved_with(lu.factors, lu.pivots, sides.a, sides.b, false, Solver::solve, failing);
  return {as_given(parts.result, b.rank() == 1, site), parts.info};
}
template <MatrixValue V> [[nodiscard]] constexpr Reported<V> inverted(V a, OnFailure failing, CallSite site) {
  a = checked_square(a, site);
  if (a.graph().fault.any()) return {a, real_part(a)};
  const Factored lu = factored(a);
  return solved_with(lu.factors, lu.pivots, a, identities_of(a), false, Solver::inv, failing);
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// The sign of determinants, and the logarithm of their absolute values.
template <class Sign, class LogAbsDet> struct SlogDet {
  Sign sign{};           ///< (...): -1, 0 or 1
  LogAbsDet logabsdet{}; ///< (...): minus infinity for singular matrices
};

/// LU factors of (..., n, n). Their gradient is not finite where a matrix is singular.
[[nodiscard]] TWILL_CONSTEXPR LU<Value, Value> lu_factor(Value a, CallSite site = CallSite::here()) {
  a = checked_square(a, site);
  if (a.graph().fault.any()) return {a, a};
  const detail::Factored lu = detail::factored(a);
  return {lu.factors, lu.pivots};
}

/// X with A X = B for A (..., n, n) and B (..., n, k), or (n) for one vector, as in NumPy. Leading axes broadcast.
/// throws: LinAlgError when a matrix is singular: it names the matrix and the pivot
[[nodiscard]] TWILL_CONSTEXPR Value solve(Value a, Value b, CallSite site = CallSite::here()) {
  return detail::solved(a, b, OnFailure::throws, site).result;
}

/// Inverses of (..., n, n). throws: LinAlgError when one is singular
[[nodiscard]] TWILL_CONSTEXPR Value inv(Value a, CallSite site = CallSite::here()) {
  return detail::inverted(a, OnFailure::throws, site).result;
}

/// Signs and logarithms of the determinants of (..., n, n), which do not overflow.
[[nodiscard]] TWILL_CONSTEXPR SlogDet<Value, Value> slogdet(Value a, CallSite site = CallSite::here()) {
  a = checked_square(a, site);
  if (a.graph().fault.any()) return {a, a};
  const detail::Factored lu = detail::factored(a);
  const Value pivots = diagonal_of(stop_gradient(lu.factors));
  return {stop_gradient(lu.parity) * prod(sign(pivots), {-1}), detail::logabsdet_of(lu, a)};
}

/// Determinants of (..., n, n). Their gradient throws LinAlgError where a matrix is singular.
[[nodiscard]] TWILL_CONSTEXPR Value det(Value a, CallSite site = CallSite::here()) {
  const SlogDet<Value, Value> parts = slogdet(a, site);
  return parts.sign * exp(parts.logabsdet);
}

}}}} // namespace twill::v0::linalg::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <>
struct KernelOf<&linalg::detail::lu_operation> : linalg::detail::QueueKernel<&linalg::detail::lu_operation> {
  using ForQueues::run;

  template <class T> static void run(const Team& team, const kernel::Launch& launch) {
    const linalg::detail::Stack stack = linalg::detail::matrices_of(launch.shapes[0]);
    const std::int64_t n = stack.rows;
    const auto* from = static_cast<const T*>(launch.operands[0].data);
    auto* to = static_cast<T*>(launch.operands[1].data);
    auto* pivots = static_cast<std::int64_t*>(launch.operands[2].data);
    auto* parity = static_cast<T*>(launch.operands[3].data);
    linalg::detail::for_each_matrix(team, stack, [&](std::int64_t i) {
      T* const factors = to + i * n * n;
      std::copy(from + i * n * n, from + (i + 1) * n * n, factors);
      linalg::detail::transpose_in_place(factors, n);
      int* const exchanged = kernel::Scratch::of_thread<int>(n);
      static_cast<void>(linalg::detail::Lapack<T>::getrf(n, factors, exchanged)); // a zero pivot is no error yet
      linalg::detail::transpose_in_place(factors, n);
      bool is_odd = false;
      for (std::int64_t row = 0; row < n; ++row) {
        is_odd ^= exchanged[row] != row + 1;
        if (pivots != nullptr) pivots[i * n + row] = exchanged[row] - 1;
      }
      if (parity != nullptr) parity[i] = is_odd ? T{-1} : T{1};
    });
  }
  template <class T> static void reserve(const Team& team, const kernel::Launch& launch) {
    const std::int64_t n = linalg::detail::matrices_of(launch.shapes[0]).rows;
    team.parallel([&](int, int) { kernel::Scratch::reserve<int>(n); });
  }
};

template <>
struct KernelOf<&linalg::detail::lu_solve_operation>
    : linalg::detail::QueueKernel<&linalg::detail::lu_solve_operation> {
  using ForQueues::run;

  template <class T> static void run(const Team& team, const kernel::Launch& launch) {
    const linalg::detail::Stack stack = linalg::detail::matrices_of(launch.shapes[2]);
    const std::int64_t n = stack.rows;
    const std::int64_t k = stack.columns;
    const auto* factors = static_cast<const T*>(launch.operands[0].data);
    const auto* pivots = static_cast<const std::int64_t*>(launch.operands[1].data);
    const auto* from = static_cast<const T*>(launch.operands[2].data);
    auto* to = static_cast<T*>(launch.operands[3].data);
    auto* const infos = static_cast<std::int32_t*>(launch.operands[4].data);
    const bool reports = launch.attributes[2] != 0;
    const bool transposed = launch.attributes[0] != 0;
    linalg::detail::FirstFailure singular{};
    linalg::detail::for_each_matrix(team, {stack.count, n, std::max(n, k)}, [&](std::int64_t i) {
      const T* const lu = factors + i * n * n;
      const int info = linalg::detail::first_zero_pivot(lu, n);
      if (infos != nullptr) infos[i] = info;
      singular.note(i, info);
      if (info != 0 && !reports) return;
      T* const x = to + i * n * k;
      std::copy(from + i * n * k, from + (i + 1) * n * k, x);
      const std::int64_t* const exchanges = pivots + i * n;
      const auto exchange = [&](std::int64_t row) {
        if (exchanges[row] != row) std::swap_ranges(x + row * k, x + (row + 1) * k, x + exchanges[row] * k);
      };
      // To LAPACK x is X^T and lu holds U^T below L^T.
      const auto by_lower = [&](linalg::detail::Transposed t) {
        linalg::detail::Lapack<T>::trsm_right(linalg::detail::Triangle::upper, t, linalg::detail::UnitDiagonal::yes, k,
                                              n, lu, x);
      };
      const auto by_upper = [&](linalg::detail::Transposed t) {
        linalg::detail::Lapack<T>::trsm_right(linalg::detail::Triangle::lower, t, linalg::detail::UnitDiagonal::no, k,
                                              n, lu, x);
      };
      if (transposed) {
        by_upper(linalg::detail::Transposed::yes);
        by_lower(linalg::detail::Transposed::yes);
        for (std::int64_t row = n - 1; row >= 0; --row) exchange(row);
      } else {
        for (std::int64_t row = 0; row < n; ++row) exchange(row);
        by_lower(linalg::detail::Transposed::no);
        by_upper(linalg::detail::Transposed::no);
      }
    });
    if (singular.any() && !reports)
      linalg::detail::throw_singular(singular, static_cast<linalg::detail::Solver>(launch.attributes[1]), stack.count);
  }
};

template <>
struct KernelOf<&linalg::detail::complex_lu_operation>
    : linalg::detail::ComplexKernel<&linalg::detail::lu_operation, true, true, false, true> {};
template <>
struct KernelOf<&linalg::detail::complex_lu_solve_operation>
    : linalg::detail::ComplexKernel<&linalg::detail::lu_solve_operation, true, false, true, true, false> {};

}}} // namespace twill::v0::TWILL_ISA
