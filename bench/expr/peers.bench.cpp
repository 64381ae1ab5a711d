// SPDX-License-Identifier: Apache-2.0
//
// The workloads of host.bench.cpp and product.bench.cpp, on one thread, with the expression templates that are installed and as
// their users write them: what of Eigen stands in no other file, and xtensor. In a process of its own, so that neither's
// headers are compiled with twill's; bench/run alternates the two. Equal to loops in double within 1e-5.

#include "bench/support/check.hpp"
#include "bench/support/plain.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(TWILL_BENCH_EIGEN)
#include <Eigen/Core>
#endif
#if defined(TWILL_BENCH_XTENSOR)
#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#endif

namespace {

constexpr std::int64_t rows = 1024;
constexpr std::int64_t columns = 1024;

struct Rows {
  bench::Array x{rows * columns}, scale{columns, 1}, shift{columns, 2}, y{rows * columns};
};

/// Checks and times f, which writes y.
template <class F>
void measure(benchmark::State& state, Rows& o, const std::vector<float>& expected, const char* who, F f) {
  f();
  bench::require_close(o.y, expected.data(), rows * columns, 1e-5F, who);
  for (auto _ : state) {
    f();
    benchmark::ClobberMemory();
  }
}

#if defined(TWILL_BENCH_EIGEN)
void eigen_layer_norm(benchmark::State& state) {
  using Matrix = Eigen::Map<Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, Eigen::Aligned64>;
  using Row = Eigen::Map<Eigen::Array<float, 1, Eigen::Dynamic>, Eigen::Aligned64>;
  Rows o;
  const Matrix x{o.x, rows, columns};
  const Row scale{o.scale, columns}, shift{o.shift, columns};
  Matrix y{o.y, rows, columns};
  measure(state, o, bench::plain::layer_norm(o.x, o.scale, o.shift, rows, columns), "row_layer_norm/eigen", [&] {
    for (std::int64_t i = 0; i < rows; ++i) {
      y.row(i) = x.row(i) - x.row(i).mean();
      y.row(i) = y.row(i) * (1.0F / std::sqrt(y.row(i).square().mean() + 1e-5F)) * scale + shift;
    }
  });
}

void eigen_product(benchmark::State& state) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const std::int64_t n = state.range(0);
  const auto numbers = [&](std::uint32_t seed) -> Matrix {
    const auto values = bench::numbers(n * n, 1, seed);
    return Eigen::Map<const Matrix>(values.data(), n, n);
  };
  const Matrix a = numbers(1), b = numbers(2);
  Matrix c{n, n};
  c.noalias() = a * b;
  for (std::int64_t i = 0; i < n; i += 61)
    for (std::int64_t j = 0; j < n; j += 53) {
      double sum = 0;
      for (std::int64_t k = 0; k < n; ++k) sum += static_cast<double>(a(i, k)) * static_cast<double>(b(k, j));
      const float expected = static_cast<float>(sum);
      bench::require_close(&c(i, j), &expected, 1, 1e-3F, "matrix_product/eigen");
    }
  for (auto _ : state) {
    c.noalias() = a * b;
    benchmark::ClobberMemory();
  }
}
#endif

#if defined(TWILL_BENCH_XTENSOR)
auto vector_over(float* values, std::int64_t n) {
  const auto size = static_cast<std::size_t>(n);
  return xt::adapt(values, size, xt::no_ownership(), std::array<std::size_t, 1>{size});
}
auto matrix_over(float* values) {
  constexpr std::size_t height = rows, width = columns;
  return xt::adapt(values, height * width, xt::no_ownership(), std::array<std::size_t, 2>{height, width});
}

void xtensor_axpy(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  bench::Array from{n, 0}, to{n, 1}, start{n, 1};
  auto x = vector_over(from, n), y = vector_over(to, n);
  xt::noalias(y) += 0.25F * x;
  for (std::int64_t i = 0; i < n; ++i) start[i] += 0.25F * from[i];
  bench::require_close(to, start, n, 1e-6F, "axpy/xtensor");
  for (auto _ : state) {
    xt::noalias(y) += 1e-9F * x;
    benchmark::ClobberMemory();
  }
}

void xtensor_sum(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  bench::Array from{n, 0};
  auto x = vector_over(from, n);
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(from[i]);
  const float expected = static_cast<float>(sum), found = xt::sum(x, xt::evaluation_strategy::immediate)();
  bench::require_close(&found, &expected, 1, 1e-7F * static_cast<float>(n), "sum/xtensor"); // the terms nearly cancel
  for (auto _ : state) benchmark::DoNotOptimize(xt::sum(x, xt::evaluation_strategy::immediate)());
}

void xtensor_softmax(benchmark::State& state) {
  Rows o;
  auto x = matrix_over(o.x), y = matrix_over(o.y);
  measure(state, o, bench::plain::softmax(o.x, rows, columns), "row_softmax/xtensor", [&] {
    const auto most = xt::eval(xt::amax(x, {1}, xt::keep_dims));
    xt::noalias(y) = xt::exp(x - most);
    const auto sums = xt::eval(xt::sum(y, {1}, xt::keep_dims));
    xt::noalias(y) = y / sums;
  });
}

void xtensor_layer_norm(benchmark::State& state) {
  Rows o;
  auto x = matrix_over(o.x), y = matrix_over(o.y);
  auto scale = vector_over(o.scale, columns), shift = vector_over(o.shift, columns);
  measure(state, o, bench::plain::layer_norm(o.x, o.scale, o.shift, rows, columns), "row_layer_norm/xtensor", [&] {
    const auto means = xt::eval(xt::sum(x, {1}, xt::keep_dims) * (1.0F / columns));
    xt::noalias(y) = x - means;
    const auto factors = xt::eval(1.0F / xt::sqrt(xt::sum(y * y, {1}, xt::keep_dims) * (1.0F / columns) + 1e-5F));
    xt::noalias(y) = y * factors * scale + shift;
  });
}

void xtensor_bias_gelu(benchmark::State& state) {
  Rows o;
  auto x = matrix_over(o.x), y = matrix_over(o.y);
  auto shift = vector_over(o.shift, columns);
  measure(state, o, bench::plain::bias_gelu(o.x, o.shift, rows, columns), "bias_gelu/xtensor",
          [&] { xt::noalias(y) = (x + shift) * 0.5F * (1.0F + xt::erf((x + shift) * 0.70710678F)); });
}
#endif

} // namespace

int main(int count, char** arguments) {
#if defined(TWILL_BENCH_EIGEN)
  benchmark::RegisterBenchmark("row_layer_norm/eigen", eigen_layer_norm)->Arg(1); // the number of threads
  for (const std::int64_t n : {64, 256, 1024})
    benchmark::RegisterBenchmark("matrix_product/eigen", eigen_product)->Args({n, 1})->UseRealTime();
#endif
#if defined(TWILL_BENCH_XTENSOR)
  for (const std::int64_t n : {100'000, 10'000'000})
    benchmark::RegisterBenchmark("axpy/xtensor", xtensor_axpy)->Args({n, 1});
  for (const std::int64_t n : {131'072, 10'485'760})
    benchmark::RegisterBenchmark("sum/xtensor", xtensor_sum)->Args({n, 1});
  benchmark::RegisterBenchmark("row_softmax/xtensor", xtensor_softmax)->Arg(1);
  benchmark::RegisterBenchmark("row_layer_norm/xtensor", xtensor_layer_norm)->Arg(1);
  benchmark::RegisterBenchmark("bias_gelu/xtensor", xtensor_bias_gelu)->Arg(1);
#endif
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
