// SPDX-License-Identifier: Apache-2.0
//
// The same workloads with libtorch, eager as its users write them, in a process of its own so that nothing else is linked
// with it. One thread, except for the epoch of size 2: two threads inside each operation. Equal to the references within the
// tolerances of the other benchmarks, to 1e-5 where its tanh and exp differ.

#include "bench/kernel/ceiling.hpp"
#include "bench/reference/epoch.hpp"
#include "bench/reference/mlp_step.hpp"
#include "bench/reference/tiny_step.hpp"
#include "bench/support/check.hpp"

#include <twill/data/fashion_mnist.hpp>
#include <twill/data/sampler.hpp>

#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <vector>

namespace {

torch::Tensor tensor_over(float* values, std::initializer_list<std::int64_t> shape) {
  return torch::from_blob(values, shape);
}

void chain(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  bench::Array a{n, 0}, b{n, 1}, c{n, 2}, d{n, 3}, expected{n};
  ceiling::chain(a, b, c, d, expected, n);
  const auto ta = tensor_over(a, {n}), tb = tensor_over(b, {n}), tc = tensor_over(c, {n}), td = tensor_over(d, {n});
  const torch::NoGradGuard no_grad;
  auto y = torch::tanh(ta * tb + tc) * td - 0.5 * ta;
  bench::require_close(y.data_ptr<float>(), expected, n, 1e-5F, "expression/libtorch");
  for (auto _ : state) {
    y = torch::tanh(ta * tb + tc) * td - 0.5 * ta;
    benchmark::ClobberMemory();
  }
}

void softmax(benchmark::State& state) {
  const std::int64_t n = 1024;
  bench::Array x{n * n}, expected{n * n};
  for (std::int64_t i = 0; i < n; ++i) ceiling::softmax_row(x + i * n, expected + i * n, n);
  const auto tx = tensor_over(x, {n, n});
  const torch::NoGradGuard no_grad;
  auto y = torch::empty_like(tx);
  torch::softmax_out(y, tx, 1);
  bench::require_close(y.data_ptr<float>(), expected, n * n, 1e-5F, "softmax/libtorch");
  for (auto _ : state) torch::softmax_out(y, tx, 1);
}

void layer_norm(benchmark::State& state) {
  const std::int64_t n = 1024;
  bench::Array x{n * n}, scale{n}, shift{n}, expected{n * n};
  for (std::int64_t i = 0; i < n; ++i) ceiling::layer_norm_row(x + i * n, scale, shift, expected + i * n, n);
  const auto tx = tensor_over(x, {n, n}), tscale = tensor_over(scale, {n}), tshift = tensor_over(shift, {n});
  const torch::NoGradGuard no_grad;
  auto y = torch::layer_norm(tx, {n}, tscale, tshift, 1e-5);
  bench::require_close(y.data_ptr<float>(), expected, n * n, 1e-5F, "layer_norm/libtorch");
  for (auto _ : state) {
    y = torch::layer_norm(tx, {n}, tscale, tshift, 1e-5);
    benchmark::ClobberMemory();
  }
}

/// Layers of these sizes with weights that stand as matrix, bias, matrix, bias...
torch::nn::Sequential network(std::initializer_list<std::int64_t> sizes, bool uses_tanh,
                              const std::vector<float>& from) {
  torch::nn::Sequential model;
  for (auto size = sizes.begin(); size + 1 != sizes.end(); ++size) {
    model->push_back(torch::nn::Linear(size[0], size[1]));
    if (size + 2 == sizes.end()) break;
    if (uses_tanh)
      model->push_back(torch::nn::Tanh());
    else
      model->push_back(torch::nn::ReLU());
  }
  const torch::NoGradGuard no_grad;
  const float* at = from.data();
  for (auto& parameter : model->parameters()) {
    std::memcpy(parameter.data_ptr<float>(), at, static_cast<std::size_t>(parameter.numel()) * sizeof(float));
    at += parameter.numel();
  }
  return model;
}

std::vector<float> weights_of(torch::nn::Sequential& model) {
  std::vector<float> all;
  for (auto& parameter : model->parameters())
    all.insert(all.end(), parameter.data_ptr<float>(), parameter.data_ptr<float>() + parameter.numel());
  return all;
}

void tiny_step(benchmark::State& state) {
  auto x = bench::numbers(4 * 2, 1.0F, 1), target = bench::numbers(4, 1.0F, 2);
  const auto start = bench::numbers(reference::TinyStep::weights, 0.5F, 3);
  const auto inputs = tensor_over(x.data(), {4, 2}), targets = tensor_over(target.data(), {4, 1});
  auto model = network({2, 8, 8, 1}, true, start);
  torch::optim::SGD optimiser{model->parameters(), 0.05};
  const auto step = [&] {
    optimiser.zero_grad();
    auto loss = torch::mse_loss(model->forward(inputs), targets);
    loss.backward();
    optimiser.step();
  };
  reference::TinyStep expected{start};
  for (int i = 0; i < 50; ++i) {
    step();
    static_cast<void>(expected.step(x.data(), target.data(), 0.05F));
  }
  bench::require_close(weights_of(model), expected.values(), 1e-4F, "tiny_step/libtorch");
  for (auto _ : state) step();
}

void mlp_step(benchmark::State& state) {
  const std::int64_t rows = state.range(0);
  auto x = bench::numbers(rows * 784, 1.0F, 1);
  std::vector<std::int64_t> label(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < label.size(); ++i) label[i] = static_cast<std::int64_t>(i * 7 % 10);
  const auto start = bench::numbers(reference::MlpNumbers::count, 0.05F, 2);
  const auto images = tensor_over(x.data(), {rows, 784});
  const auto labels = torch::from_blob(label.data(), {rows}, torch::kInt64);
  auto model = network({784, 256, 256, 10}, false, start);
  torch::optim::SGD optimiser{model->parameters(), 0.01};
  const auto step = [&] {
    optimiser.zero_grad();
    auto loss = torch::nn::functional::cross_entropy(model->forward(images), labels);
    loss.backward();
    optimiser.step();
  };
  reference::MlpNumbers expected{start};
  reference::MlpStep hand{rows};
  for (int i = 0; i < 5; ++i) {
    step();
    static_cast<void>(hand.step(expected, x.data(), label.data(), rows, 0.01F));
  }
  bench::require_close(weights_of(model), expected.all, 1e-4F, "mlp_step/libtorch");
  for (auto _ : state) step();
}

/// Trains on the pictures in this order; the sum of the losses.
double epoch(torch::nn::Sequential& model, torch::Tensor pixels, torch::Tensor all_labels,
             std::span<const std::int64_t> order) {
  torch::optim::SGD optimiser{model->parameters(), 0.05};
  double sum = 0;
  for (std::size_t first = 0; first < order.size(); first += 128) {
    const auto count = static_cast<std::int64_t>(std::min<std::size_t>(128, order.size() - first));
    const auto which = torch::from_blob(const_cast<std::int64_t*>(order.data() + first), {count}, torch::kInt64);
    const auto images = pixels.index_select(0, which).to(torch::kFloat32) * (1.0 / 255);
    const auto labels = all_labels.index_select(0, which).to(torch::kInt64);
    optimiser.zero_grad();
    auto loss = torch::nn::functional::cross_entropy(model->forward(images), labels);
    loss.backward();
    optimiser.step();
    sum += static_cast<double>(loss.item<float>());
  }
  return sum;
}

void fashion_mnist_epoch(benchmark::State& state) {
  namespace data = twill::data;
  static auto pixels = data::read_idx<std::uint8_t>(
      data::detail::fashion_mnist_file(data::fashion_mnist_folder, "train-images-idx3-ubyte"));
  static auto labels = data::read_idx<std::uint8_t>(
      data::detail::fashion_mnist_file(data::fashion_mnist_folder, "train-labels-idx1-ubyte"));
  const auto order = data::ShuffledSampler{5}.order(60'000, 0);
  const auto start = bench::numbers(reference::MlpNumbers::count, 0.05F, 2);
  const auto all = torch::from_blob(pixels.elements.data(), {60'000, 784}, torch::kUInt8);
  const auto all_labels = torch::from_blob(labels.elements.data(), {60'000}, torch::kUInt8);

  const auto some = std::span{order}.first(2560);
  auto checked = network({784, 256, 256, 10}, false, start);
  static_cast<void>(epoch(checked, all, all_labels, some));
  reference::MlpNumbers expected{start};
  static_cast<void>(reference::epoch(expected, {pixels.elements, labels.elements}, some, 128, 0.05F));
  bench::require_close(weights_of(checked), expected.all, 1e-4F, "fashion_mnist_epoch/libtorch");

  auto model = network({784, 256, 256, 10}, false, start);
  torch::set_num_threads(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(epoch(model, all, all_labels, order));
  torch::set_num_threads(1);
}

void allocation(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  auto* allocator = c10::GetAllocator(c10::DeviceType::CPU);
  for (auto _ : state) {
    auto block = allocator->allocate(bytes);
    benchmark::DoNotOptimize(block.get());
  }
}

} // namespace

int main(int count, char** arguments) {
  torch::set_num_threads(1);
  benchmark::RegisterBenchmark("expression/libtorch", chain)->Arg(1'000)->Arg(100'000)->Arg(10'000'000);
  benchmark::RegisterBenchmark("softmax/libtorch", softmax);
  benchmark::RegisterBenchmark("layer_norm/libtorch", layer_norm);
  benchmark::RegisterBenchmark("tiny_step/libtorch", tiny_step);
  benchmark::RegisterBenchmark("mlp_step/libtorch", mlp_step)->Arg(1)->Arg(32)->Arg(256);
  benchmark::RegisterBenchmark("allocation/libtorch", allocation)->Arg(4096)->Arg(1 << 20);
  try {
    static_cast<void>(
        twill::data::detail::fashion_mnist_file(twill::data::fashion_mnist_folder, "train-images-idx3-ubyte"));
    benchmark::RegisterBenchmark("fashion_mnist_epoch/libtorch", fashion_mnist_epoch)
        ->Arg(1)
        ->Arg(2)
        ->UseRealTime()
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  } catch (const twill::Error&) { // without the files there is no such row
  }
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
