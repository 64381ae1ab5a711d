// SPDX-License-Identifier: Apache-2.0
//
// Single operations with libtorch, eager, in one thread and in a process of its own: those of bench/expr, convolutions and
// copies. `libtorch_last` convolves channels-last tensors. Equal to loops in double.

#include "bench/support/check.hpp"
#include "bench/support/convolution.hpp"
#include "bench/support/plain.hpp"

#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace {

constexpr std::int64_t rows = 1024;
constexpr std::int64_t columns = 1024;

torch::Tensor tensor_over(float* values, std::initializer_list<std::int64_t> shape) {
  return torch::from_blob(values, shape);
}

void axpy(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  bench::Array from{n, 0}, to{n, 1}, expected{n, 1};
  for (std::int64_t i = 0; i < n; ++i) expected[i] += 0.25F * from[i];
  const auto x = tensor_over(from, {n}), y = tensor_over(to, {n});
  y.add_(x, 0.25);
  bench::require_close(to, expected, n, 1e-6F, "axpy/libtorch");
  for (auto _ : state) y.add_(x, 1e-9);
}

void sum(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  bench::Array from{n, 0};
  const auto x = tensor_over(from, {n});
  double exact = 0;
  for (std::int64_t i = 0; i < n; ++i) exact += static_cast<double>(from[i]);
  const auto expected = static_cast<float>(exact), found = x.sum().item<float>();
  bench::require_close(&found, &expected, 1, 1e-7F * static_cast<float>(n), "sum/libtorch"); // the terms nearly cancel
  for (auto _ : state) benchmark::DoNotOptimize(x.sum().item<float>());
}

void measure(benchmark::State& state, const std::vector<float>& expected, const char* who, auto f) {
  const torch::Tensor y = f();
  bench::require_close(y.data_ptr<float>(), expected.data(), rows * columns, 1e-5F, who);
  for (auto _ : state) {
    const torch::Tensor result = f();
    benchmark::DoNotOptimize(result.data_ptr<float>());
  }
}

struct Rows {
  bench::Array x{rows * columns}, scale{columns, 1}, shift{columns, 2};
  torch::Tensor tx = tensor_over(x, {rows, columns});
  torch::Tensor tscale = tensor_over(scale, {columns}), tshift = tensor_over(shift, {columns});
};

void softmax(benchmark::State& state) {
  Rows o;
  measure(state, bench::plain::softmax(o.x, rows, columns), "row_softmax/libtorch",
          [&] { return torch::softmax(o.tx, 1); });
}
void layer_norm(benchmark::State& state) {
  Rows o;
  measure(state, bench::plain::layer_norm(o.x, o.scale, o.shift, rows, columns), "row_layer_norm/libtorch",
          [&] { return torch::layer_norm(o.tx, {columns}, o.tscale, o.tshift, 1e-5); });
}
void bias_gelu(benchmark::State& state) {
  Rows o;
  measure(state, bench::plain::bias_gelu(o.x, o.shift, rows, columns), "bias_gelu/libtorch",
          [&] { return torch::gelu(o.tx + o.tshift); });
}

void product(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  auto a = bench::numbers(n * n, 1, 1), b = bench::numbers(n * n, 1, 2);
  const auto ta = tensor_over(a.data(), {n, n}), tb = tensor_over(b.data(), {n, n});
  auto c = torch::matmul(ta, tb);
  const auto expected = torch::matmul(ta.to(torch::kFloat64), tb.to(torch::kFloat64)).to(torch::kFloat32);
  bench::require_close(c.data_ptr<float>(), expected.data_ptr<float>(), n * n, 1e-3F, "matrix_product/libtorch");
  for (auto _ : state) torch::matmul_out(c, ta, tb);
}

void convolution(benchmark::State& state, const bench::ConvolutionSize& size, bool with_gradients, bool is_last) {
  bench::ConvolutionData o{size};
  const std::int64_t c = size.channels, e = size.extent;
  const auto over = [&](float* values) { // channels-last, which PyTorch knows by its strides
    const auto picture = tensor_over(values, {bench::images, e, e, c}).permute({0, 3, 1, 2});
    return is_last ? picture : picture.contiguous();
  };
  const auto x = over(o.x).requires_grad_(), dy = over(o.dy);
  const auto w = tensor_over(o.w, {c, c, size.kernel, size.kernel})
                     .clone(is_last ? torch::MemoryFormat::ChannelsLast : torch::MemoryFormat::Contiguous)
                     .requires_grad_();
  const auto forward = [&] { return torch::conv2d(x, w, {}, 1, size.padding()); };
  const auto leave = [&](const torch::Tensor& from, float* to) {
    const auto last = from.detach().permute({0, 2, 3, 1}).contiguous();
    std::copy_n(last.data_ptr<float>(), last.numel(), to);
  };
  const auto gradients = [&] { return torch::autograd::grad({forward()}, {x, w}, {dy}); };
  leave(forward(), o.y);
  if (with_gradients) {
    const auto found = gradients();
    leave(found[0], o.dx);
    const auto dw = found[1].contiguous();
    std::copy_n(dw.data_ptr<float>(), dw.numel(), static_cast<float*>(o.dw));
  }
  o.check(with_gradients, "convolution/libtorch");
  if (with_gradients) {
    for (auto _ : state) benchmark::DoNotOptimize(gradients());
  } else {
    const torch::NoGradGuard no_grad;
    for (auto _ : state) benchmark::DoNotOptimize(forward().data_ptr<float>());
  }
}

void copy(benchmark::State& state) {
  const std::int64_t n = state.range(0) / 4;
  bench::Array from{n, 0}, to{n, 1};
  const auto x = tensor_over(from, {n}), y = tensor_over(to, {n});
  y.copy_(x);
  bench::require_close(to, from, n, 0, "copy/libtorch");
  for (auto _ : state) y.copy_(x);
}

void copy_transposed(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  bench::Array from{n * n, 0}, to{n * n, 1};
  const auto x = tensor_over(from, {n, n}), y = tensor_over(to, {n, n});
  y.copy_(x.t());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      bench::require_close(to + i * n + j, from + j * n + i, 1, 0, "copy_transposed/libtorch");
  for (auto _ : state) y.copy_(x.t());
}

} // namespace

int main(int count, char** arguments) {
  torch::set_num_threads(1);
  const auto add = [](const char* name, void (*run)(benchmark::State&), std::initializer_list<std::int64_t> sizes) {
    for (const std::int64_t n : sizes) benchmark::RegisterBenchmark(name, run)->Arg(n)->UseRealTime();
  };
  // behind the size, if any, the number of threads
  for (const std::int64_t n : {100'000, 10'000'000}) benchmark::RegisterBenchmark("axpy/libtorch", axpy)->Args({n, 1});
  for (const std::int64_t n : {131'072, 10'485'760}) benchmark::RegisterBenchmark("sum/libtorch", sum)->Args({n, 1});
  for (const std::int64_t n : {64, 256, 1024})
    benchmark::RegisterBenchmark("matrix_product/libtorch", product)->Args({n, 1});
  add("row_softmax/libtorch", softmax, {1});
  add("row_layer_norm/libtorch", layer_norm, {1});
  add("bias_gelu/libtorch", bias_gelu, {1});
  add("copy/libtorch", copy, {1 << 16, 1 << 20, 1 << 26});
  add("copy_transposed/libtorch", copy_transposed, {256, 1024, 4096});
  for (const bench::ConvolutionSize& size : {bench::ConvolutionSize{64, 56, 3}, {256, 14, 3}, {256, 28, 1}})
    for (const bool with_gradients : {false, true})
      for (const bool is_last : {false, true}) {
        const std::string name = std::string{with_gradients ? "convolution_with_gradients" : "convolution"} +
                                 (is_last ? "/libtorch_last/" : "/libtorch/") + size.name() + "/1";
        benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
          convolution(state, size, with_gradients, is_last);
        })->UseRealTime();
      }
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
