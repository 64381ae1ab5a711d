// SPDX-License-Identifier: Apache-2.0
//
// Gradients of linear algebra against central differences, of first and second order; forward mode against reverse mode;
// batches of matrices against one after another.

#include <twill/linalg.hpp>
#include <twill/twill.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace {

using namespace twill;
using graph::Value;
using linalg::Diagonal;
using linalg::MatrixNorm;
using linalg::UpLo;

/// A sum with other weights for each element, so that a wrong place shows.
constexpr Value weighed(Value x) { return sum(x * sin(cast(graph::iota(x.graph(), x.shape()), x.dtype()) + 0.3)); }

/// A weighed sum of the gradient: its gradients are the second derivatives.
template <class F> struct WeighedGradient {
  constexpr Value operator()(Value x) const { return weighed(graph::gradient(F{}(x), x)); }
};

template <class F, class X> void check_gradient(F f, const X& x) {
  constexpr double h = 1e-5;
  const std::vector<double> at = to_vector(x);
  const std::vector<double> slopes = to_vector(grad(f)(x));
  const auto value = [&](std::size_t i, double shift) {
    std::vector<double> moved = at;
    moved[i] += shift;
    return compiled(f)(from_values<typename X::shape_type>(moved, x.shape(), Cpu{0})).item();
  };
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double difference = (8 * (value(i, h) - value(i, -h)) - (value(i, 2 * h) - value(i, -2 * h))) / (12 * h);
    INFO("element " << i);
    CHECK(slopes[i] == Approx(difference).epsilon(2e-7).margin(2e-7));
  }
}

/// How far `vmap` of a gradient is from a loop over three matrices, relative to the largest element.
template <class F> struct DistanceOfBatch {
  constexpr Value operator()(Value x) const {
    constexpr auto gradient = grad(WeighedGradient<F>{});
    const Value batched = vmap(gradient)(graph::stack({x, x * 1.1, x * 0.9}));
    const Value one_by_one = graph::stack({gradient(x), gradient(x * 1.1), gradient(x * 0.9)});
    return max(abs(batched - one_by_one)) / (1 + max(abs(one_by_one)));
  }
};

/// First derivatives, and second ones through the rules of the first; forward mode agrees with reverse mode.
template <class F, class X> void check_gradients(F f, const X& x) {
  check_gradient(f, x);
  check_gradient(WeighedGradient<F>{}, x);
  CHECK(compiled(DistanceOfBatch<F>{})(x).item() <= 1e-9);
  const auto t = randn<double, typename X::shape_type>();
  const std::vector<double> slopes = to_vector(grad(f)(x));
  const std::vector<double> along = to_vector(t);
  double expected = 0;
  double terms = 1;
  for (std::size_t i = 0; i < along.size(); ++i) {
    expected += slopes[i] * along[i];
    terms += std::abs(slopes[i] * along[i]);
  }
  CHECK(std::abs(jvp(f, x, t).second.item() - expected) <= 1e-10 * terms);
}

const auto three_by_three =
    from_values<Shape<3, 3>>(std::vector<double>{4, 1, 2, 1, 5, 3, 2, 0, 7}, Dims(3, 3), Cpu{0});
const auto tall = from_values<Shape<2, 4, 3>>(std::vector<double>{4,   1, 2, 1, 5,  3, 2, 0, 7, 1,   1, -1, //
                                                                  0.5, 1, 2, 1, -5, 3, 2, 0, 2, 0.1, 1, -1},
                                              Dims(2, 4, 3), Cpu{0});
const auto wide =
    from_values<Shape<3, 4>>(std::vector<double>{4, 1, 2, 1, 5, 3, 2, 0, 7, 1, 1, -1}, Dims(3, 4), Cpu{0});

constexpr Value gram(Value x) { return matmul(x, transpose(x)); }

} // namespace

TEST_CASE("gradients of solvers are those of differences", "[linalg]") {
  check_gradients([](Value x) { return weighed(linalg::solve(x, linalg::as_column(sum(x, {-1})))); }, three_by_three);
  check_gradients([](Value x) { return weighed(linalg::solve(x, sum(x, {-1}))); }, three_by_three);
  check_gradients([](Value x) { return weighed(linalg::solve(gram(x), x)); }, wide);
  check_gradients([](Value x) { return weighed(linalg::solve_triangular<UpLo::upper>(x, x)); }, three_by_three);
  check_gradients([](Value x) { return weighed(linalg::solve_triangular<UpLo::lower, Diagonal::ones>(x, x)); },
                  three_by_three);
  check_gradients([](Value x) { return weighed(linalg::cholesky_solve(x, linalg::cholesky(gram(x)))); }, wide);
  check_gradients([](Value x) { return weighed(linalg::lstsq(x, cos(x)).solution); }, wide);
}

TEST_CASE("gradients of inverses and determinants are those of differences", "[linalg]") {
  check_gradients([](Value x) { return weighed(linalg::inv(x)); }, three_by_three);
  check_gradients([](Value x) { return linalg::det(x * 0.2); }, three_by_three);
  check_gradients([](Value x) { return linalg::slogdet(x).logabsdet; }, three_by_three);
  check_gradients([](Value x) { return weighed(linalg::pinv(x)); }, wide);
  check_gradient([](Value x) { return weighed(linalg::pinv(x)); }, tall);
}

TEST_CASE("gradients of decompositions are those of differences", "[linalg]") {
  check_gradients([](Value x) { return weighed(linalg::cholesky(gram(x))); }, wide);
  check_gradients(
      [](Value x) {
        const auto [q, r] = linalg::qr(x);
        return weighed(q) + weighed(r);
      },
      wide);
  check_gradient(
      [](Value x) {
        const auto [q, r] = linalg::qr(x);
        return weighed(q) + weighed(r);
      },
      tall);
  check_gradients(
      [](Value x) {
        const auto [values, vectors] = linalg::eigh(gram(x));
        return weighed(values * 0.1) + weighed(vectors * vectors);
      },
      wide);
  check_gradients(
      [](Value x) {
        const auto [u, s, vh] = linalg::svd(x);
        return weighed(u * u) + weighed(s) + weighed(vh * vh);
      },
      wide);
  check_gradient(
      [](Value x) {
        const auto [u, s, vh] = linalg::svd(x);
        return weighed(u * u) + weighed(s) + weighed(vh * vh);
      },
      tall);
}

TEST_CASE("gradients of functions of matrices are those of differences", "[linalg]") {
  check_gradients([](Value x) { return weighed(linalg::matrix_exp(x * 0.3)); }, three_by_three);
  check_gradients([](Value x) { return weighed(linalg::matrix_power<-2>(x)); }, three_by_three);
  check_gradients([](Value x) { return linalg::matrix_norm(x); }, wide);
  check_gradients([](Value x) { return linalg::matrix_norm<MatrixNorm::nuclear>(x); }, wide);
  check_gradients([](Value x) { return linalg::cond(x); }, three_by_three);
  check_gradients([](Value x) { return weighed(linalg::cross(x, sin(x))); }, three_by_three);
  check_gradients([](Value x) { return weighed(linalg::vander<4>(x * 0.2)); }, three_by_three);
}
