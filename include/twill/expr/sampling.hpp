#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Random orders and random choices: permutation, shuffle, choice, multinomial. Draws are pure functions of seed, number
// of the draw and place, so all device kinds give the same. Read next: kernel/sampling.hpp, expr/draws.hpp.

#include <twill/core/bits.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/device/generator.hpp>
#include <twill/expr/draws.hpp>
#include <twill/expr/gather.hpp>
#include <twill/expr/reductions.hpp>
#include <twill/expr/take.hpp>
#include <twill/kernel/on_queue.hpp>
#include <twill/kernel/sampling.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/tensor.hpp>
#include <twill/tensor/views.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Options of random choices.
struct SamplingOptions {
  bool replacement = false; ///< whether one can be chosen again
};

}}} // namespace twill::v0::TWILL_ISA

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// 0 to n - 1 in the order of random keys; of equal keys, in their own. The upper bits of a key say which of many short
/// stretches it belongs to, so that no sort has far to go.
void shuffle_places(std::int64_t* places, std::int64_t n, RandomDraw draw);

/// Places drawn with replacement: the first whose sum of weights exceeds a share of the total.
void draw_with_replacement(const double* weights, double greatest, std::int64_t* sums, std::int64_t n, std::int64_t* to,
                           std::int64_t count, RandomDraw draw, std::uint64_t first);

/// Places drawn once each: those whose clocks ring first.
void draw_without_replacement(const double* weights, double* clocks, std::int64_t* order, std::int64_t n,
                              std::int64_t* to, std::int64_t count, RandomDraw draw, std::uint64_t first);

[[noreturn]] inline void throw_sampling(const std::string& text) { throw ValueError("multinomial: " + text); }

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// 0 to n - 1 in random order. throws: ValueError
template <Device D = Cpu>
[[nodiscard]] Tensor<std::int64_t, D, Shape<dyn>> permutation(std::int64_t n, const D& device = current_device<D>()) {
  if (n < 0) throw ValueError("permutation: the length is " + std::to_string(n) + "; it is at least 0");
  const Tensor<std::int64_t, D, Shape<dyn>> result(device, Dims(n));
  const RandomDraw draw = generator(device).next();
  if constexpr (kernel::has_queue<D>)
    kernel::gpu::shuffle_places(device, result.data(), n, draw);
  else
    launch(device, [n, draw, to = result.data()](const auto&) { expr::shuffle_places(to, n, draw); });
  return result;
}
/// The slices along the first axis in random order, in new memory.
template <TensorOperand X>
requires(std::remove_cvref_t<X>::shape_type::rank > 0) [[nodiscard]] auto permutation(X&& x) {
  const auto source = expr::evaluated(std::forward<X>(x));
  using Source = std::remove_cvref_t<decltype(source)>;
  return Source(eval(take<0>(source, permutation(source.size(0), source.device()))));
}
/// Puts the slices along the first axis of x in random order, for all handles that share them.
template <AnyTensor X> void shuffle(const X& x) { x.copy_from(permutation(x)); }

/// Places chosen with probabilities in proportion to weights; of a matrix, for each of its rows.
/// throws: ValueError for negative weights or none that is positive, and for more than there are without replacement
template <TensorOperand W>
requires(std::remove_cvref_t<W>::shape_type::rank == 1 || std::remove_cvref_t<W>::shape_type::rank == 2)
    [[nodiscard]] auto multinomial(W&& weights, std::int64_t count, SamplingOptions options = {}) {
  using S = typename std::remove_cvref_t<W>::shape_type;
  using D = typename std::remove_cvref_t<W>::device_type;
  const auto given = expr::evaluated(std::forward<W>(weights)).template to<double>().contiguous();
  const std::int64_t n = given.size(-1);
  const std::int64_t rows = S::rank == 1 ? 1 : given.size(0);
  if (count < 0) expr::throw_sampling("the count is " + std::to_string(count) + "; it is at least 0");
  if (given.elements() == 0 && rows * count > 0) expr::throw_sampling("there are no weights to choose from");
  if constexpr (D::has_memory) {
    if (given.elements() > 0) {
      const double least = min(given).item();
      const double sums = min(sum<-1>(given)).item();
      if (!(least >= 0)) expr::throw_sampling("a weight is " + std::to_string(least) + "; weights are at least 0");
      if (!(sums > 0) || !std::isfinite(max(given).item()))
        expr::throw_sampling("the weights of a row sum to " + std::to_string(sums) +
                             "; the sum is positive, and weights are finite");
      const std::int64_t fewest = min(sum<-1>(given > 0.0)).item();
      if (!options.replacement && count > fewest)
        expr::throw_sampling(std::to_string(count) + " are asked for without replacement, and a row has " +
                             std::to_string(fewest) + " positive weights");
    }
  }
  using Result = Tensor<std::int64_t, D, dynamic_shape_t<S::rank>>;
  const Result result(given.device(), S::rank == 1 ? Dims(count) : Dims(rows, count));
  if (result.elements() == 0) return result;
  const auto greatest = eval(max<-1>(given));
  const RandomDraw draw = generator(given.device()).next();
  if constexpr (kernel::has_queue<D>) {
    const double* const from = given.data();
    if (options.replacement)
      kernel::gpu::draw_with_replacement(given.device(), from, greatest.data(), rows, n, result.data(), count, draw);
    else
      kernel::gpu::draw_without_replacement(given.device(), from, rows, n, result.data(), count, draw);
  } else {
    const Tensor<double, D, Shape<dyn>> clocks(given.device(), Dims(options.replacement ? 0 : n));
    const Tensor<std::int64_t, D, Shape<dyn>> working(given.device(), Dims(n));
    launch(given.device(), [=, from = given.data(), most = greatest.data(), to = result.data(), clock = clocks.data(),
                            work = working.data()](const auto&) {
      for (std::int64_t row = 0; row < rows; ++row) {
        const auto first = static_cast<std::uint64_t>(row * (options.replacement ? count : n));
        if (options.replacement)
          expr::draw_with_replacement(from + row * n, most[row], work, n, to + row * count, count, draw, first);
        else
          expr::draw_without_replacement(from + row * n, clock, work, n, to + row * count, count, draw, first);
      }
    });
  }
  return result;
}

/// A number of slices along the first axis, all equally likely. throws: ValueError
template <TensorOperand X>
requires(std::remove_cvref_t<X>::shape_type::rank > 0)
    [[nodiscard]] auto choice(X&& x, std::int64_t count, SamplingOptions options = {}) {
  const auto source = expr::evaluated(std::forward<X>(x));
  const std::int64_t n = source.size(0);
  if (count < 0 || (count > 0 && n == 0) || (!options.replacement && count > n))
    throw ValueError("choice: " + std::to_string(count) + " of " + std::to_string(n) +
                     (options.replacement ? " cannot be chosen" : " cannot be chosen without replacement"));
  if (options.replacement && n > 0)
    return eval(take<0>(source, integers<std::int64_t, Shape<dyn>>(0, n, Dims(count), source.device())));
  return eval(take<0>(source, narrow<0>(permutation(n, source.device()), 0, count)));
}

}}} // namespace twill::v0::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/expr/sampling.ipp>
#endif
