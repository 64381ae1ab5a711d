// SPDX-License-Identifier: Apache-2.0
//
// Copies of tensors, on one thread: a tensor over another (beside memcpy, and beside loads with streaming stores where no cache
// keeps the target), a matrix over a transposed one (beside a transposition in blocks), a new tensor on another host device
// (beside malloc, memcpy and free). Sizes are bytes, of the transposition rows. Every result is compared first.

#include "bench/kernel/registers.hpp"
#include "bench/support/check.hpp"

#include <twill/tensor.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#if defined(TWILL_BENCH_EIGEN)
#include <Eigen/Core>
#endif

using namespace twill;

namespace {

using Vector = Tensor<float, Cpu, Shape<dyn>>;
using Matrix = Tensor<float, Cpu, Shape<dyn, dyn>>;

Vector vector_of(std::int64_t n, std::int64_t salt) {
  bench::Array values{n, salt};
  Vector x(Cpu{0}, Dims(n));
  std::copy_n(static_cast<float*>(values), n, x.data());
  return x;
}

void by_twill(benchmark::State& state) {
  const std::int64_t n = state.range(0) / 4;
  const Vector from = vector_of(n, 0), to = vector_of(n, 1);
  to.copy_from(from);
  bench::require_close(to.data(), from.data(), n, 0, "copy/twill");
  for (auto _ : state) {
    to.copy_from(from);
    benchmark::ClobberMemory();
  }
}

void by_memcpy(benchmark::State& state) {
  const std::int64_t n = state.range(0) / 4;
  bench::Array from{n, 0}, to{n, 1};
  for (auto _ : state) {
    std::memcpy(static_cast<float*>(to), static_cast<float*>(from), static_cast<std::size_t>(state.range(0)));
    benchmark::ClobberMemory();
  }
}

#if BENCH_HAS_REGISTERS
void by_streaming(benchmark::State& state) {
  const std::int64_t n = state.range(0) / 4;
  bench::Array source{n, 0}, target{n, 1};
  const float* const from = source;
  float* const to = target;
  const auto copy = [&] {
    for (std::int64_t i = 0; i < n; i += ceiling::width) ceiling::stream(to + i, ceiling::load(from + i));
    _mm_sfence();
  };
  copy();
  bench::require_close(to, from, n, 0, "copy/streaming");
  for (auto _ : state) {
    copy();
    benchmark::ClobberMemory();
  }
}
#endif

void to_another_device(benchmark::State& state) {
  const std::int64_t n = state.range(0) / 4;
  const Vector from = vector_of(n, 0);
  const Cpu other{device_count<Cpu>() > 1 ? 1 : 0};
  const auto copied = [&] {
    Vector to = from.to(other);
    synchronize(other);
    return to;
  };
  bench::require_close(copied().data(), from.data(), n, 0, "copy_to_device/twill");
  for (auto _ : state) benchmark::DoNotOptimize(copied().data());
}

void with_malloc(benchmark::State& state) {
  const std::int64_t n = state.range(0) / 4;
  bench::Array from{n, 0};
  for (auto _ : state) {
    void* const to = std::malloc(static_cast<std::size_t>(state.range(0)));
    std::memcpy(to, static_cast<float*>(from), static_cast<std::size_t>(state.range(0)));
    benchmark::DoNotOptimize(to);
    benchmark::ClobberMemory();
    std::free(to);
  }
}

Matrix matrix_of(std::int64_t n, std::int64_t salt) {
  bench::Array values{n * n, salt};
  Matrix x(Cpu{0}, Dims(n, n));
  std::copy_n(static_cast<float*>(values), n * n, x.data());
  return x;
}

/// Ends the program unless `to` is `from` transposed.
void require_transposed(const float* to, const float* from, std::int64_t n, const char* who) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) bench::require_close(to + i * n + j, from + j * n + i, 1, 0, who);
}

void transposed_by_twill(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const Matrix from = matrix_of(n, 0), to = matrix_of(n, 1);
  to.copy_from(from.transpose());
  require_transposed(to.data(), from.data(), n, "copy_transposed/twill");
  for (auto _ : state) {
    to.copy_from(from.transpose());
    benchmark::ClobberMemory();
  }
}

/// Blocks of 16 x 16, which are read and written in whole cache lines.
void transposed_in_blocks(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  constexpr std::int64_t block = 16;
  bench::Array source{n * n, 0}, target{n * n, 1};
  const float* const from = source;
  float* const to = target;
  const auto copy = [&] {
    for (std::int64_t i = 0; i < n; i += block)
      for (std::int64_t j = 0; j < n; j += block)
        for (std::int64_t k = 0; k < block; ++k)
          for (std::int64_t l = 0; l < block; ++l) to[(i + k) * n + j + l] = from[(j + l) * n + i + k];
  };
  copy();
  require_transposed(to, from, n, "copy_transposed/reference");
  for (auto _ : state) {
    copy();
    benchmark::ClobberMemory();
  }
}

#if defined(TWILL_BENCH_EIGEN)
void transposed_by_eigen(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  using Map = Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, Eigen::Aligned64>;
  bench::Array from{n * n, 0}, to{n * n, 1};
  const Map x{from, n, n};
  Map y{to, n, n};
  y.noalias() = x.transpose();
  require_transposed(to, from, n, "copy_transposed/eigen");
  for (auto _ : state) {
    y.noalias() = x.transpose();
    benchmark::ClobberMemory();
  }
}
#endif

} // namespace

int main(int count, char** arguments) {
  configure_host({.devices = host_cores() > 1 ? 2 : 1, .threads_per_device = 1});
  const auto add = [](const char* name, void (*run)(benchmark::State&), std::initializer_list<std::int64_t> sizes) {
    for (const std::int64_t size : sizes) benchmark::RegisterBenchmark(name, run)->Arg(size)->UseRealTime();
  };
  add("copy/twill", by_twill, {1 << 16, 1 << 20, 1 << 26});
  add("copy/reference", by_memcpy, {1 << 16, 1 << 20, 1 << 26});
#if BENCH_HAS_REGISTERS
  add("copy/streaming", by_streaming, {1 << 26});
#endif
  add("copy_to_device/twill", to_another_device, {1 << 16, 1 << 20, 1 << 26});
  add("copy_to_device/reference", with_malloc, {1 << 16, 1 << 20, 1 << 26});
  add("copy_transposed/twill", transposed_by_twill, {256, 1024, 4096});
  add("copy_transposed/reference", transposed_in_blocks, {256, 1024, 4096});
#if defined(TWILL_BENCH_EIGEN)
  add("copy_transposed/eigen", transposed_by_eigen, {256, 1024, 4096});
#endif
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
