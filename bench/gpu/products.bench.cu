// SPDX-License-Identifier: Apache-2.0
//
// Matrix products of bfloat16, alone and with what follows them in a layer, and of float32. Elements of the result are
// compared with float64 on the host before anything is timed. The fastest product is also the peak of arithmetic that
// tools/gpu_roofline.py holds the other workloads against.

#include "bench/gpu/programs.cuh"

#include <cmath>
#include <cstdint>
#include <string>

using namespace twill;

namespace {

template <class T> using Matrix = Tensor<T, Cuda, Shape<dyn, dyn>>;
using Half = Matrix<bfloat16>;

/// Whether some elements of f(a b, column) are what float64 gives, within the rounding of the type.
template <class T, class F>
bool is_product(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& found, double tolerance, F f) {
  const auto ha = a.to(Cpu{0});
  const auto hb = b.to(Cpu{0});
  const auto hc = found.to(Cpu{0});
  const std::int64_t m = a.shape()[0], n = b.shape()[1], k = a.shape()[1];
  for (std::int64_t sample = 0; sample < 64; ++sample) {
    const std::int64_t i = sample * 7919 % m, j = sample * 104729 % n;
    double total = 0;
    for (std::int64_t p = 0; p < k; ++p)
      total += static_cast<double>(float(ha.data()[i * k + p])) * static_cast<double>(float(hb.data()[p * n + j]));
    const double expected = f(total, j);
    if (!(std::abs(static_cast<double>(float(hc.data()[i * n + j])) - expected) <=
          tolerance * (1 + std::abs(expected))))
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
                     [&] { return is_product(a, b, c, 0.02, [](double x, std::int64_t) { return x; }); }}});
    report.compare("gpu_matmul_bias_gelu_bf16", std::to_string(n),
                   {{"twill", [&] { c = gelu(matmul(a, b) + bias); },
                     [&] {
                       return is_product(a, b, c, 0.02, [&](double x, std::int64_t j) {
                         const double v = x + static_cast<double>(float(host_bias.data()[j]));
                         return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
                       });
                     }}});
  }
  constexpr std::int64_t n = 4096;
  const auto a = Matrix<float>{randn<float, Shape<dyn, dyn>>(Dims(n, n), Cuda{0})};
  const auto b = Matrix<float>{randn<float, Shape<dyn, dyn>>(Dims(n, n), Cuda{0})};
  Matrix<float> c(Cuda{0}, Dims(n, n));
  report.compare("gpu_matmul_f32", std::to_string(n),
                 {{"twill", [&] { c = matmul(a, b); },
                   [&] { return is_product(a, b, c, 1e-3, [](double x, std::int64_t) { return x; }); }}});
}
