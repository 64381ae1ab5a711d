// SPDX-License-Identifier: Apache-2.0
//
// Matrix products of bfloat16, alone and with what follows them in a layer. Rows of the result are compared with float64 on
// the host before anything is timed.

#include "bench/gpu/programs.cuh"

#include <cmath>
#include <cstdint>
#include <string>

using namespace twill;

namespace {

using Half = Tensor<bfloat16, Cuda, Shape<dyn, dyn>>;

/// Whether some elements of f(a b + bias) are what float64 gives, within the rounding of bfloat16.
template <class F> bool is_product(const Half& a, const Half& b, const Half& found, F f) {
  const auto ha = a.to(Cpu{0});
  const auto hb = b.to(Cpu{0});
  const auto hc = found.to(Cpu{0});
  const std::int64_t m = a.shape()[0], n = b.shape()[1], k = a.shape()[1];
  for (std::int64_t sample = 0; sample < 64; ++sample) {
    const std::int64_t i = sample * 7919 % m, j = sample * 104729 % n;
    double total = 0;
    for (std::int64_t p = 0; p < k; ++p)
      total += static_cast<double>(float{ha.data()[i * k + p]}) * static_cast<double>(float{hb.data()[p * n + j]});
    const double expected = f(total, j);
    if (!(std::abs(static_cast<double>(float{hc.data()[i * n + j]}) - expected) <= 0.02 * (1 + std::abs(expected))))
      return false;
  }
  return true;
}

} // namespace

void bench_products(bench::Report& report) {
  for (const std::int64_t n : {1024, 8192}) {
    const Half a = randn<bfloat16, Shape<dyn, dyn>>(Dims(n, n), Cuda{0});
    Half b = randn<bfloat16, Shape<dyn, dyn>>(Dims(n, n), Cuda{0});
    b = b * bfloat16(1.0F / std::sqrt(static_cast<float>(n)));
    const Tensor<bfloat16, Cuda, Shape<dyn>> bias = randn<bfloat16, Shape<dyn>>(Dims(n), Cuda{0});
    const auto host_bias = bias.to(Cpu{0});
    Half c(Cuda{0}, Dims(n, n));
    report.compare("gpu_matmul_bf16", std::to_string(n),
                   {{"twill", [&] { c = matmul(a, b); },
                     [&] { return is_product(a, b, c, [](double x, std::int64_t) { return x; }); }}});
    report.compare("gpu_matmul_bias_gelu_bf16", std::to_string(n),
                   {{"twill", [&] { c = gelu(matmul(a, b) + bias); },
                     [&] {
                       return is_product(a, b, c, [&](double x, std::int64_t j) {
                         const double v = x + static_cast<double>(float{host_bias.data()[j]});
                         return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
                       });
                     }}});
  }
}
