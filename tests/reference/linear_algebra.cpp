// SPDX-License-Identifier: Apache-2.0
//
// Lines of code of docs/reference/linear_algebra.md: tools/reference/lines.py says how they are found. They are compiled, not
// run.

#include <twill/linalg.hpp>
#include <twill/twill.hpp>

using namespace twill;
using linalg::FullMatrices;
using linalg::MatrixNorm;
using linalg::UpLo;

// clang-format off

// Solvers: in the header twill/linalg.hpp, namespace linalg. `a` is (3, 4, 4), three matrices; `b` is (3, 4, 2), their right sides.
void solvers(const Tensor<double, Cpu, Shape<3, 4, 4>>& a, const Tensor<double, Cpu, Shape<3, 4, 2>>& b, const Tensor<double, Cpu, Shape<dyn, dyn>>& m) {
  { const Tensor x = linalg::solve(a, b); }
  { const Tensor inverses = linalg::inv(a); }
  { const Tensor d = linalg::det(a); }
  { const auto [sign, logabsdet] = linalg::slogdet(a); }
  { const auto [factors, pivots] = linalg::lu_factor(a); }
  // PyTorch: cholesky(a, upper=True)
  { const Tensor u = linalg::cholesky<UpLo::upper>(a); }
  { const Tensor x = linalg::cholesky_solve(b, linalg::cholesky(a)); }
  { const Tensor x = linalg::solve_triangular<UpLo::upper>(a, b); }
  { const auto [l, info] = linalg::cholesky_ex(a); }
  { const auto [x, info] = linalg::solve_ex(a, b); }
  { const auto [inverses, info] = linalg::inv_ex(a); }
  { const auto [solution, rank, singular_values] = linalg::lstsq(a, b); }
  // PyTorch: pinv(m, rtol=1e-3)
  { const Tensor p = linalg::pinv(m, {.rtol = 1e-3}); }
  { const Tensor rank = linalg::matrix_rank(m); }
}

// Decompositions: `a` is (3, 4, 4), `m` a matrix whose extents are known at run time.
void decompositions(const Tensor<double, Cpu, Shape<3, 4, 4>>& a, const Tensor<double, Cpu, Shape<dyn, dyn>>& m) {
  // PyTorch: qr(m, mode="complete")
  { const auto [q, r] = linalg::qr<FullMatrices::yes>(m); }
  // PyTorch: svd(m, full_matrices=False), where svd<FullMatrices::yes>(m) is the default
  { const auto [u, s, vh] = linalg::svd(m); }
  { const Tensor s = linalg::svdvals(m); }
  { const auto [values, vectors] = linalg::eigh(a); }
  { const Tensor values = linalg::eigvalsh(a); }
  { const auto [values, vectors] = linalg::eig(a); }
  { const Tensor values = linalg::eigvals(a); }
}

// Functions of matrices: `a` is (3, 4, 4), `x` a vector, `u` and `v` have three elements in their last axis.
void functions(const Tensor<double, Cpu, Shape<3, 4, 4>>& a, const Tensor<double, Cpu, Shape<dyn>>& x, const Tensor<double, Cpu, Shape<dyn, 3>>& u, const Tensor<double, Cpu, Shape<dyn, 3>>& v) {
  { const Tensor e = linalg::matrix_exp(a); }
  { const Tensor cube = linalg::matrix_power<3>(a); }
  { const Tensor number = linalg::cond<MatrixNorm::largest_column>(a); }
  { const Tensor norm = linalg::matrix_norm<MatrixNorm::nuclear>(a); }
  { const Tensor powers = linalg::vander<4>(x); }
  { const Tensor c = linalg::cross(u, v); }
}
