// SPDX-License-Identifier: Apache-2.0
//
// The workloads of data preparation and of transformers as a user writes them, on one host device of one thread or of two
// (BENCH_THREADS), beside hand-written code on as many threads. Names end with the number of threads.

#include "bench/kernel/ceiling.hpp"
#include "bench/support/check.hpp"
#include "bench/support/halves.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <span>

#if defined(TWILL_BENCH_EIGEN)
#include <Eigen/Core>
#include <unsupported/Eigen/SpecialFunctions>
#endif

using namespace twill;

namespace {

constexpr int threads = BENCH_THREADS;

auto vector_of(float* values, std::int64_t n) {
  return from_values(std::span{static_cast<const float*>(values), static_cast<std::size_t>(n)}, Dims(n));
}
auto matrix_of(float* values, std::int64_t rows, std::int64_t columns) {
  return from_values<Shape<dyn, dyn>>(
      std::span{static_cast<const float*>(values), static_cast<std::size_t>(rows * columns)}, Dims(rows, columns));
}

struct Chain {
  std::int64_t n;
  bench::Array a{n, 0}, b{n, 1}, c{n, 2}, d{n, 3}, y{n, 4};
};

void chain(benchmark::State& state) {
  Chain o{state.range(0)};
  const Tensor a = vector_of(o.a, o.n), b = vector_of(o.b, o.n), c = vector_of(o.c, o.n), d = vector_of(o.d, o.n);
  Tensor y = vector_of(o.y, o.n);
  y = tanh(a * b + c) * d - 0.5 * a;
#if BENCH_HAS_REGISTERS
  ceiling::chain(o.a, o.b, o.c, o.d, o.y, o.n);
  bench::require_close(y.data(), o.y, o.n, 2e-6F, "expression");
#endif
  for (auto _ : state) {
    y = tanh(a * b + c) * d - 0.5 * a;
    benchmark::ClobberMemory();
  }
}

void axpy(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  bench::Array from{n, 0}, to{n, 1};
  const Tensor x = vector_of(from, n);
  Tensor y = vector_of(to, n);
  y += 0.25 * x;
#if BENCH_HAS_REGISTERS
  ceiling::axpy(0.25F, from, to, n);
  bench::require_close(y.data(), to, n, 1e-6F, "axpy");
#endif
  for (auto _ : state) {
    y += 1e-9 * x;
    benchmark::ClobberMemory();
  }
}

void total(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  bench::Array from{n, 0};
  const Tensor x = vector_of(from, n);
#if BENCH_HAS_REGISTERS
  const float expected = static_cast<float>(ceiling::sum(from, n));
  const float found = sum(x).item();
  bench::require_close(&found, &expected, 1, 1e-8F * static_cast<float>(n), "sum"); // the terms nearly cancel
#endif
  for (auto _ : state) benchmark::DoNotOptimize(sum(x).item());
}

constexpr std::int64_t rows = 1024;
constexpr std::int64_t columns = 1024;

struct Rows {
  bench::Array x{rows * columns}, scale{columns, 1}, shift{columns, 2}, y{rows * columns};
};

template <class F, class Reference>
void by_rows(benchmark::State& state, const char* name, F f, [[maybe_unused]] Reference reference) {
  Rows o;
  const Tensor x = matrix_of(o.x, rows, columns);
  const Tensor scale = vector_of(o.scale, columns), shift = vector_of(o.shift, columns);
  Tensor y = matrix_of(o.y, rows, columns);
  f(y, x, scale, shift);
#if BENCH_HAS_REGISTERS
  for (std::int64_t i = 0; i < rows; ++i) reference(o, i);
  bench::require_close(y.data(), o.y, rows * columns, 5e-6F, name);
#endif
  for (auto _ : state) {
    f(y, x, scale, shift);
    benchmark::ClobberMemory();
  }
}

#if BENCH_HAS_REGISTERS
constexpr auto softmax_row = [](Rows& o, std::int64_t i) {
  ceiling::softmax_row(o.x + i * columns, o.y + i * columns, columns);
};
constexpr auto layer_norm_row = [](Rows& o, std::int64_t i) {
  ceiling::layer_norm_row(o.x + i * columns, o.scale, o.shift, o.y + i * columns, columns);
};
constexpr auto bias_gelu_row = [](Rows& o, std::int64_t i) {
  ceiling::bias_gelu_row(o.x + i * columns, o.shift, o.y + i * columns, columns);
};

template <class Row> void reference_rows(benchmark::State& state, Row row) {
  bench::Halves halves{threads};
  Rows o;
  for (auto _ : state) {
    halves.run(rows, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) row(o, i);
    });
    benchmark::ClobberMemory();
  }
}
void reference_chain(benchmark::State& state) {
  bench::Halves halves{threads};
  Chain o{state.range(0)};
  for (auto _ : state) {
    halves.run(o.n, 16, [&](std::int64_t begin, std::int64_t end) {
      ceiling::chain(o.a + begin, o.b + begin, o.c + begin, o.d + begin, o.y + begin, end - begin, o.n);
    });
    benchmark::ClobberMemory();
  }
}
void reference_axpy(benchmark::State& state) {
  bench::Halves halves{threads};
  const std::int64_t n = state.range(0);
  bench::Array from{n, 0}, to{n, 1};
  for (auto _ : state) {
    halves.run(n, 16, [&](std::int64_t begin, std::int64_t end) {
      ceiling::axpy(1e-9F, from + begin, to + begin, end - begin);
    });
    benchmark::ClobberMemory();
  }
}
void reference_total(benchmark::State& state) {
  bench::Halves halves{threads};
  const std::int64_t n = state.range(0);
  bench::Array from{n, 0};
  for (auto _ : state) {
    double parts[2] = {0, 0};
    halves.run(n, 16384, [&](std::int64_t begin, std::int64_t end) {
      parts[begin == 0 ? 0 : 1] = ceiling::sum(from + begin, end - begin);
    });
    benchmark::DoNotOptimize(parts[0] + parts[1]);
  }
}
#else
constexpr auto softmax_row = [](Rows&, std::int64_t) {};
constexpr auto layer_norm_row = softmax_row;
constexpr auto bias_gelu_row = softmax_row;
#endif

#if defined(TWILL_BENCH_EIGEN)
using Map = Eigen::Map<Eigen::ArrayXf, Eigen::Aligned64>;
void eigen_axpy(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  bench::Array from{n, 0}, to{n, 1};
  const Map x{from, n};
  Map y{to, n};
  for (auto _ : state) {
    y += 1e-9F * x;
    benchmark::ClobberMemory();
  }
}
void eigen_total(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  bench::Array from{n, 0};
  const Map x{from, n};
  for (auto _ : state) benchmark::DoNotOptimize(x.sum());
}
using MatrixMap = Eigen::Map<Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, Eigen::Aligned64>;
void eigen_bias_gelu(benchmark::State& state) {
  Rows o;
  const MatrixMap x{o.x, rows, columns};
  const Map shift{o.shift, columns};
  MatrixMap y{o.y, rows, columns};
  for (auto _ : state) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto v = x.row(i).transpose() + shift;
      y.row(i) = (v * 0.5F * (1.0F + (v * 0.70710678F).erf())).transpose();
    }
    benchmark::ClobberMemory();
  }
}
void eigen_softmax(benchmark::State& state) {
  Rows o;
  const MatrixMap x{o.x, rows, columns};
  MatrixMap y{o.y, rows, columns};
  for (auto _ : state) {
    y = (x.colwise() - x.rowwise().maxCoeff()).exp();
    y.colwise() *= y.rowwise().sum().inverse();
    benchmark::ClobberMemory();
  }
}
#endif

void add(const char* name, void (*run)(benchmark::State&), std::initializer_list<std::int64_t> sizes) {
  for (const std::int64_t n : sizes) benchmark::RegisterBenchmark(name, run)->Args({n, threads});
}
template <class F> void add(const char* name, F run) {
  benchmark::RegisterBenchmark(name, [run](benchmark::State& state) { run(state); })->Arg(threads);
}

} // namespace

int main(int argc, char** argv) {
  configure_host({.devices = 1, .threads_per_device = threads});
  if (threads > 1) add("expression/twill", chain, {1'000, 100'000, 10'000'000}); // alone: chain.bench.cpp, with peers
  add("axpy/twill", axpy, {100'000, 10'000'000});
  add("sum/twill", total, {131'072, 10'485'760});
  add("row_softmax/twill", [](benchmark::State& state) {
    by_rows(
        state, "softmax", [](auto& y, auto& x, auto&, auto&) { y = softmax(x); }, softmax_row);
  });
  add("row_layer_norm/twill", [](benchmark::State& state) {
    by_rows(
        state, "layer norm", [](auto& y, auto& x, auto& scale, auto& shift) { y = layer_norm(x) * scale + shift; },
        layer_norm_row);
  });
  add("bias_gelu/twill", [](benchmark::State& state) {
    by_rows(
        state, "bias and gelu", [](auto& y, auto& x, auto&, auto& shift) { y = gelu(x + shift); }, bias_gelu_row);
  });
#if BENCH_HAS_REGISTERS
  if (threads > 1) add("expression/reference", reference_chain, {1'000, 100'000, 10'000'000});
  add("axpy/reference", reference_axpy, {100'000, 10'000'000});
  add("sum/reference", reference_total, {131'072, 10'485'760});
  add("row_softmax/reference", [](benchmark::State& state) { reference_rows(state, softmax_row); });
  add("row_layer_norm/reference", [](benchmark::State& state) { reference_rows(state, layer_norm_row); });
  add("bias_gelu/reference", [](benchmark::State& state) { reference_rows(state, bias_gelu_row); });
#endif
#if defined(TWILL_BENCH_EIGEN)
  if (threads == 1) {
    add("axpy/eigen", eigen_axpy, {100'000, 10'000'000});
    add("sum/eigen", eigen_total, {131'072, 10'485'760});
    add("bias_gelu/eigen", eigen_bias_gelu);
    add("row_softmax/eigen", eigen_softmax);
  }
#endif
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
