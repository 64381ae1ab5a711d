// SPDX-License-Identifier: Apache-2.0
//
// Solution of equations, Cholesky factor and singular value decomposition of one float32 matrix, in one thread, beside the
// same routines of LAPACK called directly and beside Eigen. The reference copies its input, as a function of tensors has
// to. Residuals are checked in double before anything is timed.

#include "bench/support/check.hpp"

#include <twill/linalg.hpp>
#include <twill/tensor.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#if defined(TWILL_BENCH_EIGEN)
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/SVD>
#endif

extern "C" {
void sgesv_(const int* n, const int* columns, float* a, const int* lda, int* pivots, float* b, const int* ldb,
            int* info);
void spotrf_(const char* triangle, const int* n, float* a, const int* lda, int* info, std::size_t);
void sgesdd_(const char* job, const int* m, const int* n, float* a, const int* lda, float* s, float* u, const int* ldu,
             float* vt, const int* ldvt, float* work, const int* lwork, int* integers, int* info, std::size_t);
}

using namespace twill;

namespace {

constexpr std::int64_t sides = 16; // right-hand sides of a system
using Numbers = std::vector<float>;

auto matrix_of(const Numbers& values, std::int64_t rows, std::int64_t columns) {
  return from_values<Shape<dyn, dyn>>(std::span{values}, Dims(rows, columns));
}

/// A matrix with a heavy diagonal, which no method finds hard.
Numbers general(std::int64_t n) {
  Numbers values = bench::numbers(n * n, 1, 1);
  for (std::int64_t i = 0; i < n; ++i) values[static_cast<std::size_t>(i * n + i)] += static_cast<float>(n);
  return values;
}
/// Symmetric with a heavy diagonal, so positive definite.
Numbers positive(std::int64_t n) {
  Numbers values = general(n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j)
      values[static_cast<std::size_t>(j * n + i)] = values[static_cast<std::size_t>(i * n + j)];
  return values;
}

/// An element of a matrix in memory: row i, column j of a row-major one, or of a column-major one.
struct View {
  const float* data;
  std::int64_t row, column;
  double operator()(std::int64_t i, std::int64_t j) const { return static_cast<double>(data[i * row + j * column]); }
};
View by_rows(const float* data, std::int64_t columns) { return {data, columns, 1}; }
View by_columns(const float* data, std::int64_t rows) { return {data, 1, rows}; }

/// Ends the program unless a x = b, all m x k, k x n, m x n.
void require_product(auto a, auto x, auto b, std::int64_t m, std::int64_t k, std::int64_t n, const char* what) {
  Numbers found(static_cast<std::size_t>(m * n));
  Numbers expected(found.size());
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < k; ++l) sum += a(i, l) * x(l, j);
      found[static_cast<std::size_t>(i * n + j)] = static_cast<float>(sum);
      expected[static_cast<std::size_t>(i * n + j)] = static_cast<float>(b(i, j));
    }
  bench::require_close(found, expected, 2e-3F, what);
}

struct System {
  std::int64_t n;
  Numbers a = general(n), b = bench::numbers(n * sides, 1, 3);
};

void solve(benchmark::State& state) {
  const System o{state.range(0)};
  const Tensor a = matrix_of(o.a, o.n, o.n), b = matrix_of(o.b, o.n, sides);
  const Tensor x = linalg::solve(a, b);
  require_product(by_rows(o.a.data(), o.n), by_rows(x.data(), sides), by_rows(o.b.data(), sides), o.n, o.n, sides,
                  "solve/twill");
  for (auto _ : state) benchmark::DoNotOptimize(linalg::solve(a, b).data());
}
void solve_by_lapack(benchmark::State& state) {
  const System o{state.range(0)};
  const int n = static_cast<int>(o.n), columns = static_cast<int>(sides);
  std::vector<int> pivots(o.a.size());
  Numbers a, b;
  const auto run = [&] {
    int info = 0;
    a = o.a;
    b = o.b;
    sgesv_(&n, &columns, a.data(), &n, pivots.data(), b.data(), &n, &info);
  };
  run();
  require_product(by_columns(o.a.data(), o.n), by_columns(b.data(), o.n), by_columns(o.b.data(), o.n), o.n, o.n, sides,
                  "solve/reference");
  for (auto _ : state) run();
}

void cholesky(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const Numbers values = positive(n);
  const Tensor a = matrix_of(values, n, n);
  const Tensor l = linalg::cholesky(a);
  require_product(by_rows(l.data(), n), by_columns(l.data(), n), by_rows(values.data(), n), n, n, n, "cholesky/twill");
  for (auto _ : state) benchmark::DoNotOptimize(linalg::cholesky(a).data());
}
void cholesky_by_lapack(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const int extent = static_cast<int>(n);
  const Numbers values = positive(n);
  Numbers l;
  const auto run = [&] { // L by rows, with zeros above the diagonal: LAPACK's upper triangle by columns
    int info = 0;
    l = values;
    spotrf_("U", &extent, l.data(), &extent, &info, 1);
    for (std::int64_t row = 0; row < n; ++row) std::fill_n(l.data() + row * n + row + 1, n - row - 1, 0.0F);
  };
  run();
  require_product(by_rows(l.data(), n), by_columns(l.data(), n), by_rows(values.data(), n), n, n, n,
                  "cholesky/reference");
  for (auto _ : state) run();
}

/// Ends the program unless u s vh = a, all square.
void require_factors(View u, const float* s, View vh, View a, std::int64_t n, const char* what) {
  const auto scaled = [&](std::int64_t i, std::int64_t j) { return u(i, j) * static_cast<double>(s[j]); };
  require_product(scaled, vh, a, n, n, n, what);
}

void svd(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const Numbers values = bench::numbers(n * n, 1, 1);
  const Tensor a = matrix_of(values, n, n);
  const auto [u, s, vh] = linalg::svd(a);
  require_factors(by_rows(u.data(), n), s.data(), by_rows(vh.data(), n), by_rows(values.data(), n), n, "svd/twill");
  for (auto _ : state) {
    const auto factors = linalg::svd(a);
    benchmark::DoNotOptimize(&factors);
  }
}
void svd_by_lapack(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const int extent = static_cast<int>(n);
  const Numbers values = bench::numbers(n * n, 1, 1);
  Numbers a, u(values.size()), s(static_cast<std::size_t>(n)), vt(values.size()), work(1);
  std::vector<int> integers(static_cast<std::size_t>(8 * n));
  const auto call = [&](int length) {
    int info = 0;
    a = values;
    sgesdd_("S", &extent, &extent, a.data(), &extent, s.data(), u.data(), &extent, vt.data(), &extent, work.data(),
            &length, integers.data(), &info, 1);
  };
  call(-1);
  work.resize(static_cast<std::size_t>(work[0]));
  const auto run = [&] { call(static_cast<int>(work.size())); };
  run();
  require_factors(by_columns(u.data(), n), s.data(), by_columns(vt.data(), n), by_columns(values.data(), n), n,
                  "svd/reference");
  for (auto _ : state) run();
}

#if defined(TWILL_BENCH_EIGEN)
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic>;
Matrix eigen_of(const Numbers& values, std::int64_t rows, std::int64_t columns) {
  return Eigen::Map<const Matrix>(values.data(), rows, columns);
}

void solve_by_eigen(benchmark::State& state) {
  const System o{state.range(0)};
  const Matrix a = eigen_of(o.a, o.n, o.n), b = eigen_of(o.b, o.n, sides);
  Matrix x = a.partialPivLu().solve(b);
  require_product(by_columns(o.a.data(), o.n), by_columns(x.data(), o.n), by_columns(o.b.data(), o.n), o.n, o.n, sides,
                  "solve/eigen");
  for (auto _ : state) {
    x = a.partialPivLu().solve(b);
    benchmark::DoNotOptimize(x.data());
  }
}
void cholesky_by_eigen(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const Numbers values = positive(n);
  const Matrix a = eigen_of(values, n, n);
  Matrix l = a.llt().matrixL();
  require_product(by_columns(l.data(), n), by_rows(l.data(), n), by_rows(values.data(), n), n, n, n, "cholesky/eigen");
  for (auto _ : state) {
    l = a.llt().matrixL();
    benchmark::DoNotOptimize(l.data());
  }
}
void svd_by_eigen(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const Numbers values = bench::numbers(n * n, 1, 1);
  const Matrix a = eigen_of(values, n, n);
  const auto decompose = [&] { return Eigen::BDCSVD<Matrix>{a, Eigen::ComputeThinU | Eigen::ComputeThinV}; };
  const auto found = decompose();
  require_factors(by_columns(found.matrixU().data(), n), found.singularValues().data(),
                  by_rows(found.matrixV().data(), n), by_columns(values.data(), n), n, "svd/eigen");
  for (auto _ : state) {
    const auto factors = decompose();
    benchmark::DoNotOptimize(factors.singularValues().data());
  }
}
BENCHMARK(solve_by_eigen)->Name("solve/eigen")->Arg(64)->Arg(512);
BENCHMARK(cholesky_by_eigen)->Name("cholesky/eigen")->Arg(64)->Arg(512);
BENCHMARK(svd_by_eigen)->Name("svd/eigen")->Arg(64)->Arg(512);
#endif

BENCHMARK(solve)->Name("solve/twill")->Arg(64)->Arg(512);
BENCHMARK(solve_by_lapack)->Name("solve/reference")->Arg(64)->Arg(512);
BENCHMARK(cholesky)->Name("cholesky/twill")->Arg(64)->Arg(512);
BENCHMARK(cholesky_by_lapack)->Name("cholesky/reference")->Arg(64)->Arg(512);
BENCHMARK(svd)->Name("svd/twill")->Arg(64)->Arg(512);
BENCHMARK(svd_by_lapack)->Name("svd/reference")->Arg(64)->Arg(512);

} // namespace

BENCHMARK_MAIN();
