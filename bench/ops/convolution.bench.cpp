// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of a ResNet-50 stage on eight images, forward and with both gradients, on one thread and on all. `twill` is what a
// layer inside a network runs: the kernel on channels-last tensors and on weights in PyTorch's order. `layer` is a network of
// one convolution, whose pictures come and go in PyTorch's order. `reference` is oneDNN with everything in the orders that
// it prefers, made once; `onednn_plain` with pictures in PyTorch's order and their reordering, as a caller has them. Sizes
// are channels x extent k kernel / threads. Every result equals sums in double, at many places.

#include "bench/support/convolution.hpp"
#include "bench/support/check.hpp"

#include <twill/kernel/convolution.hpp>
#include <twill/nn/convolution.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#if defined(TWILL_WITH_ONEDNN) && __has_include(<dnnl.h>)
#include <dnnl_version.h>
#if DNNL_VERSION_MAJOR == 2
#include "bench/ops/onednn_convolution.hpp"
#define HAS_ONEDNN 1
#endif
#endif

using namespace twill;

namespace {

using bench::ConvolutionData;
using bench::ConvolutionSize;

constexpr ConvolutionSize sizes[] = {{64, 56, 3}, {256, 14, 3}, {256, 28, 1}};

kernel::Convolution<float> part_of(ConvolutionPart part, const ConvolutionSize& size, float* x, float* w, float* y) {
  ConvolutionShape shape{.batch = bench::images,
                         .in_channels = size.channels,
                         .out_channels = size.channels,
                         .input = {size.extent, size.extent},
                         .output = {size.extent, size.extent},
                         .kernel = {size.kernel, size.kernel},
                         .padding = {size.padding(), size.padding()}};
  return {part, shape, x, w, y};
}

/// On one of the device's threads or on all.
template <class F> void on_threads(int threads, F f) {
  if (threads == 1)
    f(Team::serial());
  else
    launch(Cpu{0}, [&](const Team& team) { f(team); });
}

void by_twill(benchmark::State& state, const ConvolutionSize& size, int threads, bool with_gradients) {
  ConvolutionData o{size};
  const auto run = [&] {
    on_threads(threads, [&](const Team& team) {
      using kernel::run_convolution;
      run_convolution(team, part_of(ConvolutionPart::output, size, o.x, o.w, o.y));
      if (!with_gradients) return;
      run_convolution(team, part_of(ConvolutionPart::input_gradient, size, o.dx, o.w, o.dy));
      run_convolution(team, part_of(ConvolutionPart::weight_gradient, size, o.x, o.dw, o.dy));
    });
  };
  run();
  o.check(with_gradients, "convolution/twill");
  for (auto _ : state) {
    run();
    benchmark::ClobberMemory();
  }
}

/// 64 channels of 56 x 56 under a kernel of 3 x 3.
struct OneConvolution {
  static constexpr auto forward(Input<Dim<"batch">, 64, 56, 56> x) {
    return nn::conv2d(x, 64, "only", {.kernel = 3, .padding = 1, .bias = false});
  }
};

/// The order of PyTorch from channels-last, and the other way round.
void transpose(const float* from, float* to, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t image = 0; image < bench::images; ++image)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        to[(image * columns + j) * rows + i] = from[(image * rows + i) * columns + j];
}

void by_layer(benchmark::State& state) {
  const ConvolutionSize size = sizes[0];
  ConvolutionData o{size};
  const std::int64_t pixels = size.extent * size.extent, channels = size.channels;
  bench::Array plain{size.elements()};
  transpose(o.x, plain, pixels, channels);
  nn::Network<OneConvolution, Cpu> model{Cpu{0}};
  const auto weights = model.parameters();
  std::copy_n(static_cast<const float*>(o.w), size.weights(), static_cast<float*>(weights.front().buffer.data()));
  const auto x = from_values<Shape<dyn, 64, 56, 56>>(
      std::span{static_cast<const float*>(plain), static_cast<std::size_t>(size.elements())},
      Dims(bench::images, channels, size.extent, size.extent), Cpu{0});
  const auto y = model.infer(x).contiguous();
  transpose(y.data(), o.y, channels, pixels);
  o.check(false, "convolution/layer");
  for (auto _ : state) {
    const auto result = model.infer(x);
    benchmark::DoNotOptimize(result.data());
  }
}

} // namespace

int main(int count, char** arguments) {
  configure_host({.devices = 1});
  const int most = static_cast<int>(cores_of(Cpu{0}).size());
  const auto add = [](const char* workload, const char* who, const ConvolutionSize& size, int threads, auto run) {
    const std::string name = std::string{workload} + "/" + who + "/" + size.name() + "/" + std::to_string(threads);
    benchmark::RegisterBenchmark(name.c_str(), run)->UseRealTime()->Unit(benchmark::kMicrosecond);
  };
  for (int threads = 1; threads <= most; threads += std::max(1, most - 1))
    for (const ConvolutionSize& size : sizes)
      for (const bool with_gradients : {false, true}) {
        const char* const workload = with_gradients ? "convolution_with_gradients" : "convolution";
        add(workload, "twill", size, threads,
            [=](benchmark::State& state) { by_twill(state, size, threads, with_gradients); });
#if HAS_ONEDNN
        for (const bool is_plain : {false, true})
          add(workload, is_plain ? "onednn_plain" : "reference", size, threads,
              [=](benchmark::State& state) { bench::by_onednn(state, size, threads, with_gradients, is_plain); });
#endif
      }
  add("convolution", "layer", sizes[0], most, [](benchmark::State& state) { by_layer(state); });
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
