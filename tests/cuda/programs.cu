// SPDX-License-Identifier: Apache-2.0
//
// Every kind of fused program as kernel and as host code: from programs written down, and from the gradients of a model
// that is a named type, a lambda, and a type local to a function. What the compiler made of the kernels is read by
// check_ptx.py.

#include <tests/cuda/programs.hpp>

#include <twill/compile/function.hpp>
#include <twill/device/cpu/cpu.hpp>
#include <twill/device/cuda/cuda.cuh>
#include <twill/kernel/cuda/block.cuh>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/kernel/launch.hpp>
#include <twill/tensor/create.hpp>

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

namespace {

using namespace twill;
using kernel::Access;
using kernel::In;
using kernel::Operand;
using kernel::Out;
using kernel::Primitive;
using kernel::Program;
using kernel::Reduce;
using kernel::ReduceColumns;
using kernel::Reduction;
using kernel::Step;

using X = Tensor<float, Cpu, Shape<5, 7>>;
using W = Tensor<float, Cpu, Shape<7>>;

struct Named {
  template <class A, class B> constexpr auto operator()(A x, B w) const { return mean(square(tanh(x * w) + w)); }
};

/// Calls f with the model in the spelling that was asked for.
template <class F> auto with_model(Spelling spelling, F f) {
  struct Local {
    constexpr graph::Value operator()(graph::Value x, graph::Value w) const { return mean(square(tanh(x * w) + w)); }
  };
  constexpr auto lambda = [](auto x, auto w) { return mean(square(tanh(x * w) + w)); };
  if (spelling == Spelling::named) return f(Named{});
  if (spelling == Spelling::lambda) return f(lambda);
  return f(Local{});
}

void append(std::vector<float>& values, const auto& tensor) {
  values.insert(values.end(), tensor.data(), tensor.data() + tensor.elements());
}

/// The lines of kernel K of a source, as a program.
template <class S, std::size_t First, std::size_t... I> auto program_at(std::index_sequence<I...>) {
  return Program<typename kernel::TypeOfLine<S::table.lines[First + I]>::type...>{};
}

/// Names the CUDA kernel of every fused program of a source, and tells how many there are.
template <class S, std::size_t K> int kernel_at() {
  constexpr auto info = S::table.kernels[K];
  if constexpr (info.kind == compile::KernelKind::operation) {
    return 0;
  } else {
    using Launch = decltype(program_at<S, static_cast<std::size_t>(info.first_line)>(
        std::make_index_sequence<static_cast<std::size_t>(info.line_count)>{}));
    const auto launch = [](auto program, const gpu::Queue<CudaRuntime>& queue, const kernel::Grid& grid,
                           const Operand* operands) { kernel::run(program, queue, grid, operands); };
    void (*keep)(Launch, const gpu::Queue<CudaRuntime>&, const kernel::Grid&, const Operand*) = launch;
    return keep != nullptr ? 1 : 0;
  }
}
template <class S, std::size_t... K> int kernels_at(std::index_sequence<K...>) { return (0 + ... + kernel_at<S, K>()); }

using Elementwise =
    Program<In<float, Access::contiguous>, Step<Primitive::tanh, 0>, Step<Primitive::add, 1, 1>, Out<float, 2>>;
using Softmax =
    Program<In<float, Access::contiguous>, Reduce<Reduction::max, 0>, Step<Primitive::subtract, 0, 1>,
            Step<Primitive::exp, 2>, Reduce<Reduction::sum, 3>, Step<Primitive::divide, 3, 4>, Out<float, 5>>;
using ColumnSums = Program<In<float, Access::contiguous>, ReduceColumns<Reduction::sum, 0>, Out<float, 1>>;

template <class F> void with_program(Kind kind, F f) {
  if (kind == Kind::elementwise) f(Elementwise{});
  if (kind == Kind::row) f(Softmax{});
  if (kind == Kind::column) f(ColumnSums{});
}

/// Operands for x and a result of 5 by 7, or of 7 when columns are reduced.
std::pair<Operand, Operand> bind(Kind kind, const void* x, void* result) {
  Operand in{};
  Operand out{};
  in.data = const_cast<void*>(x);
  out.data = result;
  in.strides = {7, 1};
  out.strides = {kind == Kind::column ? 0 : 7, 1};
  return {in, out};
}

std::size_t result_size(Kind kind) { return kind == Kind::column ? 7 : 35; }

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

} // namespace

std::vector<float> value_and_gradients_on_host(Spelling spelling, const std::vector<float>& x,
                                               const std::vector<float>& w) {
  const X input = from_values<Shape<5, 7>>(x, Dims(5, 7));
  const W weight = from_values<Shape<7>>(w, Dims(7));
  return with_model(spelling, [&](auto model) {
    const auto [value, by_x, by_w] = value_and_grad(model)(input, weight);
    std::vector<float> all{};
    append(all, value);
    append(all, by_x);
    append(all, by_w);
    return all;
  });
}

int kernels_of_model(Spelling spelling) {
  return with_model(spelling, [](auto model) {
    using Gradients = decltype(value_and_grad(model));
    using S = compile::Compiled<compile::FunctionSource<Gradients, compile::argument_t<X>, compile::argument_t<W>>>;
    return kernels_at<S>(std::make_index_sequence<static_cast<std::size_t>(S::sizes.kernels)>{});
  });
}

bool has_gpu() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

std::vector<float> run_on_host(Kind kind, const std::vector<float>& x) {
  std::vector<float> result(result_size(kind));
  const auto [in, out] = bind(kind, x.data(), result.data());
  const Operand operands[2] = {in, out};
  with_program(kind, [&](auto program) {
    kernel::launch(program, Cpu{0}, kernel::Grid(5, 7), operands);
    synchronize(Cpu{0});
  });
  return result;
}

std::vector<float> run_on_gpu(Kind kind, const std::vector<float>& x) {
  std::vector<float> result(result_size(kind));
  float* memory = nullptr;
  check(cudaMalloc(&memory, 2 * 35 * sizeof(float)));
  check(cudaMemcpy(memory, x.data(), 35 * sizeof(float), cudaMemcpyHostToDevice));
  const auto [in, out] = bind(kind, memory, memory + 35);
  const Operand operands[2] = {in, out};
  with_program(kind, [&](auto program) { kernel::launch(program, Cuda{0}, kernel::Grid(5, 7), operands); });
  synchronize(Cuda{0});
  check(cudaMemcpy(result.data(), memory + 35, result.size() * sizeof(float), cudaMemcpyDeviceToHost));
  check(cudaFree(memory));
  return result;
}
