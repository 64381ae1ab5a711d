// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra of complex matrices in models beside PyTorch's (tests/golden/scripts/complex_matrices.py): results and gradients,
// which PyTorch gives by the same convention; compiled programs, errors that name the matrix. Derivatives of both orders:
// tests/linalg/table_of_complex_systems.test.cpp, tests/linalg/table_of_complex_decompositions.test.cpp.

#include "tests/support/complex_matrices.hpp"
#include "tests/support/golden_gradients.hpp"

#include <twill/linalg.hpp>
#include <twill/twill.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::view_as_complex;
using linalg::Diagonal;
using linalg::MatrixNorm;
using linalg::UpLo;

namespace {

template <class F> void check(const std::string& name, const std::vector<std::string>& inputs, const F& function) {
  check_golden_gradients("complex_matrices", name, inputs, 1e-11, function);
}
/// Of complex operands and, where its result is complex, of its pairs.
template <class F>
void check_complex(const std::string& name, const std::vector<std::string>& inputs, const F& function) {
  check(name, inputs, [&](const Value* x) {
    const auto call = [&] {
      if constexpr (requires { function(view_as_complex(x[0]), view_as_complex(x[1])); })
        return function(view_as_complex(x[0]), view_as_complex(x[1]));
      else
        return function(view_as_complex(x[0]));
    };
    return linalg::detail::stored(call());
  });
}
using Z = ComplexValue;

/// A A^H + I.
ComplexValue definite(const Z& a) { return matmul(a, linalg::detail::adjoint(a)) + linalg::identity_like(a.re); }

// region: complex_loss
/// How far the solution of a complex system is from another one; `matrix` is (n, n, 2), `side` and `other` are (n, k, 2).
constexpr auto distance = [](Value matrix, Value side, Value other) {
  const graph::ComplexValue x = linalg::solve(view_as_complex(matrix), view_as_complex(side));
  return sum(square(abs(x - view_as_complex(other))));
};
// end region

template <MatrixNorm Norm> void check_norm(const std::string& name) {
  check_complex("norm_" + name, {"stack"}, [](const Z& a) { return linalg::matrix_norm<Norm>(a); });
}

} // namespace

TEST_CASE("solvers and factors of complex matrices have PyTorch's values and gradients", "[linalg][gradient]") {
  const auto solve = [](const Z& a, const Z& b) { return linalg::solve(a, b); };
  check_complex("solve", {"square", "side"}, solve);
  check_complex("solve_stack", {"stack", "side"}, solve);
  check_complex("solve_vector", {"square", "vector"}, solve);
  check("solve_real_side", {"square", "real"},
        [](const Value* x) { return view_as_real(linalg::solve(view_as_complex(x[0]), x[1])); });
  check_complex("solve_triangular", {"square", "side"},
                [](const Z& a, const Z& b) { return linalg::solve_triangular<UpLo::upper>(a, b); });
  check_complex("solve_unit_triangular", {"stack", "side"},
                [](const Z& a, const Z& b) { return linalg::solve_triangular<UpLo::lower, Diagonal::ones>(a, b); });
  check_complex("inv", {"stack"}, [](const Z& a) { return linalg::inv(a); });
  check_complex("det", {"stack"}, [](const Z& a) { return linalg::det(a); });
  check_complex("slogdet_sign", {"stack"}, [](const Z& a) { return linalg::slogdet(a).sign; });
  check_complex("slogdet_logarithm", {"stack"}, [](const Z& a) { return linalg::slogdet(a).logabsdet; });
  check_complex("lu_factor", {"stack"}, [](const Z& a) { return linalg::lu_factor(a).factors; });
  check_complex("cholesky", {"stack"}, [](const Z& a) { return linalg::cholesky(definite(a)); });
  check_complex("cholesky_upper", {"stack"}, [](const Z& a) { return linalg::cholesky<UpLo::upper>(definite(a)); });
  check_complex("cholesky_solve", {"square", "side"},
                [](const Z& a, const Z& b) { return linalg::cholesky_solve(b, linalg::cholesky(definite(a))); });
}

TEST_CASE("decompositions of complex matrices have PyTorch's values and gradients", "[linalg][gradient]") {
  for (const std::string shape : {"tall", "wide", "square", "stack"}) {
    check_complex("qr_q_" + shape, {shape}, [](const Z& a) { return linalg::qr(a).Q; });
    check_complex("qr_r_" + shape, {shape}, [](const Z& a) { return linalg::qr(a).R; });
    check_complex("svd_u_" + shape, {shape}, [](const Z& a) { return sizes_squared(linalg::svd(a).U); });
    check_complex("svd_v_" + shape, {shape}, [](const Z& a) { return sizes_squared(linalg::svd(a).Vh); });
    check_complex("svd_product_" + shape, {shape}, [](const Z& a) {
      const auto [u, s, vh] = linalg::svd(a);
      return matmul(u * linalg::as_row(log(s)), vh);
    });
    check_complex("svdvals_" + shape, {shape}, [](const Z& a) { return linalg::svdvals(a); });
    check_complex("pinv_" + shape, {shape}, [](const Z& a) { return linalg::pinv(a); });
  }
  check_complex("eigh_values", {"stack"}, [](const Z& a) { return linalg::eigh(definite(a)).values; });
  check_complex("eigh_vectors", {"stack"}, [](const Z& a) { return sizes_squared(linalg::eigh(definite(a)).vectors); });
  check_complex("eigh_root", {"stack"}, [](const Z& a) {
    const auto [w, v] = linalg::eigh(definite(a));
    return matmul(v * linalg::as_row(sqrt(w)), linalg::detail::adjoint(v));
  });
  check_complex("eigvalsh_upper", {"square"}, [](const Z& a) { return linalg::eigvalsh<UpLo::upper>(a); });
  check_complex("lstsq", {"tall", "tall_side"}, [](const Z& a, const Z& b) { return linalg::lstsq(a, b).solution; });
}

TEST_CASE("functions of complex matrices have PyTorch's values and gradients", "[linalg][gradient]") {
  check_norm<MatrixNorm::frobenius>("frobenius");
  check_norm<MatrixNorm::nuclear>("nuclear");
  check_norm<MatrixNorm::spectral>("spectral");
  check_norm<MatrixNorm::smallest>("smallest");
  check_norm<MatrixNorm::largest_column>("largest_column");
  check_norm<MatrixNorm::smallest_column>("smallest_column");
  check_norm<MatrixNorm::largest_row>("largest_row");
  check_norm<MatrixNorm::smallest_row>("smallest_row");
  check_complex("matrix_exp", {"stack"}, [](const Z& a) { return linalg::matrix_exp(a); });
  check_complex("matrix_power", {"stack"}, [](const Z& a) { return linalg::matrix_power<-3>(a); });
  check_complex("cond", {"stack"}, [](const Z& a) { return linalg::cond(a); });
  check_complex("vander", {"vector"}, [](const Z& x) { return linalg::vander<4, linalg::VanderOrder::increasing>(x); });
  check_complex("cross", {"left", "right"}, [](const Z& x, const Z& y) { return linalg::cross(x, y); });
}

TEST_CASE("compiled functions of complex matrices are those of tensors", "[linalg]") {
  const auto pairs = randn<double, Shape<dyn, 3, 3, 2>>(Dims(2, 3, 3, 2));
  const auto matrices = view_as_complex(pairs);
  const auto expected = to_vector(linalg::inv(matrices));
  const auto inverses =
      to_vector(compiled([](Value x) { return view_as_real(linalg::inv(view_as_complex(x))); })(pairs));
  REQUIRE(inverses.size() == 2 * expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(inverses[2 * i] == Approx(expected[i].re));
    CHECK(inverses[2 * i + 1] == Approx(expected[i].im));
  }
  const auto logarithms =
      to_vector(compiled([](Value x) { return linalg::slogdet(view_as_complex(x)).logabsdet; })(pairs));
  const auto expected_logarithms = to_vector(linalg::slogdet(matrices).logabsdet);
  for (std::size_t i = 0; i < logarithms.size(); ++i) CHECK(logarithms[i] == Approx(expected_logarithms[i]));
  CHECK_THROWS_WITH(compiled([](Value x) { return view_as_real(linalg::inv(view_as_complex(x * 0))); })(pairs),
                    "inv: matrix 0 of 2 is singular: pivot 0 is zero");
  CHECK_THROWS_WITH(compiled([](Value x) { return view_as_real(linalg::cholesky(-view_as_complex(x * x))); })(pairs),
                    "cholesky: matrix 0 of 2 is not positive definite: its leading minor of order 1 is not positive");
}

TEST_CASE("a compiled gradient of a complex system descends to its solution", "[linalg][gradient]") {
  const auto matrix = randn<double, Shape<3, 3, 2>>();
  const auto other = randn<double, Shape<3, 2, 2>>();
  const Tensor side = compiled(
      [](Value a, Value x) { return view_as_real(matmul(view_as_complex(a), view_as_complex(x))); })(matrix, other);
  CHECK(compiled(distance)(matrix, side, other).item() < 1e-20);
  const auto start = randn<double, Shape<3, 2, 2>>();
  const auto [by_matrix, by_side, by_other] = grad(distance)(matrix, start, other);
  const auto at = [&](double step) {
    return compiled(distance)(eval(matrix - step * by_matrix), eval(start - step * by_side),
                              eval(other - step * by_other))
        .item();
  };
  const double squares = sum(square(by_matrix)).item() + sum(square(by_side)).item() + sum(square(by_other)).item();
  constexpr double h = 1e-6;
  CHECK((at(-h) - at(h)) / (2 * h) == Approx(squares).epsilon(1e-4));
}
