// SPDX-License-Identifier: Apache-2.0
//
// The row programs of host.bench.cpp by oneDNN, called directly and in one thread: softmax, layer norm with scale and shift, and
// the addition of a bias with gelu as its post-operation. In a process of its own; bench/run alternates the two. Equal to
// loops in double within 1e-5.

#include "bench/support/onednn.hpp"
#include "bench/support/plain.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

namespace {

namespace onednn = bench::onednn;

constexpr std::int64_t rows = 1024;
constexpr std::int64_t columns = 1024;

struct Rows {
  bench::Array x{rows * columns}, scale{columns, 1}, shift{columns, 2}, y{rows * columns};
  dnnl_memory_desc_t matrix = onednn::described({rows, columns}, dnnl_ab);
};

/// Checks and times an operation that writes y.
void measure(benchmark::State& state, onednn::Primitive& primitive, Rows& o, const std::vector<float>& expected,
             const char* who) {
  primitive.run();
  bench::require_close(o.y, expected.data(), rows * columns, 1e-5F, who);
  for (auto _ : state) {
    primitive.run();
    benchmark::ClobberMemory();
  }
}

void softmax(benchmark::State& state) {
  Rows o;
  dnnl_softmax_desc_t operation{};
  onednn::require(dnnl_softmax_forward_desc_init(&operation, dnnl_forward_inference, &o.matrix, 1), "softmax");
  onednn::Primitive primitive{&operation};
  primitive.bind(DNNL_ARG_SRC, o.matrix, o.x);
  primitive.bind(DNNL_ARG_DST, o.matrix, o.y);
  measure(state, primitive, o, bench::plain::softmax(o.x, rows, columns), "row_softmax/onednn");
}

void layer_norm(benchmark::State& state) {
  Rows o;
  dnnl_layer_normalization_desc_t operation{};
  onednn::require(dnnl_layer_normalization_forward_desc_init(&operation, dnnl_forward_inference, &o.matrix, nullptr,
                                                             1e-5F, dnnl_use_scale | dnnl_use_shift),
                  "layer norm");
  onednn::Primitive primitive{&operation};
  const dnnl_memory_desc_t column = onednn::described({columns}, dnnl_a);
  primitive.bind(DNNL_ARG_SRC, o.matrix, o.x);
  primitive.bind(DNNL_ARG_SCALE, column, o.scale);
  primitive.bind(DNNL_ARG_SHIFT, column, o.shift);
  primitive.bind(DNNL_ARG_DST, o.matrix, o.y);
  measure(state, primitive, o, bench::plain::layer_norm(o.x, o.scale, o.shift, rows, columns), "row_layer_norm/onednn");
}

void bias_gelu(benchmark::State& state) {
  Rows o;
  const dnnl_memory_desc_t row = onednn::described({1, columns}, dnnl_ab);
  dnnl_binary_desc_t operation{};
  onednn::require(dnnl_binary_desc_init(&operation, dnnl_binary_add, &o.matrix, &row, &o.matrix), "addition");
  dnnl_primitive_attr_t how{};
  dnnl_post_ops_t after{};
  onednn::require(dnnl_primitive_attr_create(&how), "attributes");
  onednn::require(dnnl_post_ops_create(&after), "post-operations");
  onednn::require(dnnl_post_ops_append_eltwise(after, 1, dnnl_eltwise_gelu_erf, 0, 0), "gelu");
  onednn::require(dnnl_primitive_attr_set_post_ops(how, after), "attributes");
  {
    onednn::Primitive primitive{&operation, how};
    primitive.bind(DNNL_ARG_SRC_0, o.matrix, o.x);
    primitive.bind(DNNL_ARG_SRC_1, row, o.shift);
    primitive.bind(DNNL_ARG_DST, o.matrix, o.y);
    measure(state, primitive, o, bench::plain::bias_gelu(o.x, o.shift, rows, columns), "bias_gelu/onednn");
  }
  dnnl_post_ops_destroy(after);
  dnnl_primitive_attr_destroy(how);
}

} // namespace

int main(int count, char** arguments) {
  onednn::use_threads(1);
  benchmark::RegisterBenchmark("row_softmax/onednn", softmax)->Arg(1); // the number of threads
  benchmark::RegisterBenchmark("row_layer_norm/onednn", layer_norm)->Arg(1);
  benchmark::RegisterBenchmark("bias_gelu/onednn", bias_gelu)->Arg(1);
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
