// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms of one vector, complex64 and float32, in one thread: powers of two and a prime, 10,007. Peers are those in
// Python and Eigen's; spectra are compared with sums in double at eight frequencies before they are timed.

#include "bench/support/check.hpp"

#include <twill/fft.hpp>
#include <twill/tensor.hpp>

#include <benchmark/benchmark.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#if defined(TWILL_BENCH_EIGEN)
#include <unsupported/Eigen/FFT>
#endif

using namespace twill;

namespace {

using Complex = std::complex<float>;

std::vector<Complex> signal(std::int64_t n) {
  const std::vector<float> parts = bench::numbers(2 * n, 1, 5);
  std::vector<Complex> values;
  for (std::size_t i = 0; i < parts.size(); i += 2) values.emplace_back(parts[i], parts[i + 1]);
  return values;
}
std::vector<Complex> real_signal(std::int64_t n) {
  std::vector<Complex> values;
  for (const float value : bench::numbers(n, 1, 5)) values.emplace_back(value);
  return values;
}

/// Ends the program unless the spectrum at eight frequencies below `end` is that of the signal.
void require_spectrum(auto spectrum, const std::vector<Complex>& from, std::size_t end, const char* what) {
  std::vector<float> found;
  std::vector<float> expected;
  const auto n = static_cast<double>(from.size());
  const double scale = std::sqrt(n); // about the size of a sum of so many numbers
  for (std::size_t k = 1; k < end; k += end / 8) {
    std::complex<double> sum{};
    for (std::size_t i = 0; i < from.size(); ++i) {
      const double turn = std::fmod(static_cast<double>(i) * static_cast<double>(k), n) / n;
      sum += std::complex<double>{from[i]} * std::polar(1.0, -2 * std::numbers::pi * turn);
    }
    const Complex value = spectrum(k);
    found.insert(found.end(), {value.real() / static_cast<float>(scale), value.imag() / static_cast<float>(scale)});
    expected.insert(expected.end(), {static_cast<float>(sum.real() / scale), static_cast<float>(sum.imag() / scale)});
  }
  bench::require_close(found, expected, 1e-5F, what);
}

/// Element k of a tensor of complex numbers.
auto elements_of(const auto& spectrum) {
  return [&spectrum](std::size_t k) { return Complex{spectrum.data()[k].re, spectrum.data()[k].im}; };
}

void fft_of_complex(benchmark::State& state) {
  const auto values = signal(state.range(0));
  std::vector<complex64> ours;
  for (const Complex& value : values) ours.emplace_back(value.real(), value.imag());
  const Tensor x = from_values(std::span{std::as_const(ours)}, Dims(state.range(0)));
  const Tensor spectrum = fft::fft(x);
  require_spectrum(elements_of(spectrum), values, values.size(), "fft/twill");
  for (auto _ : state) benchmark::DoNotOptimize(fft::fft(x).data());
}
void fft_of_reals(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const std::vector<float> values = bench::numbers(n, 1, 5);
  const Tensor x = from_values(std::span{values}, Dims(n));
  const Tensor spectrum = fft::rfft(x);
  require_spectrum(elements_of(spectrum), real_signal(n), values.size() / 2 + 1, "rfft/twill");
  for (auto _ : state) benchmark::DoNotOptimize(fft::rfft(x).data());
}

#if defined(TWILL_BENCH_EIGEN)
void fft_by_eigen(benchmark::State& state) {
  const auto values = signal(state.range(0));
  Eigen::FFT<float> transforms; // keeps its roots
  std::vector<Complex> spectrum;
  transforms.fwd(spectrum, values);
  require_spectrum([&](std::size_t k) { return spectrum[k]; }, values, values.size(), "fft/eigen");
  for (auto _ : state) {
    transforms.fwd(spectrum, values);
    benchmark::DoNotOptimize(spectrum.data());
  }
}
#endif

void lengths(benchmark::internal::Benchmark* benchmark) {
  for (const std::int64_t n : {1 << 10, 1 << 15, 1 << 20, 10'007}) benchmark->Arg(n);
}
BENCHMARK(fft_of_complex)->Name("fft/twill")->Apply(lengths);
BENCHMARK(fft_of_reals)->Name("rfft/twill")->Apply(lengths);
#if defined(TWILL_BENCH_EIGEN)
BENCHMARK(fft_by_eigen)->Name("fft/eigen")->Arg(1 << 10)->Arg(1 << 15)->Arg(1 << 20);
#endif

} // namespace

BENCHMARK_MAIN();
