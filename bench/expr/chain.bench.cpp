// SPDX-License-Identifier: Apache-2.0
//
// tanh(a*b + c)*d - 0.5*a as a user writes it with tensors, beside hand-written code and the expression templates
// that are installed. Equal to the reference within 2e-6; Eigen's own tanh within 1e-5.

#include "bench/kernel/ceiling.hpp"
#include "bench/support/check.hpp"

#include <twill/expr.hpp>
#include <twill/tensor/create.hpp>

#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#if defined(TWILL_BENCH_EIGEN)
#include <Eigen/Core>
#endif
#if defined(TWILL_BENCH_XTENSOR)
#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#endif

using namespace twill;

namespace {

struct Operands {
  explicit Operands(std::int64_t size) : n{size}, a{n, 0}, b{n, 1}, c{n, 2}, d{n, 3}, y{n, 4}, expected{n} {
#if BENCH_HAS_REGISTERS
    ceiling::chain(a, b, c, d, expected, n);
#endif
  }
  void check([[maybe_unused]] const float* result, [[maybe_unused]] float tolerance, [[maybe_unused]] const char* who) {
#if BENCH_HAS_REGISTERS
    bench::require_close(result, expected, n, tolerance, who);
#endif
  }
  std::int64_t n;
  bench::Array a, b, c, d, y, expected;
};

#if BENCH_HAS_REGISTERS
void reference(benchmark::State& state) {
  Operands o{state.range(0)};
  for (auto _ : state) {
    ceiling::chain(o.a, o.b, o.c, o.d, o.y, o.n);
    benchmark::ClobberMemory();
  }
}
#endif

void with_tensors(benchmark::State& state) {
  Operands o{state.range(0)};
  const Cpu device{0};
  const auto from = [&](const float* values) {
    return from_values(std::span{values, static_cast<std::size_t>(o.n)}, Dims(o.n), device);
  };
  const Tensor a = from(o.a), b = from(o.b), c = from(o.c), d = from(o.d);
  Tensor y = from(o.y);
  y = tanh(a * b + c) * d - 0.5 * a;
  o.check(y.data(), 2e-6F, "expression/twill");
  for (auto _ : state) {
    y = tanh(a * b + c) * d - 0.5 * a;
    benchmark::ClobberMemory();
  }
}

#if defined(TWILL_BENCH_EIGEN)
void with_eigen(benchmark::State& state) {
  Operands o{state.range(0)};
  using Map = Eigen::Map<Eigen::ArrayXf, Eigen::Aligned64>;
  const Map a{o.a, o.n}, b{o.b, o.n}, c{o.c, o.n}, d{o.d, o.n};
  Map y{o.y, o.n};
  y = (a * b + c).tanh() * d - 0.5F * a;
  o.check(y.data(), 1e-5F, "expression/eigen");
  for (auto _ : state) {
    y = (a * b + c).tanh() * d - 0.5F * a;
    benchmark::ClobberMemory();
  }
}
#endif

#if defined(TWILL_BENCH_XTENSOR)
void with_xtensor(benchmark::State& state) {
  Operands o{state.range(0)};
  const auto adapt = [&](float* values) {
    return xt::adapt(values, static_cast<std::size_t>(o.n), xt::no_ownership(),
                     std::array<std::size_t, 1>{static_cast<std::size_t>(o.n)});
  };
  auto a = adapt(o.a), b = adapt(o.b), c = adapt(o.c), d = adapt(o.d), y = adapt(o.y);
  xt::noalias(y) = xt::tanh(a * b + c) * d - 0.5F * a;
  o.check(y.data(), 1e-5F, "expression/xtensor");
  for (auto _ : state) {
    xt::noalias(y) = xt::tanh(a * b + c) * d - 0.5F * a;
    benchmark::ClobberMemory();
  }
}
#endif

} // namespace

#if BENCH_HAS_REGISTERS
BENCHMARK(reference)->Name("expression/reference")->Arg(1'000)->Arg(100'000)->Arg(10'000'000);
#endif
BENCHMARK(with_tensors)->Name("expression/twill")->Arg(1'000)->Arg(100'000)->Arg(10'000'000);
#if defined(TWILL_BENCH_EIGEN)
BENCHMARK(with_eigen)->Name("expression/eigen")->Arg(1'000)->Arg(100'000)->Arg(10'000'000);
#endif
#if defined(TWILL_BENCH_XTENSOR)
BENCHMARK(with_xtensor)->Name("expression/xtensor")->Arg(1'000)->Arg(100'000)->Arg(10'000'000);
#endif

BENCHMARK_MAIN();
