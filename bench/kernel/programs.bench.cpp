// SPDX-License-Identifier: Apache-2.0
//
// Fused programs beside hand-written code, alternating in one process. Each pair is checked before it is timed.

#include "bench/kernel/ceiling.hpp"

#include <twill/kernel/run.hpp>

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

using namespace twill;
using namespace twill::kernel;

namespace {

using enum twill::kernel::Primitive;
using X = In<float, Access::contiguous>;
using Chain = Program<X, X, X, X, Step<fma, 0, 1, 2>, Step<Primitive::tanh, 4>, Immediate<float>, Step<multiply, 6, 0>,
                      Step<negate, 7>, Step<fma, 5, 3, 8>, Out<float, 9>>;
using Softmax = Program<X, Reduce<Reduction::max, 0>, Step<subtract, 0, 1>, Step<Primitive::exp, 2>,
                        Reduce<Reduction::sum, 3>, Step<divide, 3, 4>, Out<float, 5>>;
using LayerNorm = Program<X, X, X, Immediate<float>, Immediate<float>, Reduce<Reduction::sum, 0>, Step<multiply, 5, 3>,
                          Step<subtract, 0, 6>, Step<square, 7>, Reduce<Reduction::sum, 8>, Step<fma, 9, 3, 4>,
                          Step<rsqrt, 10>, Step<multiply, 7, 11>, Step<fma, 12, 1, 2>, Out<float, 13>>;

struct Alone {
  [[nodiscard]] int size() const { return 1; }
  template <class F> void parallel(F f) const { f(0, 1); }
};

/// Aligned memory with values between -2 and 2.
class Array {
public:
  explicit Array(std::int64_t n)
      : data_{static_cast<float*>(::operator new (static_cast<std::size_t>(n) * 4, std::align_val_t{64}))} {
    for (std::int64_t i = 0; i < n; ++i) data_.get()[i] = static_cast<float>((i * 7919) % 4001) / 1000.0F - 2.0F;
  }
  operator float*() { return data_.get(); }

private:
  struct Release {
    void operator()(float* memory) const { ::operator delete (memory, std::align_val_t{64}); }
  };
  std::unique_ptr<float, Release> data_;
};

std::uint64_t bits(float value) { return __builtin_bit_cast(std::uint32_t, value); }

void require_equal(float* a, float* b, std::int64_t n, const char* what) {
  for (std::int64_t i = 0; i < n; ++i)
    if (!(std::abs(a[i] - b[i]) <= 2e-6F * std::max(1.0F, std::abs(b[i])))) {
      std::fprintf(stderr, "%s: element %ld is %g, the ceiling has %g\n", what, static_cast<long>(i),
                   static_cast<double>(a[i]), static_cast<double>(b[i]));
      std::exit(1);
    }
}

enum class Who { reference, twill };

template <Who W> void chain(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  Array a{n}, b{n}, c{n}, d{n}, y{n};
  const Operand operands[] = {{a, 0, {1}}, {b, 0, {1}}, {c, 0, {1}}, {d, 0, {1}}, {nullptr, bits(0.5F), {}},
                              {y, 0, {1}}};
#if BENCH_HAS_REGISTERS
  Array expected{n};
  ceiling::chain(a, b, c, d, expected, n);
  run(Chain{}, Alone{}, Dims(n), operands);
  require_equal(y, expected, n, "chain");
#endif
  for (auto _ : state) {
    if constexpr (W == Who::twill) run(Chain{}, Alone{}, Dims(n), operands);
#if BENCH_HAS_REGISTERS
    else
      ceiling::chain(a, b, c, d, y, n);
#endif
    benchmark::ClobberMemory();
  }
}

template <Who W> void softmax(benchmark::State& state) {
  const std::int64_t n = 1024;
  Array x{n * n}, y{n * n};
  const Operand operands[] = {{x, 0, {n, 1}}, {y, 0, {n, 1}}};
#if BENCH_HAS_REGISTERS
  Array expected{n * n};
  for (std::int64_t i = 0; i < n; ++i) ceiling::softmax_row(x + i * n, expected + i * n, n);
  run(Softmax{}, Alone{}, Dims(n, n), operands);
  require_equal(y, expected, n * n, "softmax");
#endif
  for (auto _ : state) {
    if constexpr (W == Who::twill) run(Softmax{}, Alone{}, Dims(n, n), operands);
#if BENCH_HAS_REGISTERS
    else
      for (std::int64_t i = 0; i < n; ++i) ceiling::softmax_row(x + i * n, y + i * n, n);
#endif
    benchmark::ClobberMemory();
  }
}

template <Who W> void layer_norm(benchmark::State& state) {
  const std::int64_t n = 1024;
  Array x{n * n}, scale{n}, shift{n}, y{n * n};
  const Operand operands[] = {{x, 0, {n, 1}},
                              {scale, 0, {0, 1}},
                              {shift, 0, {0, 1}},
                              {nullptr, bits(1.0F / 1024), {}},
                              {nullptr, bits(1e-5F), {}},
                              {y, 0, {n, 1}}};
#if BENCH_HAS_REGISTERS
  Array expected{n * n};
  for (std::int64_t i = 0; i < n; ++i) ceiling::layer_norm_row(x + i * n, scale, shift, expected + i * n, n);
  run(LayerNorm{}, Alone{}, Dims(n, n), operands);
  require_equal(y, expected, n * n, "layer norm");
#endif
  for (auto _ : state) {
    if constexpr (W == Who::twill) run(LayerNorm{}, Alone{}, Dims(n, n), operands);
#if BENCH_HAS_REGISTERS
    else
      for (std::int64_t i = 0; i < n; ++i) ceiling::layer_norm_row(x + i * n, scale, shift, y + i * n, n);
#endif
    benchmark::ClobberMemory();
  }
}

} // namespace

#if BENCH_HAS_REGISTERS
BENCHMARK(chain<Who::reference>)->Name("chain/reference")->Arg(16)->Arg(1'000)->Arg(100'000)->Arg(10'000'000);
BENCHMARK(softmax<Who::reference>)->Name("softmax/reference");
BENCHMARK(layer_norm<Who::reference>)->Name("layer_norm/reference");
#endif
BENCHMARK(chain<Who::twill>)->Name("chain/twill")->Arg(16)->Arg(1'000)->Arg(100'000)->Arg(10'000'000);
BENCHMARK(softmax<Who::twill>)->Name("softmax/twill");
BENCHMARK(layer_norm<Who::twill>)->Name("layer_norm/twill");

BENCHMARK_MAIN();
