// SPDX-License-Identifier: Apache-2.0
//
// What the machine can do at most, in the same run as everything else, so that results are also shares of what binds them
// (tools/roofline.py): the triad a = b + s * c over working sets from the first cache to memory, streaming its output where no
// cache keeps it, and multiply-adds in registers. On one thread and on two. Sizes are bytes/threads and operations/threads.

#include "bench/support/check.hpp"
#include "bench/support/halves.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <thread>
#include <vector>

#if defined(__SSE__)
#include <immintrin.h>
#endif

namespace {

#if defined(__AVX512F__)
constexpr int width = 16;
#elif defined(__AVX__)
constexpr int width = 8;
#else
constexpr int width = 4;
#endif
using Vector [[gnu::vector_size(width * 4), gnu::may_alias]] = float;

inline void stream(float* to, Vector x) {
#if defined(__AVX512F__)
  _mm512_stream_ps(to, reinterpret_cast<__m512>(x));
#elif defined(__AVX__)
  _mm256_stream_ps(to, reinterpret_cast<__m256>(x));
#elif defined(__SSE__)
  _mm_stream_ps(to, reinterpret_cast<__m128>(x));
#else
  *reinterpret_cast<Vector*>(to) = x;
#endif
}

constexpr float factor = 0.5F;

/// a = b + factor * c; n a multiple of 64.
template <bool Streams> void triad(float* a, const float* b, const float* c, std::int64_t n) {
#pragma GCC unroll 4
  for (std::int64_t i = 0; i < n; i += width) {
    const Vector sum = *reinterpret_cast<const Vector*>(b + i) + factor * *reinterpret_cast<const Vector*>(c + i);
    if constexpr (Streams)
      stream(a + i, sum);
    else
      *reinterpret_cast<Vector*>(a + i) = sum;
  }
#if defined(__SSE__)
  if constexpr (Streams) _mm_sfence();
#endif
}

void bandwidth(benchmark::State& state) {
  const std::int64_t n = state.range(0) / 12;
  bench::Halves halves{static_cast<int>(state.range(1))};
  bench::Array a{n}, b{n, 1}, c{n, 2};
  const bool streams = n * 4 >= (8 << 20);
  const auto once = [&] {
    halves.run(n, 64, [&](std::int64_t begin, std::int64_t end) {
      (streams ? triad<true> : triad<false>)(a + begin, b + begin, c + begin, end - begin);
    });
  };
  once();
  std::vector<float> expected(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) expected[static_cast<std::size_t>(i)] = b[i] + factor * c[i];
  bench::require_close(a, expected.data(), n, 1e-6F, "bandwidth/triad");
  for (auto _ : state) {
    once();
    benchmark::ClobberMemory();
  }
}

constexpr int chains = 12; ///< that do not wait for each other: enough for two units of four cycles each

/// x = x / 2 + 1 in every lane, so many times.
Vector halve_and_add(std::int64_t times) {
  Vector x[chains];
  for (int k = 0; k < chains; ++k) x[k] = Vector{} + static_cast<float>(k);
  Vector half = Vector{} + factor, one = Vector{} + 1.0F;
  benchmark::DoNotOptimize(half);
  benchmark::DoNotOptimize(one);
  for (std::int64_t i = 0; i < times; ++i)
#pragma GCC unroll 12
    for (int k = 0; k < chains; ++k) x[k] = x[k] * half + one;
  for (int k = 1; k < chains; ++k) x[0] += x[k];
  return x[0];
}

void arithmetic(benchmark::State& state) {
  bench::Halves halves{static_cast<int>(state.range(1))};
  const std::int64_t times = state.range(0) / (2 * chains * width); // of both threads together
  Vector results[2] = {};
  const auto once = [&] {
    halves.run(times, 1,
               [&](std::int64_t begin, std::int64_t end) { results[begin == 0 ? 0 : 1] = halve_and_add(end - begin); });
  };
  once();
  for (int thread = 0; thread < state.range(1); ++thread)
    for (int lane = 0; lane < width; ++lane) { // the limit of each chain is 2
      const float found = results[thread][lane], expected = 2.0F * chains;
      bench::require_close(&found, &expected, 1, 1e-6F, "arithmetic/multiply_add");
    }
  for (auto _ : state) {
    once();
    benchmark::DoNotOptimize(results);
  }
}

} // namespace

int main(int count, char** arguments) {
  const int most = std::thread::hardware_concurrency() > 1 ? 2 : 1;
  for (int threads = 1; threads <= most; ++threads) {
    for (const std::int64_t bytes : {24 << 10, 384 << 10, 3 << 20, 24 << 20, 192 << 20})
      benchmark::RegisterBenchmark("bandwidth/triad", bandwidth)->Args({bytes, threads})->UseRealTime();
    benchmark::RegisterBenchmark("arithmetic/multiply_add", arithmetic)
        ->Args({std::int64_t{384} << 16, threads})
        ->UseRealTime();
  }
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
