#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Row programs that people run every day, written down as the compiler makes them, over any floating type: forward and
// backward, with one and with several results.

#include <tests/kernel/gpu/row_queue.hpp>

namespace kernel_test {

template <class T>
using Softmax = Program<Along<T>, Reduce<Reduction::max, 0>, Step<Primitive::subtract, 0, 1>, Step<Primitive::exp, 2>,
                        Reduce<Reduction::sum, 3>, Step<Primitive::divide, 3, 4>, Out<T, 5>>;

/// Of y and its cotangent: y * (dy - sum(y * dy)).
template <class T>
using SoftmaxGradient = Program<Along<T>, Along<T>, Step<Primitive::multiply, 0, 1>, Reduce<Reduction::sum, 2>,
                                Step<Primitive::subtract, 1, 3>, Step<Primitive::multiply, 0, 4>, Out<T, 5>>;

template <class T>
using LogSoftmax =
    Program<Along<T>, Reduce<Reduction::max, 0>, Step<Primitive::subtract, 0, 1>, Step<Primitive::exp, 2>,
            Reduce<Reduction::sum, 3>, Step<Primitive::log, 4>, Step<Primitive::subtract, 2, 5>, Out<T, 6>>;

/// (x - mean) * rsqrt(variance + epsilon) * weight + bias, with the mean and the inverse deviation as results, too. The
/// immediates are what the mean multiplies by and epsilon, as random numbers, squared.
template <class T>
using LayerNorm = Program<Along<T>, Along<T>, Along<T>, Immediate<T>, Immediate<T>, Reduce<Reduction::sum, 0>,
                          Step<Primitive::multiply, 5, 3>, Step<Primitive::subtract, 0, 6>, Step<Primitive::square, 7>,
                          Reduce<Reduction::sum, 8>, Step<Primitive::square, 4>, Step<Primitive::add, 9, 10>,
                          Step<Primitive::rsqrt, 11>, Step<Primitive::multiply, 7, 12>, Step<Primitive::fma, 13, 1, 2>,
                          Out<T, 14>, Out<T, 6>, Out<T, 12>>;

/// Of x, weight, the cotangent, and per row the mean and the inverse deviation: two sums in one stage.
template <class T>
using LayerNormGradient =
    Program<Along<T>, Along<T>, Along<T>, Shared<T>, Shared<T>, Immediate<T>, Step<Primitive::subtract, 0, 3>,
            Step<Primitive::multiply, 6, 4>, Step<Primitive::multiply, 1, 2>, Step<Primitive::multiply, 7, 8>,
            Reduce<Reduction::sum, 8>, Reduce<Reduction::sum, 9>, Step<Primitive::multiply, 10, 5>,
            Step<Primitive::multiply, 11, 5>, Step<Primitive::multiply, 7, 13>, Step<Primitive::subtract, 8, 12>,
            Step<Primitive::subtract, 15, 14>, Step<Primitive::multiply, 16, 4>, Out<T, 17>>;

template <class T>
using RmsNorm =
    Program<Along<T>, Along<T>, Step<Primitive::square, 0>, Reduce<Reduction::sum, 2>, Step<Primitive::sqrt, 3>,
            Step<Primitive::divide, 0, 4>, Step<Primitive::multiply, 5, 1>, Out<T, 6>>;

/// The loss of each row and its gradient, from logits and a label: log(sum(exp(x - max))) - (x - max)[label], and
/// softmax - (column == label).
template <class T>
using CrossEntropy =
    Program<Along<T>, Shared<std::int64_t>, Iota, Immediate<T>, Immediate<T>, Reduce<Reduction::max, 0>,
            Step<Primitive::subtract, 0, 5>, Step<Primitive::exp, 6>, Reduce<Reduction::sum, 7>,
            Step<Primitive::log, 8>, Step<Primitive::equal, 2, 1>, Step<Primitive::where, 10, 6, 3>,
            Reduce<Reduction::sum, 11>, Step<Primitive::subtract, 9, 12>, Step<Primitive::divide, 7, 8>,
            Step<Primitive::where, 10, 4, 3>, Step<Primitive::subtract, 14, 15>, Out<T, 13>, Out<T, 16>>;

/// Masked softmax times dropout: y = softmax(where(mask, x, low)); kept where a draw says so.
template <class T>
using MaskedSoftmax = Program<Along<T>, Along<bool>, Immediate<T>, Step<Primitive::where, 1, 0, 2>,
                              Reduce<Reduction::max, 3>, Step<Primitive::subtract, 3, 4>, Step<Primitive::exp, 5>,
                              Reduce<Reduction::sum, 6>, Step<Primitive::divide, 6, 7>, Out<T, 8>>;

/// Five results of one pass.
template <class T>
using Statistics = Program<Along<T>, Reduce<Reduction::sum, 0>, Reduce<Reduction::max, 0>, Reduce<Reduction::min, 0>,
                           Step<Primitive::square, 0>, Reduce<Reduction::sum, 4>, Step<Primitive::isnan, 0>,
                           Reduce<Reduction::any, 6>, Out<T, 1>, Out<T, 2>, Out<T, 3>, Out<T, 5>, Out<bool, 7>>;

template <class T> using Sum = Program<Along<T>, Reduce<Reduction::sum, 0>, Out<T, 1>>;

/// The results of a program over doubles, from the same operands. `Make<T>` is the program over T; immediates count too.
template <template <class> class Make, class T>
[[nodiscard]] Bound<Make<double>> in_doubles(const Grid& grid, const Bound<Make<T>>& from) {
  Bound<Make<double>> bound{grid, 1};
  std::size_t next = 0, place = 0;
  for (const Line& line : summary_of<Make<T>>.lines) {
    if (line.operand < 0) continue;
    const std::size_t own = place++;
    if (line.kind == LineKind::immediate) {
      bound.operands[own].bits = std::bit_cast<std::uint64_t>(
          as_double(line.type, reinterpret_cast<const std::byte*>(&from.operands[own].bits)));
    } else if (line.kind != LineKind::iota) {
      const Memory& memory = from.memory[next];
      const Memory& wide = bound.memory[next++];
      const std::size_t size = size_of(line.type);
      const bool is_same = !is_floating(line.type);
      for (std::size_t i = 0; i < memory.bytes() / size; ++i) {
        const double value = as_double(line.type, memory.data() + i * size);
        if (is_same)
          std::memcpy(wide.data() + i * size, memory.data() + i * size, size);
        else
          std::memcpy(wide.data() + i * 8, &value, 8);
      }
    }
  }
  return bound;
}

/// The largest difference of outputs from those of the program over doubles, relative where values are above 1.
template <template <class> class Make, class T>
[[nodiscard]] double distance(const Bound<Make<T>>& ours, const Bound<Make<double>>& exact) {
  double worst = 0;
  std::size_t next = 0;
  for (const Line& line : summary_of<Make<T>>.lines) {
    if (line.operand < 0 || line.kind == LineKind::immediate || line.kind == LineKind::iota) continue;
    const Memory& mine = ours.memory[next];
    const Memory& theirs = exact.memory[next++];
    if (line.kind != LineKind::output) continue;
    const std::size_t size = size_of(line.type);
    const std::size_t wide = is_floating(line.type) ? 8 : size;
    for (std::size_t i = 0; i < mine.bytes() / size; ++i) {
      const double a = as_double(line.type, mine.data() + i * size);
      const double b = as_double(is_floating(line.type) ? DType::float64 : line.type, theirs.data() + i * wide);
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      const double error = std::abs(a - b) / std::max(1.0, std::abs(b));
      if (!(error <= worst)) worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    }
  }
  return worst;
}

/// How far a program's results on a GPU lie from those over doubles.
template <template <class> class Make, class T>
[[nodiscard]] double error_of(const Grid& grid, const std::optional<RowLaunch>& launch = {}, unsigned seed = 1) {
  const Bound<Make<T>> ours{grid, seed};
  const Bound<Make<double>> exact = in_doubles<Make, T>(grid, ours);
  run_rows_on<Make<T>>(RowQueue{}, grid, ours.operands.data(), launch);
  reference::run(Make<double>{}, grid, exact.operands.data());
  return distance<Make, T>(ours, exact);
}
/// The same for the host's kernels.
template <template <class> class Make, class T>
[[nodiscard]] double host_error_of(const Grid& grid, unsigned seed = 1) {
  const Bound<Make<T>> ours{grid, seed};
  const Bound<Make<double>> exact = in_doubles<Make, T>(grid, ours);
  run(Make<T>{}, Threads{1}, grid, ours.operands.data());
  reference::run(Make<double>{}, grid, exact.operands.data());
  return distance<Make, T>(ours, exact);
}

} // namespace kernel_test
