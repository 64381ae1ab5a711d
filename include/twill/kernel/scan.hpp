#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Cumulative reductions along one axis of row-major memory. A long row is cut into chunks of a fixed size: each is
// scanned by itself and combined with the total before it, in one order, so the bits do not depend on the number of
// threads. Down a middle axis, neighbouring columns advance together. Read next: kernel/gpu/scan.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/primitive.hpp>
#include <twill/kernel/scratch.hpp>
#include <twill/kernel/walk.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel {

/// Step-by-step combination of a reduction. Those that round do so in float64, like PyTorch's on hosts: the error of a
/// running total grows with its length.
template <Reduction R> struct Running {
  static constexpr bool is_arithmetic = R == Reduction::sum || R == Reduction::product;
  template <class T>
  using accumulator_t =
      std::conditional_t<!is_arithmetic, T,
                         std::conditional_t<std::is_same_v<T, float>, double,
                                            std::conditional_t<std::is_same_v<T, complex64>, complex128, T>>>;
  template <class T> static constexpr T combine(T before, T x) {
    if constexpr (!ComplexScalar<T>)
      return kernel::combine<R>(before, x);
    else if constexpr (R == Reduction::sum)
      return before + x;
    else
      return before * x;
  }
};
/// log(exp(a) + exp(b)), without overflow.
struct RunningLogSumExp {
  template <class T> using accumulator_t = T;
  template <class T> static constexpr T combine(T a, T b) {
    const T greater = kernel::combine<Reduction::max>(a, b);
    if (!(greater - greater == T{0})) return greater; // infinite, or NaN
    return greater + std::log1p(std::exp(-std::abs(a - b)));
  }
};

inline namespace TWILL_ISA {

/// `outer` blocks of `length` by `inner` elements, scanned along `length`.
struct ScanShape {
  std::int64_t outer = 1;
  std::int64_t length = 0;
  std::int64_t inner = 1;
};

template <class Op, class T> class Scan {
  using C = typename Op::template accumulator_t<compute_t<T>>;
  static constexpr std::int64_t chunk = 16384;         ///< elements of a row that are scanned from their own start
  static constexpr std::int64_t width = 64;            ///< columns that advance together
  static constexpr std::int64_t worth_sharing = 65536; ///< elements

public:
  Scan(const T* from, T* to, const ScanShape& shape) : from_{from}, to_{to}, shape_{shape} {}

  template <class Team> void run(const Team& team) const {
    if (elements() == 0) return;
    const std::int64_t blocks = (shape_.inner + width - 1) / width;
    if (shares_rows(team)) {
      for (std::int64_t row = 0; row < shape_.outer; ++row) long_row(team, row * shape_.length);
      return;
    }
    const auto work = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        shape_.inner == 1 ? one_row(i * shape_.length) : columns(i / blocks, i % blocks * width);
    };
    const std::int64_t count = shape_.inner == 1 ? shape_.outer : shape_.outer * blocks;
    if (threads_of(team) == 1) return work(0, count);
    team.parallel([&](int rank, int size) {
      const Share mine = share_of(count, 1, rank, size);
      work(mine.begin, mine.end);
    });
  }

  /// Starts the threads of a run and takes its working memory, which the calling thread has.
  template <class Team> TWILL_COLD void reserve(const Team& team) const {
    if (threads_of(team) > 1) team.parallel([](int, int) {});
    if (shares_rows(team)) Scratch::reserve<C>(chunks());
  }

private:
  [[nodiscard]] std::int64_t elements() const { return shape_.outer * shape_.length * shape_.inner; }
  template <class Team> [[nodiscard]] int threads_of(const Team& team) const {
    return elements() < worth_sharing ? 1 : team.size();
  }
  /// Whether threads share each row.
  template <class Team> [[nodiscard]] bool shares_rows(const Team& team) const {
    return shape_.inner == 1 && shape_.outer < threads_of(team) && shape_.length > chunk;
  }

  /// The total of a chunk.
  [[nodiscard]] C total(std::int64_t begin, std::int64_t end) const {
    C running = static_cast<C>(from_[begin]);
    for (std::int64_t i = begin + 1; i < end; ++i) running = Op::combine(running, static_cast<C>(from_[i]));
    return running;
  }
  /// Scans a chunk that follows others; returns the total of all of them.
  C scan(std::int64_t begin, std::int64_t end, bool is_first, C before) const {
    C running = static_cast<C>(from_[begin]);
    C all = is_first ? running : Op::combine(before, running);
    to_[begin] = static_cast<T>(all);
    for (std::int64_t i = begin + 1; i < end; ++i) {
      running = Op::combine(running, static_cast<C>(from_[i]));
      all = is_first ? running : Op::combine(before, running);
      to_[i] = static_cast<T>(all);
    }
    return all;
  }

  void one_row(std::int64_t start) const {
    C before{};
    for (std::int64_t begin = 0; begin < shape_.length; begin += chunk)
      before = scan(start + begin, start + std::min(begin + chunk, shape_.length), begin == 0, before);
  }

  [[nodiscard]] std::int64_t chunks() const { return (shape_.length + chunk - 1) / chunk; }

  template <class Team> void long_row(const Team& team, std::int64_t start) const {
    const std::int64_t chunks = this->chunks();
    C* const before = Scratch::of_thread<C>(chunks); // the total of the chunks before each
    const auto end_of = [&](std::int64_t i) { return start + std::min((i + 1) * chunk, shape_.length); };
    team.parallel([&](int rank, int size) {
      const Share mine = share_of(chunks, 1, rank, size);
      for (std::int64_t i = mine.begin; i < mine.end; ++i) before[i] = total(start + i * chunk, end_of(i));
    });
    C all = before[0];
    for (std::int64_t i = 1; i < chunks; ++i) {
      const C own = before[i];
      before[i] = all;
      all = Op::combine(all, own);
    }
    team.parallel([&](int rank, int size) {
      const Share mine = share_of(chunks, 1, rank, size);
      for (std::int64_t i = mine.begin; i < mine.end; ++i) scan(start + i * chunk, end_of(i), i == 0, before[i]);
    });
  }

  void columns(std::int64_t block, std::int64_t first) const {
    const std::int64_t count = std::min(width, shape_.inner - first);
    const std::int64_t start = block * shape_.length * shape_.inner + first;
    C running[width];
    for (std::int64_t k = 0; k < shape_.length; ++k) {
      const T* from = from_ + start + k * shape_.inner;
      T* to = to_ + start + k * shape_.inner;
      for (std::int64_t j = 0; j < count; ++j) {
        running[j] = k == 0 ? static_cast<C>(from[j]) : Op::combine(running[j], static_cast<C>(from[j]));
        to[j] = static_cast<T>(running[j]);
      }
    }
  }

  const T* from_;
  T* to_;
  ScanShape shape_;
};

/// Scans row-major elements into others. The two may be the same.
/// requires: `team.size()`, `team.parallel(f(rank, size))`
template <class Op, class T, class Team> void scan(const Team& team, const T* from, T* to, const ScanShape& shape) {
  Scan<Op, T>{from, to, shape}.run(team);
}

} // namespace TWILL_ISA
}}} // namespace twill::v0::kernel
