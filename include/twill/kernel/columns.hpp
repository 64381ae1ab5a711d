#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Column programs: reductions down the first dimension of the grid, such as bias gradients and batch statistics. A block of
// columns stays in the first-level cache while the rows stream by, a few at a time in registers. Rows are summed in fixed
// chunks, so the bits do not depend on how many threads took part. Read next: kernel/run.hpp.

#include <twill/kernel/rows.hpp>
#include <twill/kernel/scratch.hpp>
#include <twill/kernel/stage.hpp>
#include <twill/kernel/walk.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace twill::inline v0::kernel::inline TWILL_ISA {

namespace vector_detail {
inline constexpr std::int64_t rows_at_once = 8;     ///< summed in a register
inline constexpr std::int64_t rows_of_chunk = 1024; ///< summed before chunks are combined
inline constexpr std::int64_t block_columns = 2048; ///< whose sums stay in the first-level cache
} // namespace vector_detail

template <class P> class ColumnKernel {
  using B = Body<P>;
  using Loop = StageLoop<P, 0>;
  using At = typename B::At;
  using Uniforms = typename B::Uniforms;
  static constexpr typename B::Indices all{};
  static constexpr std::int64_t slot_bytes = 8; ///< of one sum

public:
  ColumnKernel(const Grid& grid, const Operand* bound)
      : bound_{bound},
        rows_{grid.rank == 0 ? 1 : grid[0]},
        n_{grid.rank < 2 ? 1 : grid[grid.rank - 1]},
        walk_{grid, bound, RowKernel<P>::units, 1, grid.rank < 2 ? 1 : grid.rank - 1} {
    const std::size_t last = grid.rank < 2 ? 0 : static_cast<std::size_t>(grid.rank - 1);
    for (int i = 0; i < B::count; ++i) {
      const Line line = B::line(i);
      if (line.operand < 0) continue;
      const auto o = static_cast<std::size_t>(line.operand);
      start_.at[o] = line.kind == LineKind::iota || line.kind == LineKind::immediate
                         ? static_cast<std::int64_t>(bound[o].bits)
                         : reinterpret_cast<std::int64_t>(bound[o].data);
      start_.stride[o] = n_ == 1 ? 1 : bound[o].strides[last];
      if (line.kind == LineKind::output && start_.stride[o] != 1) start_.mode[o] = StoreMode::scatter;
      down_[o] = bound[o].strides[0] * RowKernel<P>::units[o];
    }
  }

  template <class Team> void run(const Team& team) {
    At at = start_;
    for (std::int64_t slice = 0; slice < walk_.count(); ++slice, walk_.next(at.at)) one_slice(at, team);
  }

private:
  template <class Team> void one_slice(const At& at, const Team& team) {
    const std::int64_t work = rows_ * n_ * (B::plan.operations + 2 * B::operands);
    const bool shared = team.size() > 1 && work >= vector_detail::worth_sharing;
    const std::int64_t chunks = (rows_ + vector_detail::rows_of_chunk - 1) / vector_detail::rows_of_chunk;
    if (!shared) {
      some_columns(at, 0, n_);
    } else if (n_ >= 8 * B::lanes * team.size() || chunks < team.size()) {
      team.parallel([&](int rank, int size) {
        const Share mine = share_of(n_, B::lanes, rank, size);
        if (mine.begin < mine.end) some_columns(at, mine.begin, mine.end);
      });
    } else {
      // few columns and many rows: every chunk has sums of its own
      const std::int64_t bytes = sums_bytes(n_);
      std::byte* sums = Scratch::of_thread(static_cast<std::size_t>(bytes * (chunks + 1)));
      team.parallel([&](int rank, int size) {
        const Share mine = share_of(chunks, 1, rank, size);
        for (std::int64_t chunk = mine.begin; chunk < mine.end; ++chunk)
          sum_chunk(at, chunk, 0, n_, sums + (chunk + 1) * bytes);
      });
      clear(sums, n_);
      for (std::int64_t chunk = 0; chunk < chunks; ++chunk) add(sums, sums + (chunk + 1) * bytes, n_);
      finish(at, 0, n_, sums);
    }
  }

  void some_columns(const At& at, std::int64_t begin, std::int64_t end) const {
    for (; begin < end; begin += vector_detail::block_columns) {
      const std::int64_t stop = std::min(end, begin + vector_detail::block_columns);
      const std::int64_t bytes = sums_bytes(stop - begin);
      std::byte* sums = Scratch::of_thread(static_cast<std::size_t>(2 * bytes));
      clear(sums, stop - begin);
      for (std::int64_t chunk = 0; chunk * vector_detail::rows_of_chunk < rows_; ++chunk) {
        sum_chunk(at, chunk, begin, stop, sums + bytes);
        add(sums, sums + bytes, stop - begin);
      }
      finish(at, begin, stop, sums);
    }
  }

  /// The bytes of the sums of so many columns, whole packs for each reduction.
  [[nodiscard]] static std::int64_t sums_bytes(std::int64_t columns) { return reductions * row_bytes(columns); }
  [[nodiscard]] static std::int64_t row_bytes(std::int64_t columns) {
    return (columns + B::lanes - 1) / B::lanes * B::lanes * slot_bytes;
  }
  static constexpr int reductions = B::summary.reductions;
  /// Which of the reductions a line is.
  [[nodiscard]] static constexpr int ordinal(int i) {
    int before = 0;
    for (int k = 0; k < i; ++k) before += B::line(k).kind == LineKind::reduce_columns ? 1 : 0;
    return before;
  }
  /// How a reduction's sums are kept: bytes for truth values.
  template <int I>
  using Kept = std::conditional_t<B::line(I).type == DType::boolean, std::uint8_t, typename B::template Scalar<I>>;

  template <class F> static TWILL_INLINE void each_reduction(F f) {
    Loop::each(
        [&]<int I>() __attribute__((always_inline)) {
          if constexpr (B::line(I).kind == LineKind::reduce_columns) f.template operator()<I>();
        },
        all);
  }

  static void clear(std::byte* sums, std::int64_t columns) {
    each_reduction([&]<int I>() {
      auto* row = reinterpret_cast<Kept<I>*>(sums + ordinal(I) * row_bytes(columns));
      const auto nothing = static_cast<Kept<I>>(identity<B::line(I).reduction, typename B::template Scalar<I>>());
      std::fill(row, row + columns, nothing);
    });
  }

  static void add(std::byte* sums, const std::byte* more, std::int64_t columns) {
    each_reduction([&]<int I>() {
      using T = typename B::template Scalar<I>;
      auto* row = reinterpret_cast<Kept<I>*>(sums + ordinal(I) * row_bytes(columns));
      const auto* other = reinterpret_cast<const Kept<I>*>(more + ordinal(I) * row_bytes(columns));
      for (std::int64_t j = 0; j < columns; ++j)
        row[j] = static_cast<Kept<I>>(
            kernel::combine<B::line(I).reduction>(static_cast<T>(row[j]), static_cast<T>(other[j])));
    });
  }

  void sum_chunk(const At& slice, std::int64_t chunk, std::int64_t begin, std::int64_t end, std::byte* sums) const {
    const std::int64_t first = chunk * vector_detail::rows_of_chunk;
    const std::int64_t last = std::min(rows_, first + vector_detail::rows_of_chunk);
    alignas(64) std::byte buffer[B::operands][static_cast<std::size_t>(B::lanes) * 8];
    const std::int64_t bytes = row_bytes(end - begin);
    if constexpr (counts_access) Loop::count((last - first) * (end - begin));
    for (std::int64_t top = first; top < last; top += vector_detail::rows_at_once) {
      At base = slice;
      for (std::size_t o = 0; o < B::operands; ++o) base.at[o] += top * down_[o];
      const std::int64_t height = std::min(last - top, vector_detail::rows_at_once);
      for (std::int64_t j = begin; j < end; j += B::lanes)
        few_rows(base, height, j, std::min<std::int64_t>(end - j, B::lanes), top > first, sums, j - begin, bytes,
                 buffer);
    }
  }

  /// A pack of columns over a few rows, added to the sums unless they are the first.
  void few_rows(const At& base, std::int64_t height, std::int64_t j, std::int64_t width, bool add, std::byte* sums,
                std::int64_t column, std::int64_t bytes,
                std::byte (*buffer)[static_cast<std::size_t>(B::lanes) * 8]) const {
    At at = base;
    Uniforms uniforms{};
    typename Loop::Accumulators registers = Loop::start();
    const bool whole = width == B::lanes;
    for (std::int64_t row = 0; row < height; ++row) {
      B::template uniforms_at<0>(uniforms, at, bound_, all);
      const At here = whole ? at : Loop::tail_of(at, buffer, j, width, all);
      Loop::template pack<0>(uniforms, here, {}, j, registers, all);
      if (!whole) Loop::finish_tail(registers, registers, at, buffer, j, 0, width, all);
      for (std::size_t o = 0; o < B::operands; ++o) at.at[o] += down_[o];
    }
    each_reduction([&]<int I>() __attribute__((always_inline)) {
      auto* row = reinterpret_cast<Kept<I>*>(sums + ordinal(I) * bytes) + column;
      auto& mine = Loop::template slot_of<I>(registers)[0];
      using V = std::remove_reference_t<decltype(mine)>;
      if constexpr (is_mask<V>) {
        using Bytes = Pack<std::uint8_t, B::lanes>;
        if (add) {
          const auto before = load<std::uint8_t, B::lanes>(row) != Bytes{std::uint8_t{0}};
          mine = combine<B::line(I).reduction>(mine, resize<V::width>(before));
        }
        store(row, Bytes{(typename Bytes::Vector)(resize<1>(mine).v & 1)});
      } else {
        if (add) mine = combine<B::line(I).reduction>(load<Kept<I>, B::lanes>(row), mine);
        store(row, mine);
      }
    });
  }

  /// Stores the sums of a block of columns.
  void finish(const At& at, std::int64_t begin, std::int64_t end, const std::byte* sums) const {
    Loop::each(
        [&]<int I>() {
          if constexpr (B::line(I).kind == LineKind::output && B::line(I).column) {
            constexpr auto o = static_cast<std::size_t>(B::line(I).operand);
            constexpr int from = B::line(I).arguments[0];
            using T = typename B::template Element<I>;
            T* to = reinterpret_cast<T*>(at.at[o]);
            if constexpr (counts_access) access_counts().stores[o] += end - begin;
            const auto* row = reinterpret_cast<const Kept<from>*>(sums + ordinal(from) * row_bytes(end - begin));
            for (std::int64_t j = begin; j < end; ++j) to[j * at.stride[o]] = static_cast<T>(row[j - begin]);
          }
        },
        all);
  }

  const Operand* bound_;
  std::int64_t rows_;
  std::int64_t n_;
  RowWalk<B::operands> walk_;
  At start_{};
  std::array<std::int64_t, B::operands> down_{};
};

} // namespace twill::inline v0::kernel::inline TWILL_ISA
