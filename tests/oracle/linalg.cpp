// SPDX-License-Identifier: Apache-2.0
//
// Decompositions and solvers, of which only what does not depend on signs and bases is compared: factors multiplied, Gram
// matrices, magnitudes. How far a result may lie from the reference is the case's own bound (references.py).

#include "tests/oracle/traced.hpp"

#if defined(TWILL_WITH_LAPACK)
#include <twill/linalg.hpp>
#include <twill/ops/matmul.hpp>
#endif

namespace oracle {

#if defined(TWILL_WITH_LAPACK)
namespace {

using namespace twill::linalg;
using twill::graph::matmul;
using twill::graph::transpose;
using X = std::span<const Value>;
using N = const Numbers64&;

Value gram(Value q) { return matmul(transpose(q), q); }

void add_solvers(Registry& to) {
  traced(to, "linalg.solve", "TT", [](X x, N) { return TracedValues{solve(x[0], x[1])}; });
  traced(to, "linalg.solve_gradients", "TT", [](X x, N) { return with_gradients(solve(x[0], x[1]), x); });
  traced(to, "linalg.inv", "T", [](X x, N) { return TracedValues{inv(x[0])}; });
  traced(to, "linalg.det", "T", [](X x, N) { return with_gradients(det(x[0]), x); });
  traced(to, "linalg.slogdet", "T", [](X x, N) {
    const auto [sign, logarithm] = slogdet(x[0]);
    return TracedValues{sign, logarithm};
  });
  traced(to, "linalg.lu_factor", "T", [](X x, N) {
    const auto [factors, pivots] = lu_factor(x[0]);
    return TracedValues{factors, pivots};
  });
  traced(to, "linalg.solve_lower", "TT", [](X x, N) { return TracedValues{solve_triangular(x[0], x[1])}; });
  traced(to, "linalg.solve_upper", "TT",
         [](X x, N) { return TracedValues{solve_triangular<UpLo::upper>(x[0], x[1])}; });
  traced(to, "linalg.solve_unit", "TT",
         [](X x, N) { return TracedValues{solve_triangular<UpLo::lower, Diagonal::ones>(x[0], x[1])}; });
  traced(to, "linalg.cholesky", "T", [](X x, N) { return TracedValues{cholesky(x[0])}; });
  traced(to, "linalg.cholesky_solve", "TT", [](X x, N) { return TracedValues{cholesky_solve(x[0], cholesky(x[1]))}; });
  traced(to, "linalg.cholesky_ex", "T", [](X x, N) { return TracedValues{cholesky_ex(x[0]).info}; });
  traced(to, "linalg.solve_ex", "TT", [](X x, N) { return TracedValues{solve_ex(x[0], x[1]).info}; });
  traced(to, "linalg.inv_ex", "T", [](X x, N) { return TracedValues{inv_ex(x[0]).info}; });
  traced(to, "linalg.pinv", "T", [](X x, N) { return TracedValues{pinv(x[0])}; });
  traced(to, "linalg.lstsq", "TT", [](X x, N) {
    const auto [solution, rank, values] = lstsq(x[0], x[1]);
    return TracedValues{solution, rank, values};
  });
  traced(to, "linalg.matrix_rank", "T", [](X x, N) { return TracedValues{matrix_rank(x[0])}; });
  traced(to, "linalg.cond", "T", [](X x, N) { return TracedValues{cond(x[0])}; });
}

void add_decompositions(Registry& to) {
  traced(to, "linalg.qr", "T", [](X x, N) {
    const auto [q, r] = qr(x[0]);
    return TracedValues{matmul(q, r), gram(q), gram(r)};
  });
  traced(to, "linalg.svd", "T", [](X x, N) {
    const auto [u, s, v] = svd(x[0]);
    return TracedValues{matmul(u * as_row(s), v), s, gram(u), gram(transpose(v))};
  });
  traced(to, "linalg.svdvals", "T", [](X x, N) { return with_gradients(svdvals(x[0]), x); });
  traced(to, "linalg.eigh", "T", [](X x, N) {
    const auto [values, vectors] = eigh(x[0]);
    return TracedValues{values, matmul(vectors * as_row(values), transpose(vectors)), gram(vectors)};
  });
  traced(to, "linalg.eigvalsh", "T", [](X x, N) { return TracedValues{eigvalsh(x[0])}; });
}

/// Eigenvalues by their powers' sums, which have no order, and eigenvectors by what they solve.
void add_general_eigenvalues(Registry& to) {
  using Complexes = Types<twill::complex64, twill::complex128>;
  using All = Types<float, double, twill::complex64, twill::complex128>;
  unary<3>(to, "linalg.eigvals<1>", All{}, zeros_equal, [](const auto& x) { return twill::sum<-1>(eigvals(x)); });
  unary<3>(to, "linalg.eigvals<2>", All{}, zeros_equal,
           [](const auto& x) { return twill::sum<-1>(square(eigvals(x))); });
  unary<3>(to, "linalg.eig", Complexes{}, zeros_equal, [](const auto& x) {
    const auto [values, vectors] = eig(x);
    return twill::eval(twill::matmul(x, vectors) - vectors * values.template unsqueeze<1>());
  });
}

/// Stacks of complex matrices of tensors.
void add_complex_matrices(Registry& to) {
  using Complexes = Types<twill::complex64, twill::complex128>;
  using twill::eval;
  using twill::matmul;
  binary<3>(to, "linalg.complex_solve", Complexes{}, zeros_equal,
            [](const auto& a, const auto& b) { return solve(a, b); });
  binary<3>(to, "linalg.complex_lstsq", Complexes{}, zeros_equal,
            [](const auto& a, const auto& b) { return lstsq(a, b).solution; });
  unary<3>(to, "linalg.complex_inv", Complexes{}, zeros_equal, [](const auto& x) { return inv(x); });
  unary<3>(to, "linalg.complex_det", Complexes{}, zeros_equal, [](const auto& x) { return det(x); });
  unary<3>(to, "linalg.complex_logabsdet", Complexes{}, zeros_equal,
           [](const auto& x) { return slogdet(x).logabsdet; });
  unary<3>(to, "linalg.complex_pinv", Complexes{}, zeros_equal, [](const auto& x) { return pinv(x); });
  unary<3>(to, "linalg.complex_cholesky", Complexes{}, zeros_equal, [](const auto& x) { return cholesky(x); });
  unary<3>(to, "linalg.complex_eigvalsh", Complexes{}, zeros_equal, [](const auto& x) { return eigvalsh(x); });
  unary<3>(to, "linalg.complex_svdvals", Complexes{}, zeros_equal, [](const auto& x) { return svdvals(x); });
  unary<3>(to, "linalg.complex_qr_product", Complexes{}, zeros_equal, [](const auto& x) {
    const auto [q, r] = qr(x);
    return eval(matmul(q, r));
  });
  unary<3>(to, "linalg.complex_qr_gram", Complexes{}, zeros_equal, [](const auto& x) {
    const auto q = qr(x).Q;
    return eval(matmul(conj(q.template transpose<-2, -1>()), q));
  });
  unary<3>(to, "linalg.complex_matrix_power<3>", Complexes{}, zeros_equal,
           [](const auto& x) { return matrix_power<3>(x); });
  unary<3>(to, "linalg.complex_nuclear_norm", Complexes{}, zeros_equal,
           [](const auto& x) { return matrix_norm<MatrixNorm::nuclear>(x); });
}

void add_matrix_functions(Registry& to) {
  traced(to, "linalg.matrix_exp", "T", [](X x, N) { return with_gradients(matrix_exp(x[0]), x); });
  traced(to, "linalg.matrix_power<3>", "T", [](X x, N) { return TracedValues{matrix_power<3>(x[0])}; });
  traced(to, "linalg.matrix_power<0>", "T", [](X x, N) { return TracedValues{matrix_power<0>(x[0])}; });
  traced(to, "linalg.matrix_power<-2>", "T", [](X x, N) { return TracedValues{matrix_power<-2>(x[0])}; });
  traced(to, "linalg.matrix_norms", "T", [](X x, N) {
    using enum MatrixNorm;
    return TracedValues{matrix_norm(x[0]),
                        matrix_norm<nuclear>(x[0]),
                        matrix_norm<spectral>(x[0]),
                        matrix_norm<smallest>(x[0]),
                        matrix_norm<largest_column>(x[0]),
                        matrix_norm<smallest_column>(x[0]),
                        matrix_norm<largest_row>(x[0]),
                        matrix_norm<smallest_row>(x[0])};
  });
  traced(to, "linalg.vander", "T", [](X x, N) {
    return TracedValues{vander<4>(x[0]), vander<3, VanderOrder::increasing>(x[0])};
  });
  traced(to, "linalg.cross", "TT", [](X x, N) { return TracedValues{cross(x[0], x[1])}; });
}

} // namespace
#endif

void add_linalg([[maybe_unused]] Registry& to) {
#if defined(TWILL_WITH_LAPACK)
  add_solvers(to);
  add_decompositions(to);
  add_general_eigenvalues(to);
  add_complex_matrices(to);
  add_matrix_functions(to);
#endif
}

} // namespace oracle
