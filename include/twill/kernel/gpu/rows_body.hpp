#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Kernel of a row program: finds the rows of a block, runs the stages one after another with a reduction between them,
// and stores the values that rows share. With `RowMode::once` a team reads its row into registers and every stage works
// there; with `RowMode::again` each stage is a loop over the row, or over one chunk of it, whose partial results the
// last block of the row combines for the launch of the next stage. Read next: kernel/gpu/rows.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/gpu/reduce.hpp>
#include <twill/kernel/gpu/rows_place.hpp>
#include <twill/kernel/gpu/rows_plan.hpp>
#include <twill/kernel/gpu/rows_shape.hpp>
#include <twill/kernel/gpu/rows_tile.hpp>
#include <twill/kernel/program.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu { inline namespace TWILL_ISA {

/// The work of one block.
template <class P, RowMode M, class Block> class RowRun {
  using R = RowProgram<P>;
  using Parameters = typename R::Parameters;
  using Place = typename R::Place;
  using Uniforms = typename R::Uniforms;
  template <class T> using Local = typename Block::template Local<T>;
  static constexpr int V = R::V;
  static constexpr int K = R::template vectors<M>;
  static constexpr int segment = 16; ///< tiles that are summed one after another

public:
  constexpr RowRun(const Block& block, const Parameters& parameters) : block_{block}, p_{parameters} {}

  TWILL_INLINE constexpr void run() {
    if constexpr (M == RowMode::again) {
      if (is_chunked()) {
        row_ = p_.job.chunks.quotient(static_cast<std::uint32_t>(block_.block()));
        chunk_ = static_cast<std::uint32_t>(block_.block()) - row_ * p_.job.chunks.value;
      }
    }
    block_.each([&](int thread) { start(thread); });
    stages(std::make_integer_sequence<int, R::stages>{});
    if (is_done_) return;
    finish(lines_t<P, IsUniformOutput>{});
  }

private:
  struct IsMoving {
    static constexpr bool holds(const Line& line, const LinePlan&, const RowLine&) {
      return !line.uniform && (line.kind == LineKind::input || line.kind == LineKind::gather ||
                               line.kind == LineKind::output || line.kind == LineKind::iota);
    }
  };
  struct IsVector {
    static constexpr bool holds(const Line& line, const LinePlan&, const RowLine&) {
      return !line.uniform && (line.kind == LineKind::input || line.kind == LineKind::output);
    }
  };

  [[nodiscard]] TWILL_INLINE constexpr bool is_chunked() const {
    return M == RowMode::again && p_.job.chunks.value > 1;
  }
  [[nodiscard]] TWILL_INLINE constexpr int lane_of(int thread) const { return thread & p_.job.lane_mask; }

  TWILL_INLINE constexpr void start(int thread) {
    Place& place = place_[thread];
    const auto of_launch =
        is_chunked() ? row_ : static_cast<std::uint32_t>(block_.block() * p_.job.teams + (thread >> p_.job.width_bits));
    const std::uint32_t row = p_.job.first_row + of_launch;
    place.is_live = row < p_.job.rows;
    find(place, place.is_live ? row : 0, std::make_integer_sequence<int, R::operands>{});
    std::int64_t length = p_.job.length;
    if constexpr (M == RowMode::again) {
      if (is_chunked()) {
        const std::int64_t begin = chunk_ * p_.job.chunk_elements;
        advance(place, begin, lines_t<P, IsMoving>{});
        length = length - begin < p_.job.chunk_elements ? length - begin : p_.job.chunk_elements;
      }
    }
    place.length = place.is_live ? static_cast<std::int32_t>(length) : 0;
    align(place, lines_t<P, IsVector>{});
  }

  template <int... O>
  TWILL_INLINE constexpr void find(Place& place, std::uint32_t row, std::integer_sequence<int, O...>) const {
    (begin<O>(place.operands[O]), ...);
    TWILL_NO_UNROLL
    for (int axis = 0; axis < p_.job.between; ++axis) {
      const std::uint32_t rest = p_.job.extents[axis].quotient(row);
      const std::uint32_t index = row - rest * p_.job.extents[axis].value;
      (move<O>(place.operands[O], index * p_.operands[O].outer[axis]), ...);
      row = rest;
    }
    (move<O>(place.operands[O], row * p_.operands[O].down), ...);
  }
  template <int O> TWILL_INLINE constexpr void begin(RowElements& operand) const {
    operand.at = p_.operands[O].data;
    operand.number = p_.operands[O].number;
    operand.along = p_.operands[O].along;
    if constexpr (!R::is_number(O)) TWILL_ASSUME_GLOBAL(operand.at);
  }
  template <int O> static TWILL_INLINE constexpr void move(RowElements& operand, std::int64_t by) {
    if constexpr (R::is_number(O))
      operand.number += static_cast<std::uint64_t>(by);
    else
      operand.at += by;
  }

  template <int... I>
  TWILL_INLINE constexpr void advance(Place& place, [[maybe_unused]] std::int64_t elements,
                                      std::integer_sequence<int, I...>) const {
    (move<R::line(I).operand>(place.operands[R::line(I).operand],
                              elements * p_.operands[R::line(I).operand].along * static_cast<std::int64_t>(unit<I>())),
     ...);
  }
  template <int I> [[nodiscard]] static constexpr std::uint64_t unit() {
    return R::line(I).kind == LineKind::iota ? 1 : sizeof(typename R::template Element<I>);
  }

  /// Vectors begin at the leading operand's last aligned address up to its first element.
  template <int... I> TWILL_INLINE constexpr void align(Place& place, std::integer_sequence<int, I...>) const {
    place.shift = 0;
    ((place.shift = R::line(I).operand == p_.job.leader ? static_cast<std::int32_t>(address<I>(place) / unit<I>() % V)
                                                        : place.shift),
     ...);
    (align_one<I>(place), ...);
  }
  template <int I> TWILL_INLINE constexpr void align_one(Place& place) const {
    RowElements& operand = place.operands[R::line(I).operand];
    const std::uint64_t first = address<I>(place) - static_cast<std::uint64_t>(place.shift) * unit<I>();
    operand.by_vector = operand.along == 1 && first % (V * unit<I>()) == 0;
  }
  template <int I> [[nodiscard]] static TWILL_INLINE constexpr std::uint64_t address(const Place& place) {
    return reinterpret_cast<std::uint64_t>(place.operands[R::line(I).operand].at);
  }

  template <int... S> TWILL_INLINE constexpr void stages(std::integer_sequence<int, S...>) { (stage<S>(), ...); }

  template <int Stage> TWILL_INLINE constexpr void stage() {
    using Lines = lines_t<P, IsReduced<Stage>>;
    if constexpr (M == RowMode::again) {
      if (is_chunked() && Stage != p_.job.stage) {
        if (Stage < p_.job.stage) recall<Stage>(Lines{});
        return;
      }
    }
    Local<typename R::template Sums<Stage>> sums;
    block_.each([&](int thread) {
      RowUniforms<P>::template at_level<Stage>(uniforms_[thread], place_[thread]);
      pass<Stage>(thread, sums[thread], Lines{});
    });
    reduce<Stage>(sums, Lines{});
  }

  /// Runs the stage over the thread's part of the row.
  template <int Stage, int... I>
  TWILL_INLINE constexpr void pass(int thread, typename R::template Sums<Stage>& sums,
                                   std::integer_sequence<int, I...> lines) {
    using Loop = RowTile<P, M, Stage>;
    const auto inverses = Loop::inverted(uniforms_[thread]);
    Loop::clear(sums, lines);
    if constexpr (M == RowMode::once) {
      Loop::run(p_, place_[thread], lane_of(thread), tile_[thread], uniforms_[thread], inverses, sums, nullptr);
    } else {
      auto* shared = block_.template shared<std::byte>(detail::exchange_room(R::traits));
      const Place place = Loop::relocated(p_, place_[thread], shared);
      const std::int32_t vectors = (place.length + place.shift + V - 1) / V;
      std::int32_t first = lane_of(thread);
      while (first < vectors) {
        typename R::template Sums<Stage> some;
        Loop::clear(some, lines);
        for (int tile = 0; tile < segment && first < vectors; ++tile) {
          typename R::template Tile<M> mine;
          Loop::run(p_, place, first, mine, uniforms_[thread], inverses, some, shared);
          first += p_.job.width * K;
        }
        Loop::join(sums, some, lines);
      }
    }
  }

  template <int I> using Found = RowSlot<I, Local<typename R::template Computed<I>>>;
  template <class Sequence> struct FoundOf;
  template <int... I> struct FoundOf<std::integer_sequence<int, I...>> : Found<I>... {};
  template <int I> using ReductionOf = BlockReduction<R::line(I).reduction, typename R::template Computed<I>>;

  /// A line's index among the stage's reductions.
  template <int... I> [[nodiscard]] static constexpr int ordinal(int line, std::integer_sequence<int, I...>) {
    return (0 + ... + (I < line ? 1 : 0));
  }
  [[nodiscard]] TWILL_INLINE constexpr std::uint64_t* slots(int set, int number) const {
    return block_.template shared<std::uint64_t>() +
           ((set & 1) * R::traits.reductions + number) * detail::exchange_slots;
  }

  /// Turns the sums of a stage into values that the row shares. For a row in chunks, these are partial results at
  /// first; the last block combines them with this code, too.
  template <int Stage, int... I>
  TWILL_INLINE constexpr void reduce(const Local<typename R::template Sums<Stage>>& sums,
                                     std::integer_sequence<int, I...> lines) {
    constexpr bool is_end = Stage == R::stages - 1;
    if constexpr (sizeof...(I) > 0) {
      FoundOf<std::integer_sequence<int, I...>> found;
      block_.each([&](int thread) {
        ((slot<I>(found)[thread] = RowTile<P, M, Stage>::template folded<I>(sums[thread])), ...);
      });
      TWILL_NO_UNROLL
      for (int set = Stage; set < Stage + 2; ++set) {
        share(found, set, lines);
        if (!is_chunked()) return;
        if (set > Stage) break;
        publish(lines);
        if (is_done_) return;
        block_.each([&](int thread) { (gather<I>(slot<I>(found)[thread], thread, ordinal(I, lines)), ...); });
      }
      block_.each([&](int thread) {
        if (thread == 0) ((*result<I>() = slot<I>(uniforms_[thread])), ...);
      });
      is_done_ = !is_end;
    } else if constexpr (is_end) {
      if (is_chunked()) publish(lines);
    }
  }

  /// Turns the results of each row's threads into values that the row shares.
  template <int... I>
  TWILL_INLINE constexpr void share(FoundOf<std::integer_sequence<int, I...>>& found, int set,
                                    std::integer_sequence<int, I...> lines) {
    (ReductionOf<I>::within_warps(block_, slot<I>(found), p_.job.width), ...);
    if (p_.job.width > warp_threads) {
      (ReductionOf<I>::publish(block_, slot<I>(found), slots(set, ordinal(I, lines))), ...);
      block_.barrier();
      (ReductionOf<I>::between_warps(block_, slot<I>(found), slots(set, ordinal(I, lines))), ...);
    }
    block_.each([&](int thread) { ((slot<I>(uniforms_[thread]) = slot<I>(found)[thread]), ...); });
  }

  /// The addresses of a chunk's partial result and a row's result.
  template <int I> [[nodiscard]] TWILL_INLINE constexpr auto* partial(int number, std::int64_t of_chunk) const {
    const std::int64_t at = (std::int64_t{row_} * R::traits.reductions + number) * p_.job.chunks.value + of_chunk;
    return reinterpret_cast<typename R::template Computed<I>*>(p_.job.partials + at);
  }
  template <int I> [[nodiscard]] TWILL_INLINE constexpr auto* result() const {
    const std::int64_t at = std::int64_t{row_} * static_cast<std::int64_t>(summary_of<P>.lines.size()) + I;
    return reinterpret_cast<typename R::template Computed<I>*>(p_.job.results + at);
  }

  /// Loads the results of an earlier launch.
  template <int Stage, int... I> TWILL_INLINE constexpr void recall(std::integer_sequence<int, I...>) {
    block_.each([&](int thread) {
      RowUniforms<P>::template at_level<Stage>(uniforms_[thread], place_[thread]);
      ((slot<I>(uniforms_[thread]) = *result<I>()), ...);
    });
  }

  /// Stores a chunk's partial results; all but the last block of a row are done then.
  template <int... I> TWILL_INLINE constexpr void publish(std::integer_sequence<int, I...> lines) {
    block_.each([&](int thread) {
      if (thread == 0) ((*partial<I>(ordinal(I, lines), chunk_) = slot<I>(uniforms_[thread])), ...);
    });
    is_done_ = !block_.is_last(p_.job.counters + row_, p_.job.chunks.value);
  }
  template <int I, class C> TWILL_INLINE constexpr void gather(C& sum, int thread, int number) const {
    sum = identity<R::line(I).reduction, C>();
    for (std::int64_t other = thread; other < p_.job.chunks.value; other += block_.threads())
      sum = combine<R::line(I).reduction>(sum, *partial<I>(number, other));
  }

  /// Stores values that rows share: once where the output does not move along the row, otherwise all along it.
  template <int... I> TWILL_INLINE constexpr void finish(std::integer_sequence<int, I...>) {
    if constexpr (sizeof...(I) > 0) {
      if (((p_.operands[R::line(I).operand].along != 0) || ...)) block_.barrier(); // all threads have read their inputs
      block_.each([&](int thread) {
        RowUniforms<P>::template at_level<R::stages>(uniforms_[thread], place_[thread]);
        if (place_[thread].is_live) (store<I>(thread), ...);
      });
    }
  }
  template <int I> TWILL_INLINE constexpr void store(int thread) const {
    using T = typename R::template Element<I>;
    const std::int64_t along = p_.operands[R::line(I).operand].along;
    const std::int64_t count = along == 0 ? 1 : p_.job.length;
    const T value = static_cast<T>(slot<R::line(I).arguments[0]>(uniforms_[thread]));
    for (std::int64_t j = lane_of(thread); j < count; j += p_.job.width)
      *reinterpret_cast<T*>(element_at<T, false>(place_[thread].operands[R::line(I).operand], j)) = value;
  }

  const Block& block_;
  const Parameters& p_;
  Local<Place> place_;
  Local<Uniforms> uniforms_;
  Local<typename R::template Tile<M>> tile_;
  std::uint32_t row_ = 0; ///< number of a chunk-owning block's row in the launch
  std::uint32_t chunk_ = 0;
  bool is_done_ = false; ///< the rest is for another block or launch
};

/// The kernel of a row program.
template <class P, RowMode M> struct RowBody {
  static constexpr int most_threads =
      M == RowMode::once ? RowProgram<P>::traits.most_threads : RowProgram<P>::traits.pass_threads;
  static constexpr int least_blocks = 1; ///< registers first: spilling is slower than fewer blocks

  template <class Block>
  constexpr void operator()(const Block& block, const typename RowProgram<P>::Parameters& parameters) const {
    RowRun<P, M, Block>{block, parameters}.run();
  }
};

}}}}} // namespace twill::v0::kernel::gpu::TWILL_ISA
