// SPDX-License-Identifier: Apache-2.0
//
// Working memory of decompositions and Fourier transforms in estimates of steps on GPUs: on one device, replicas and ranks of a
// pipeline it is the bytes that plans count for the largest of them, and the table says so. Hosts take none of their pool.

#include <twill/device/gpu/queue.hpp>
#include <twill/fft/value_transforms.hpp>
#include <twill/linalg.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/fit/estimate.hpp>
#include <twill/profile/fit_table.hpp>
#include <twill/training/peak_bytes.hpp>

#include <catch2/catch.hpp>

#include <cstdint>

namespace {

using namespace twill;
using graph::Value;
using parallel::fit::Bytes;

/// Powers of spectra, then logarithms of determinants' factors.
struct Spectra {
  static constexpr Value forward(Input<Dim<"batch">, 24> x) {
    const graph::ComplexValue y = fft::rfft(x);
    const Value h = nn::stage_boundary(tanh(nn::linear(y.re * y.re + y.im * y.im, 6, "lower")));
    const Value products = unsqueeze(h, -1) * unsqueeze(h, -2);
    const Value l = linalg::cholesky(products + linalg::identity_like(products));
    return nn::linear(log(linalg::diagonal_of(l)), 7, "head");
  }
};
using Step = training::StepOf<Spectra, nn::cross_entropy, optim::Adam, Tensor<std::int64_t, Cpu, Shape<dyn>>>;
using GpuStep = parallel::fit::OnGpu<Step>;

constexpr std::int64_t allowance = gpu::allowance_bytes + gpu::allowance_counters * sizeof(unsigned);

/// Rows of 13 complex coefficients, on a boundary of 256 bytes, and 8 complex numbers for each of 24 points of a line.
constexpr std::int64_t bytes_of_spectra(std::int64_t lines) {
  return compile::pool_bytes((lines * 13 * 8 + 255) / 256 * 256 + lines * 24 * 64);
}
constexpr std::int64_t bytes_of_factors = 2 * 512; // addresses and info of a batched call

} // namespace

TEST_CASE("steps on GPUs count the working memory of decompositions and transforms", "[profile][MEM-2]") {
  parallel::fit::Estimator on_gpu{parallel::fit::traces_of<GpuStep>, {{"batch", 40}}};
  const auto one = on_gpu.report({});
  CHECK(one.ranks[0].operation_bytes == bytes_of_spectra(40));
  CHECK(one.ranks[0].bytes[Bytes::working] == 4 + allowance + bytes_of_spectra(40)); // and the loss
  CHECK(one.peak_bytes() == allowance + peak_bytes<GpuStep, nn::Size<"batch", 40>>);
  CHECK(one.ranks[0].held_bytes + bytes_of_spectra(40) < one.peak_bytes());

  const auto replicas = on_gpu.report({.data = 2});
  CHECK(replicas.ranks[1].operation_bytes == bytes_of_spectra(20));

  const auto stages = on_gpu.report({.pipeline = 2, .micro_batches = 2});
  CHECK(stages.ranks[0].operation_bytes == bytes_of_spectra(20));
  CHECK(stages.ranks[1].operation_bytes == bytes_of_factors);
  CHECK(stages.ranks[0].bytes[Bytes::working] >= allowance + bytes_of_spectra(20));

  parallel::fit::Estimator on_host{parallel::fit::traces_of<Step>, {{"batch", 40}}};
  CHECK(on_host.report({}).ranks[0].operation_bytes == 0);
  CHECK(on_host.report({}).peak_bytes() == peak_bytes<Step, nn::Size<"batch", 40>>);
}

TEST_CASE("the table says what of a step's bytes is planned for libraries of GPUs", "[profile]") {
  using Catch::Matchers::Contains;
  parallel::fit::Estimator on_gpu{parallel::fit::traces_of<GpuStep>, {{"batch", 40}}};
  const auto report = on_gpu.report({});
  CHECK_THAT(profile::fit_table(report),
             Contains("working memory has 64.50 KiB for one decomposition or transform: for "
                      "cuFFT the most that its manual names, for cuSOLVER"));
  CHECK_THAT(profile::fit_json({report}), Contains("\"operation_bytes\": 66048}"));
  parallel::fit::Estimator on_host{parallel::fit::traces_of<Step>, {{"batch", 40}}};
  CHECK_THAT(profile::fit_table(on_host.report({})), !Contains("one decomposition"));
}
