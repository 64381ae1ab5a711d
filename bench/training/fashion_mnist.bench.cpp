// SPDX-License-Identifier: Apache-2.0
//
// An epoch over the 60,000 pictures of Fashion-MNIST with a 784-256-256-10 network at batch 128, on one device and
// data-parallel on two, pictures turned from bytes into floats on the way. The first 2,560 pictures give the reference's
// weights within 1e-4 and its summed loss within 1e-3.

#include "bench/kernel/registers.hpp"
#include "bench/support/check.hpp"
#include "bench/support/network.hpp"

#include <twill/data/fashion_mnist.hpp>
#include <twill/data/loader.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/data/data_parallel_step.hpp>
#include <twill/training/train_step.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#if BENCH_HAS_REGISTERS && defined(TWILL_WITH_CBLAS)
#include "bench/reference/epoch.hpp"
#define HAS_REFERENCE 1
#endif

using namespace twill;

namespace {

constexpr float rate = 0.05F;
constexpr std::int64_t batch_size = 128;
constexpr std::int64_t checked_pictures = 2560;
constexpr data::ShuffledSampler shuffled{5};

const data::FashionMnist& pictures() {
  static const data::FashionMnist all = data::fashion_mnist(data::Part::train);
  return all;
}

const std::vector<float> start = bench::numbers(256 * 784 + 256 + 256 * 256 + 256 + 10 * 256 + 10, 0.05F, 2);

/// Trains on so many pictures; the sum of the losses.
double with_twill(const nn::Network<bench::Mlp>& model, auto& step, std::int64_t count) {
  data::DataLoader loader{
      pictures(), data::LimitedSampler{shuffled, count}, model.device(), {.batch_size = batch_size}};
  double loss = 0;
  for (auto [image, label] : loader) loss += static_cast<double>(step(image, label).item());
  return loss;
}

#if HAS_REFERENCE
reference::Pictures stored_bytes() {
  static const auto pixels = data::read_idx<std::uint8_t>(
      data::detail::fashion_mnist_file(data::fashion_mnist_folder, "train-images-idx3-ubyte"));
  static const auto labels = data::read_idx<std::uint8_t>(
      data::detail::fashion_mnist_file(data::fashion_mnist_folder, "train-labels-idx1-ubyte"));
  return {pixels.elements, labels.elements};
}

double by_hand(reference::MlpNumbers& weights, std::int64_t devices, std::int64_t count) {
  const auto order = data::LimitedSampler{shuffled, count}.order(60'000, 0);
  const auto run = devices == 1 ? reference::epoch : reference::epoch_of_two;
  return run(weights, stored_bytes(), order, static_cast<std::size_t>(batch_size), rate);
}

void epoch_by_hand(benchmark::State& state) {
  reference::MlpNumbers weights{start};
  static_cast<void>(by_hand(weights, state.range(0), checked_pictures)); // reads the files
  for (auto _ : state) benchmark::DoNotOptimize(by_hand(weights, state.range(0), 60'000));
}
#endif

/// Calls `f` with a fresh model and its step on one or two devices.
void on_devices(std::int64_t devices, auto f) {
  nn::Network<bench::Mlp> model{Cpu{0}};
  bench::set_weights(model, start);
  const optim::Sgd rule{{.rate = rate}};
  if (devices == 1) {
    auto step = train_step(model, nn::cross_entropy, rule);
    f(model, step);
  } else {
    DataParallel parallel{model, {.devices = {Cpu{0}, Cpu{1}}}};
    auto step = train_step(parallel, nn::cross_entropy, rule);
    f(model, step);
  }
}

void epoch_with_twill(benchmark::State& state) {
#if HAS_REFERENCE
  on_devices(state.range(0), [&](auto& model, auto& step) {
    reference::MlpNumbers expected{start};
    const auto expected_loss = static_cast<float>(by_hand(expected, state.range(0), checked_pictures));
    const auto loss = static_cast<float>(with_twill(model, step, checked_pictures));
    bench::require_close(&loss, &expected_loss, 1, 1e-3F, "fashion_mnist_epoch/twill: loss");
    bench::require_close(bench::weights_of(model), expected.all, 1e-4F, "fashion_mnist_epoch/twill");
  });
#endif
  on_devices(state.range(0), [&](auto& model, auto& step) {
    for (auto _ : state) benchmark::DoNotOptimize(with_twill(model, step, 60'000));
  });
}

/// One device, and two where the process may use two cores.
void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(1);
  if (device_count<Cpu>() > 1) benchmark->Arg(2);
  benchmark->UseRealTime()->Iterations(1)->Unit(benchmark::kMillisecond);
}

} // namespace

int main(int count, char** arguments) {
  try {
    static_cast<void>(pictures());
  } catch (const Error& error) { // nothing to measure with: the table has no such row
    std::fprintf(stderr, "fashion_mnist_epoch: skipped: %s\n", error.what());
    return 0;
  }
#if HAS_REFERENCE
  benchmark::RegisterBenchmark("fashion_mnist_epoch/reference", epoch_by_hand)->Apply(sizes);
#endif
  benchmark::RegisterBenchmark("fashion_mnist_epoch/twill", epoch_with_twill)->Apply(sizes);
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
