#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Elementwise and row programs. Each row runs the program's stages in order; what a stage reduces is known to the next. Rows
// longer than a chunk are reduced chunk by chunk and the chunks' results combined as a balanced tree, so neither the error
// nor the bits depend on how many threads took part. Read next: kernel/run.hpp.

#include <twill/kernel/scratch.hpp>
#include <twill/kernel/stage.hpp>
#include <twill/kernel/walk.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace twill::inline v0::kernel::inline TWILL_ISA {

namespace vector_detail {
inline constexpr std::int64_t chunk_elements = 16384;                  ///< of a row that is reduced piece by piece
inline constexpr std::int64_t worth_sharing = 400'000;                 ///< additions; below, waking a team costs more
inline constexpr std::int64_t worth_streaming = std::int64_t{8} << 20; ///< bytes of an output that no cache will keep
} // namespace vector_detail

template <class P> class RowKernel {
  using B = Body<P>;
  using At = typename B::At;
  using Uniforms = typename B::Uniforms;
  static constexpr bool has_reductions = B::summary.shape == KernelShape::row;
  static constexpr typename B::Indices all{};

public:
  /// What a stride of each operand counts.
  static constexpr std::array<int, B::operands> units = [] {
    std::array<int, B::operands> sizes{};
    for (int i = 0; i < B::count; ++i) {
      const Line line = B::line(i);
      if (line.operand < 0) continue;
      const int bytes = line.kind == LineKind::iota ? 1 : static_cast<int>(size_of(line.type));
      sizes[static_cast<std::size_t>(line.operand)] = line.kind == LineKind::immediate ? 0 : bytes;
    }
    return sizes;
  }();

  RowKernel(const Grid& grid, const Operand* bound)
      : bound_{bound},
        n_{grid.rank == 0 ? 1 : grid[grid.rank - 1]},
        walk_{grid, bound, units, 0, grid.rank == 0 ? 0 : grid.rank - 1} {
    const std::size_t last = grid.rank == 0 ? 0 : static_cast<std::size_t>(grid.rank - 1);
    for (int i = 0; i < B::count; ++i) {
      const Line line = B::line(i);
      if (line.operand < 0) continue;
      const auto o = static_cast<std::size_t>(line.operand);
      start_.at[o] = line.kind == LineKind::iota || line.kind == LineKind::immediate
                         ? static_cast<std::int64_t>(bound[o].bits)
                         : reinterpret_cast<std::int64_t>(bound[o].data);
      start_.stride[o] = n_ == 1 || grid.rank == 0 ? 1 : bound[o].strides[last];
      if (line.kind != LineKind::output) continue;
      const std::int64_t bytes = n_ * walk_.count() * static_cast<std::int64_t>(size_of(line.type));
      start_.mode[o] = start_.stride[o] != 1                     ? StoreMode::scatter
                       : bytes >= vector_detail::worth_streaming ? StoreMode::stream
                                                                 : StoreMode::plain;
      streams_ = streams_ || start_.mode[o] == StoreMode::stream;
    }
  }

  template <class Team> void run(const Team& team) {
    const std::int64_t rows = walk_.count();
    const std::int64_t work = rows * n_ * (B::plan.operations + 2 * B::operands);
    const bool shared = team.size() > 1 && work >= vector_detail::worth_sharing;
    if (rows == 0 || (!has_reductions && n_ == 0)) return;
    if (!shared) {
      if constexpr (!has_reductions) {
        if (rows == 1) { // the common case once dimensions are merged, and the one where overhead shows
          Uniforms uniforms{};
          B::template uniforms_at<0>(uniforms, start_, bound_, all);
          if (streams_) start_ = aligned(start_);
          StageLoop<P, 0>::run(start_, uniforms, uniforms, {}, 0, n_);
          if (streams_) finish_streams();
          return;
        }
      }
      some_rows(0, rows, 0, n_);
    } else if (rows >= 4 * team.size() || (has_reductions && n_ <= vector_detail::chunk_elements)) {
      team.parallel([&](int rank, int size) {
        const Share mine = share_of(rows, 1, rank, size);
        RowKernel(*this).some_rows(mine.begin, mine.end, 0, n_);
      });
    } else if constexpr (!has_reductions) {
      team.parallel([&](int rank, int size) {
        const Share mine = share_of(n_, 16 * B::lanes, rank, size);
        if (mine.begin < mine.end) RowKernel(*this).some_rows(0, rows, mine.begin, mine.end);
      });
    } else {
      At at = start_;
      for (std::int64_t row = 0; row < rows; ++row, walk_.next(at.at)) long_row(at, AnyTeam{team});
    }
  }

private:
  /// Any team behind one type, so that a long row's stages are compiled once: null for the calling thread alone.
  class AnyTeam {
  public:
    AnyTeam() = default;
    template <class Team>
    explicit AnyTeam(const Team& team)
        : team_{&team}, parallel_{[](const void* erased, void (*job)(void*, int, int), void* context) {
            static_cast<const Team*>(erased)->parallel([=](int rank, int size) { job(context, rank, size); });
          }} {}
    template <class F> void parallel(F f) const {
      if (team_ == nullptr)
        f(0, 1);
      else
        parallel_(
            team_, [](void* context, int rank, int size) { (*static_cast<F*>(context))(rank, size); }, &f);
    }

  private:
    const void* team_ = nullptr;
    void (*parallel_)(const void*, void (*)(void*, int, int), void*) = nullptr;
  };

  [[gnu::noinline]] void some_rows(std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end) {
    At at = start_;
    walk_.seek(first, at.at);
    if constexpr (!has_reductions) {
      Uniforms uniforms{};
      for (std::int64_t row = first; row < last; ++row, walk_.next(at.at)) {
        B::template uniforms_at<0>(uniforms, at, bound_, all);
        StageLoop<P, 0>::run(aligned(at), uniforms, uniforms, {}, begin, end);
      }
    } else if (n_ > vector_detail::chunk_elements) {
      for (std::int64_t row = first; row < last; ++row, walk_.next(at.at)) long_row(at, AnyTeam{});
    } else {
      const ScratchRows scratch = scratch_rows();
      Uniforms uniforms{};
      for (std::int64_t row = first; row < last; ++row, walk_.next(at.at)) {
        short_row(aligned(at), uniforms, scratch, std::make_integer_sequence<int, B::plan.stages>{});
        uniform_outputs(at, uniforms);
      }
    }
    if (streams_) finish_streams();
  }

  /// Streams only what is aligned for it.
  [[nodiscard]] TWILL_INLINE At aligned(const At& at) const {
    At result = at;
    if (streams_) {
      for (int i = 0; i < B::count; ++i) {
        if (B::line(i).kind != LineKind::output) continue;
        const auto o = static_cast<std::size_t>(B::line(i).operand);
        const auto pack_bytes = static_cast<std::int64_t>(size_of(B::line(i).type)) * B::lanes;
        if (at.mode[o] == StoreMode::stream && at.at[o] % pack_bytes != 0) result.mode[o] = StoreMode::plain;
      }
    }
    return result;
  }

  [[nodiscard]] ScratchRows scratch_rows() const {
    if constexpr (B::plan.scratch_rows == 0)
      return {};
    else {
      constexpr std::int64_t line_bytes = 64;
      // one more line, so that rows of a power of two do not fall on the same cache sets
      const std::int64_t row_bytes = ((n_ + B::lanes) * 8 / line_bytes + 2) * line_bytes;
      std::byte* memory = Scratch::of_thread(static_cast<std::size_t>(row_bytes * B::plan.scratch_rows));
      return {memory, memory + row_bytes, row_bytes};
    }
  }

  /// The output whose row can serve as the first scratch row: of the same type, with no input read after the values are
  /// there (the input may lie where the output lies). -1 for none.
  static constexpr int output_as_scratch = [] {
    int kept = -1;
    for (int i = 0; i < B::count; ++i)
      if (B::plan[i].scratch == 0) kept = i;
    if (kept < 0) return -1;
    int found = -1;
    for (int i = 0; i < B::count; ++i) {
      const Line line = B::line(i);
      if (line.kind == LineKind::input && (B::plan[i].computed >> (B::plan[kept].home + 1)) != 0) return -1;
      const bool stored = line.kind == LineKind::output && !line.uniform && line.type == B::line(kept).type;
      if (stored && found < 0 && (line.type == DType::float32 || line.type == DType::float64)) found = line.operand;
    }
    return found;
  }();

  template <int... Stage>
  TWILL_INLINE void short_row(const At& at, Uniforms& uniforms, ScratchRows scratch,
                              std::integer_sequence<int, Stage...>) {
    if constexpr (output_as_scratch >= 0) {
      // only whole packs fit, and a second pass over what is in the cache beats a first touch of the output
      if (at.mode[output_as_scratch] == StoreMode::plain && n_ % B::lanes == 0)
        scratch.first = reinterpret_cast<std::byte*>(at.at[output_as_scratch]);
    }
    ((B::template uniforms_at<Stage>(uniforms, at, bound_, all),
      StageLoop<P, Stage>::run(at, uniforms, uniforms, scratch, 0, n_)),
     ...);
    B::template uniforms_at<B::plan.stages>(uniforms, at, bound_, all);
  }

  /// One row in chunks, which the team shares.
  [[gnu::noinline]] void long_row(const At& row, const AnyTeam& team) {
    const At at = aligned(row);
    const ScratchRows scratch = scratch_rows();
    Uniforms uniforms{};
    std::vector<Uniforms> partial(
        static_cast<std::size_t>((n_ + vector_detail::chunk_elements - 1) / vector_detail::chunk_elements));
    stages_of_long_row(at, uniforms, scratch, partial, team, std::make_integer_sequence<int, B::plan.stages>{});
    uniform_outputs(at, uniforms);
    if (streams_) finish_streams();
  }

  template <int... Stage>
  void stages_of_long_row(const At& at, Uniforms& uniforms, const ScratchRows& scratch, std::vector<Uniforms>& partial,
                          const AnyTeam& team, std::integer_sequence<int, Stage...>) {
    (long_stage<Stage>(at, uniforms, scratch, partial, team), ...);
    B::template uniforms_at<B::plan.stages>(uniforms, at, bound_, all);
  }

  template <int Stage>
  void long_stage(const At& at, Uniforms& uniforms, const ScratchRows& scratch, std::vector<Uniforms>& partial,
                  const AnyTeam& team) {
    B::template uniforms_at<Stage>(uniforms, at, bound_, all);
    const auto chunks = static_cast<std::int64_t>(partial.size());
    team.parallel([&](int rank, int size) {
      const Share mine = share_of(chunks, 1, rank, size);
      for (std::int64_t chunk = mine.begin; chunk < mine.end; ++chunk) {
        const std::int64_t begin = chunk * vector_detail::chunk_elements;
        const std::int64_t end =
            begin + vector_detail::chunk_elements < n_ ? begin + vector_detail::chunk_elements : n_;
        StageLoop<P, Stage>::run(at, uniforms, partial[static_cast<std::size_t>(chunk)], scratch, begin, end);
      }
      if (streams_) finish_streams();
    });
    StageLoop<P, Stage>::each(
        [&]<int I>() {
          if constexpr (StageLoop<P, Stage>::reduces(I)) {
            for (std::size_t step = 1; step < partial.size(); step *= 2)
              for (std::size_t chunk = 0; chunk + step < partial.size(); chunk += 2 * step)
                B::template slot<I>(partial[chunk]) = kernel::combine<B::line(I).reduction>(
                    B::template slot<I>(partial[chunk]), B::template slot<I>(partial[chunk + step]));
            B::template slot<I>(uniforms) = B::template slot<I>(partial[0]);
          }
        },
        all);
  }

  /// Stores the values that a row shares: once where the output has no stride along the row, else all along it.
  [[gnu::noinline]] void uniform_outputs(const At& at, const Uniforms& uniforms) {
    StageLoop<P, 0>::each(
        [&]<int I>() {
          if constexpr (B::line(I).kind == LineKind::output && B::line(I).uniform) {
            constexpr auto o = static_cast<std::size_t>(B::line(I).operand);
            using T = typename B::template Element<I>;
            T* to = reinterpret_cast<T*>(at.at[o]);
            const T value = static_cast<T>(B::template slot<B::line(I).arguments[0]>(uniforms));
            const bool once = at.stride[o] == 0 || n_ <= 1;
            if constexpr (counts_access) access_counts().stores[o] += once ? 1 : n_;
            for (std::int64_t j = 0; j < (once ? 1 : n_); ++j) to[j * at.stride[o]] = value;
          }
        },
        all);
  }

  const Operand* bound_;
  std::int64_t n_;
  RowWalk<B::operands> walk_;
  At start_{};
  bool streams_ = false;
};

} // namespace twill::inline v0::kernel::inline TWILL_ISA
