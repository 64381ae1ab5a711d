// SPDX-License-Identifier: Apache-2.0
//
// bench_gpu_matx OUT.json: workloads of bench_gpu in MatX, as its users write them, under the same names and with the same
// bytes. In a program of its own, so that neither's headers are compiled with twill's. MatX has no erf and no gradients, so
// gelu, cross entropy and training steps are not among them. A result is compared with float64 on the host before it is
// timed. Ends with 4 where there is no GPU.

#include "bench/gpu/timing.cuh"
#include "bench/support/check.hpp"

#include <matx.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using matx::index_t;
using matx::matxBf16;
using matx::matxKeepDim;

constexpr index_t checked = 100'000; ///< elements that are compared
constexpr index_t columns = 1024;

/// A tensor on the device with these numbers.
template <class T = float, int Rank> auto filled(const index_t (&shape)[Rank], const std::vector<float>& numbers) {
  auto tensor = matx::make_tensor<T>(shape, matx::MATX_DEVICE_MEMORY);
  const std::vector<T> values(numbers.begin(), numbers.end());
  bench::require(cudaMemcpy(tensor.Data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
                 "cudaMemcpy");
  return tensor;
}

/// Whether what a tensor begins with is close to what is expected.
template <class X> bool agrees(const X& found, const std::vector<double>& expected, double tolerance) {
  std::vector<typename X::value_type> front(expected.size());
  bench::require(cudaMemcpy(front.data(), found.Data(), front.size() * sizeof(front[0]), cudaMemcpyDeviceToHost),
                 "cudaMemcpy");
  for (std::size_t i = 0; i < front.size(); ++i)
    if (!(std::abs(static_cast<double>(front[i]) - expected[i]) <= tolerance * (1 + std::abs(expected[i]))))
      return false;
  return true;
}

void chains(bench::Report& report, matx::cudaExecutor& executor, index_t n) {
  const auto ha = bench::numbers(n, 1, 1), hb = bench::numbers(n, 1, 2);
  const auto hc = bench::numbers(n, 1, 3), hd = bench::numbers(n, 1, 4);
  const auto a = filled({n}, ha), b = filled({n}, hb), c = filled({n}, hc), d = filled({n}, hd);
  auto y = matx::make_tensor<float>({n}, matx::MATX_DEVICE_MEMORY);
  std::vector<double> expected(std::min(n, checked));
  for (std::size_t i = 0; i < expected.size(); ++i)
    expected[i] = std::tanh(double{ha[i]} * double{hb[i]} + double{hc[i]}) * double{hd[i]} - 0.5 * double{ha[i]};
  report.compare("gpu_chain", std::to_string(n),
                 {{"matx", [&] { (y = matx::tanh(a * b + c) * d - 0.5F * a).run(executor); },
                   [&] { return agrees(y, expected, 1e-5); }}});
}

void sums(bench::Report& report, matx::cudaExecutor& executor, index_t n) {
  auto numbers = bench::numbers(n, 0.5F, 1);
  double expected = 0;
  for (float& number : numbers) expected += double{number += 0.5F}; // none is negative
  const auto x = filled({n}, numbers);
  auto total = matx::make_tensor<float>({}, matx::MATX_DEVICE_MEMORY);
  report.compare(
      "gpu_sum", std::to_string(n),
      {{"matx", [&] { (total = matx::sum(x)).run(executor); }, [&] { return agrees(total, {expected}, 1e-5); }}});
}

void rows(bench::Report& report, matx::cudaExecutor& executor, index_t n) {
  const index_t count = n / columns;
  const auto hx = bench::numbers(n, 2, 1), hscale = bench::numbers(columns, 1, 2),
             hshift = bench::numbers(columns, 1, 3);
  const auto x = filled({count, columns}, hx);
  const auto scale = filled({columns}, hscale), shift = filled({columns}, hshift);
  auto y = matx::make_tensor<float>({count, columns}, matx::MATX_DEVICE_MEMORY);
  std::vector<double> softmax{}, norm{};
  for (index_t i = 0; i < checked / columns; ++i) {
    const float* const row = hx.data() + i * columns;
    double exponentials = 0, sum = 0, squares = 0;
    for (index_t j = 0; j < columns; ++j) {
      exponentials += std::exp(double{row[j]});
      sum += double{row[j]};
      squares += double{row[j]} * double{row[j]};
    }
    const double mean = sum / columns;
    const double factor = 1 / std::sqrt(squares / columns - mean * mean + 1e-5);
    for (index_t j = 0; j < columns; ++j) {
      softmax.push_back(std::exp(double{row[j]}) / exponentials);
      norm.push_back((double{row[j]} - mean) * factor * double{hscale[j]} + double{hshift[j]});
    }
  }
  report.compare(
      "gpu_softmax", std::to_string(n),
      {{"matx", [&] { (y = matx::softmax(x, {1})).run(executor); }, [&] { return agrees(y, softmax, 1e-5); }}});
  const auto layer_norm = [&] {
    const auto of_rows = [](const auto& v) { return matx::clone<2>(v, {matxKeepDim, columns}); };
    const auto of_columns = [count](const auto& v) { return matx::clone<2>(v, {count, matxKeepDim}); };
    const auto factor = matx::rsqrt(matx::var(x, {1}, 0) + 1e-5F);
    (y = (x - of_rows(matx::mean(x, {1}))) * of_rows(factor) * of_columns(scale) + of_columns(shift)).run(executor);
  };
  report.compare("gpu_layer_norm", std::to_string(n), {{"matx", layer_norm, [&] { return agrees(y, norm, 1e-4); }}});
}

void products(bench::Report& report, matx::cudaExecutor& executor, index_t n) {
  // numbers that bfloat16 holds, so that only the result is rounded
  auto ha = bench::numbers(n * n, 64, 1), hb = bench::numbers(n * n, 64, 2);
  for (float& x : ha) x = std::round(x) / 64;
  for (float& x : hb) x = std::round(x) / 512;
  const auto a = filled<matxBf16>({n, n}, ha), b = filled<matxBf16>({n, n}, hb);
  auto c = matx::make_tensor<matxBf16>({n, n}, matx::MATX_DEVICE_MEMORY);
  std::vector<double> expected(static_cast<std::size_t>(n)); // the first row
  for (index_t k = 0; k < n; ++k)
    for (index_t j = 0; j < n; ++j) expected[j] += double{ha[k]} * double{hb[k * n + j]};
  report.compare(
      "gpu_matmul_bf16", std::to_string(n),
      {{"matx", [&] { (c = matx::matmul(a, b)).run(executor); }, [&] { return agrees(c, expected, 0.02); }}});
}

} // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s OUT.json\n", arguments[0]);
    return 2;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: this machine has no GPU\n");
    return 4;
  }
  cudaStream_t stream = nullptr;
  bench::require(cudaStreamCreate(&stream), "cudaStreamCreate");
  matx::cudaExecutor executor{stream};
  cudaDeviceProp device{};
  bench::require(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  bench::Report report{stream, arguments[1],
                       bench::context_of(device.name, "nvcc " + std::to_string(__CUDACC_VER_MAJOR__) + "." +
                                                          std::to_string(__CUDACC_VER_MINOR__) +
                                                          ", MatX " TWILL_BENCH_MATX)};
  for (const index_t n : {index_t{1} << 20, index_t{1} << 27}) {
    chains(report, executor, n);
    sums(report, executor, n);
    rows(report, executor, n);
  }
  for (const index_t n : {1024, 8192}) products(report, executor, n);
  return report.has_failed() ? 1 : 0;
}
