// SPDX-License-Identifier: Apache-2.0
//
// Matrix products as a user writes them, on one thread and on two, beside the libraries called directly with as many
// threads; and a dense layer with bias and relu beside three statements, and beside oneDNN's own fusion. The reference of a
// product is whichever library is faster for the size, found before anything is timed. Sizes are extent/threads.

#include "bench/support/check.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#if defined(TWILL_WITH_CBLAS) && defined(TWILL_WITH_ONEDNN) && __has_include(<dnnl.h>)
#include <dlfcn.h>
#include <dnnl.h>
#if DNNL_VERSION_MAJOR == 2
#define HAS_PEERS 1
#endif
#endif

using namespace twill;

namespace {

using Matrix = Tensor<float, Cpu, Shape<dyn, dyn>>;

Matrix numbers(std::int64_t rows, std::int64_t columns, std::uint32_t seed) {
  const auto values = bench::numbers(rows * columns, 1, seed);
  Matrix matrix(Cpu{0}, Dims(rows, columns));
  std::copy(values.begin(), values.end(), matrix.data());
  return matrix;
}

/// Runs on a team of so many of the device's threads: one is a team of the caller.
template <class F> void on_threads(int threads, F f) {
  if (threads == 1)
    f(Team::serial());
  else
    launch(Cpu{0}, [&](const Team& team) { f(team); });
}

#if HAS_PEERS
extern "C" void bench_openblas_threads(int) __asm__("openblas_set_num_threads");

enum class Peer { openblas, onednn };

void library_product(Peer peer, std::int64_t n, const float* a, const float* b, float* c) {
  const int extent = static_cast<int>(n);
  if (peer == Peer::openblas)
    cpu::blas::twill_sgemm(cpu::blas::row_major, cpu::blas::no_transpose, cpu::blas::no_transpose, extent, extent,
                           extent, 1, a, extent, b, extent, 0, c, extent);
  else
    dnnl_sgemm('N', 'N', n, n, n, 1, a, n, b, n, 0, c, n);
}

void use_threads(int threads) {
  static const auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set != nullptr) set(threads);
  bench_openblas_threads(threads);
}

/// The faster library for a size, by the least of some alternating runs.
Peer faster(std::int64_t n, int threads) {
  use_threads(threads);
  const Matrix a = numbers(n, n, 1), b = numbers(n, n, 2), c = numbers(n, n, 3);
  double least[2] = {1e300, 1e300};
  for (int round = 0; round < 12; ++round)
    for (const Peer peer : {Peer::openblas, Peer::onednn}) {
      const auto start = std::chrono::steady_clock::now();
      library_product(peer, n, a.data(), b.data(), c.data());
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      double& best = least[static_cast<int>(peer)];
      best = std::min(best, seconds.count());
    }
  use_threads(1);
  return least[0] < least[1] ? Peer::openblas : Peer::onednn;
}

void by_library(benchmark::State& state, bool is_reference, Peer peer) {
  const std::int64_t n = state.range(0);
  const int threads = static_cast<int>(state.range(1));
  if (is_reference) peer = faster(n, threads);
  const Matrix a = numbers(n, n, 1), b = numbers(n, n, 2), c = numbers(n, n, 3);
  use_threads(threads);
  for (auto _ : state) {
    library_product(peer, n, a.data(), b.data(), c.data());
    benchmark::ClobberMemory();
  }
  use_threads(1);
  state.SetLabel(peer == Peer::openblas ? "OpenBLAS" : "oneDNN");
}
#endif

void by_twill(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const Matrix a = numbers(n, n, 1), b = numbers(n, n, 2);
  Matrix c = matmul(a, b);
#if HAS_PEERS
  const Matrix expected = numbers(n, n, 3);
  library_product(Peer::openblas, n, a.data(), b.data(), expected.data());
  bench::require_close(c.data(), expected.data(), n * n, 1e-3F, "product");
#endif
  if (state.range(1) > 1) {
    for (auto _ : state) {
      c = matmul(a, b);
      benchmark::ClobberMemory();
    }
    return;
  }
  for (auto _ : state) { // what the statement runs, in a team of one
    on_threads(1, [&](const Team& team) {
      kernel::product<float>(kernel::AnyTeam{team}, false, false, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
    });
    benchmark::ClobberMemory();
  }
}

/// Rows, inputs and outputs are the first numbers of the size.
struct Layer {
  explicit Layer(const benchmark::State& state)
      : x{numbers(state.range(0), state.range(1), 1)},
        w{numbers(state.range(2), state.range(1), 2)},
        bias{numbers(1, state.range(2), 3)[0]} {}
  Matrix x;
  Matrix w;
  Tensor<float, Cpu, Shape<dyn>> bias;
};

void separate_layer(benchmark::State& state) {
  const Layer layer{state};
  Matrix y = matmul(layer.x, layer.w.transpose());
  for (auto _ : state) {
    y = matmul(layer.x, layer.w.transpose());
    y += layer.bias;
    y = relu(y);
    benchmark::ClobberMemory();
  }
}

void fused_layer(benchmark::State& state) {
  const Layer layer{state};
  Matrix y = relu(linear(layer.x, layer.w, layer.bias));
  Matrix expected = matmul(layer.x, layer.w.transpose());
  expected += layer.bias;
  expected = relu(expected);
  bench::require_close(y.data(), expected.data(), y.elements(), 1e-3F, "layer");
  for (auto _ : state) {
    y = relu(linear(layer.x, layer.w, layer.bias));
    benchmark::ClobberMemory();
  }
}

#if HAS_PEERS
void require(dnnl_status_t status) {
  if (status == dnnl_success) return;
  std::fprintf(stderr, "oneDNN: status %d\n", static_cast<int>(status));
  std::exit(1);
}

/// oneDNN's matmul primitive with bias and relu as a post-operation, made once.
void onednn_layer(benchmark::State& state) {
  const Layer layer{state};
  const Matrix y = numbers(state.range(0), state.range(2), 4);
  use_threads(static_cast<int>(state.range(3)));
  dnnl_engine_t engine{};
  dnnl_stream_t stream{};
  require(dnnl_engine_create(&engine, dnnl_cpu, 0));
  require(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));
  const dnnl_dims_t shapes[] = {{state.range(0), state.range(1)},
                                {state.range(1), state.range(2)},
                                {1, state.range(2)},
                                {state.range(0), state.range(2)}};
  const dnnl_format_tag_t tags[] = {dnnl_ab, dnnl_ba, dnnl_ab, dnnl_ab};
  dnnl_memory_desc_t descs[4];
  for (int i = 0; i < 4; ++i) require(dnnl_memory_desc_init_by_tag(&descs[i], 2, shapes[i], dnnl_f32, tags[i]));
  dnnl_matmul_desc_t desc{};
  require(dnnl_matmul_desc_init(&desc, &descs[0], &descs[1], &descs[2], &descs[3]));
  dnnl_primitive_attr_t attributes{};
  dnnl_post_ops_t after{};
  require(dnnl_primitive_attr_create(&attributes));
  require(dnnl_post_ops_create(&after));
  require(dnnl_post_ops_append_eltwise(after, 1, dnnl_eltwise_relu, 0, 0));
  require(dnnl_primitive_attr_set_post_ops(attributes, after));
  dnnl_primitive_desc_t described{};
  dnnl_primitive_t primitive{};
  require(dnnl_primitive_desc_create(&described, &desc, attributes, engine, nullptr));
  require(dnnl_primitive_create(&primitive, described));
  void* const data[] = {layer.x.data(), layer.w.data(), layer.bias.data(), y.data()};
  const int names[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST};
  dnnl_exec_arg_t arguments[4];
  for (int i = 0; i < 4; ++i) {
    arguments[i].arg = names[i];
    require(dnnl_memory_create(&arguments[i].memory, &descs[i], engine, data[i]));
  }
  const Matrix expected = relu(linear(layer.x, layer.w, layer.bias));
  require(dnnl_primitive_execute(primitive, stream, 4, arguments));
  bench::require_close(y.data(), expected.data(), y.elements(), 1e-3F, "oneDNN's layer");
  for (auto _ : state) {
    require(dnnl_primitive_execute(primitive, stream, 4, arguments));
    benchmark::ClobberMemory();
  }
  use_threads(1);
}
#endif

void add_all(int threads) {
  const auto add = [&](const char* name, auto run) {
    for (const std::int64_t n : {64, 256, 1024})
      benchmark::RegisterBenchmark(name, run)->Args({n, threads})->UseRealTime();
  };
  add("matrix_product/twill", by_twill);
#if HAS_PEERS
  add("matrix_product/reference", [](benchmark::State& state) { by_library(state, true, Peer::onednn); });
  add("matrix_product/openblas", [](benchmark::State& state) { by_library(state, false, Peer::openblas); });
  add("matrix_product/onednn", [](benchmark::State& state) { by_library(state, false, Peer::onednn); });
#endif
}

} // namespace

int main(int count, char** arguments) {
  configure_host({.devices = 1});
  const int threads = static_cast<int>(cores_of(Cpu{0}).size());
  add_all(1);
  if (threads > 1) add_all(threads);
  const auto add = [&](const char* name, auto run) { // rows, inputs, outputs, threads
    for (const auto& [rows, inputs, outputs] :
         {std::array{32, 256, 256}, std::array{1024, 64, 1024}, std::array{4096, 128, 512}})
      benchmark::RegisterBenchmark(name, run)->Args({rows, inputs, outputs, threads})->UseRealTime();
  };
  add("dense_layer/twill", fused_layer);
  add("dense_layer/separate", separate_layer);
#if HAS_PEERS
  add("dense_layer/reference", onednn_layer);
#endif
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
