#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tile of a row, a thread's part of it in one stage: all loads first, then the stage's lines for one element after
// another, sums in as many accumulators as a vector has elements, and stores. Values that later stages need stay in a
// `Tile`; every other value is a scalar that lives as long as its element. All loops have constant bounds and are
// unrolled, so no value is kept in memory. Read next: kernel/gpu/rows.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/gpu/lines.hpp>
#include <twill/kernel/gpu/rows_place.hpp>
#include <twill/kernel/gpu/rows_plan.hpp>
#include <twill/kernel/program.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu { inline namespace TWILL_ISA {

/// A value for each of some lines.
template <int I, class T> struct RowSlot { T value; };
template <int I, class T> [[nodiscard]] TWILL_INLINE constexpr T& slot(RowSlot<I, T>& of) { return of.value; }
template <int I, class T> [[nodiscard]] TWILL_INLINE constexpr const T& slot(const RowSlot<I, T>& of) {
  return of.value;
}

/// Some values, with one for each element of a vector.
template <class T, int V> struct Lanes { T lane[V]; };
template <class T, int V> [[nodiscard]] TWILL_INLINE constexpr T get(const Lanes<T, V>& from, int lane) {
  return from.lane[lane];
}
/// The vectors of one line that a thread has.
template <class Part, int K> struct Parts { Part part[K]; };

/// The types and constants of a program's row kernels.
template <class P> struct RowProgram {
  static constexpr int operands = summary_of<P>.operands;
  static constexpr RowTraits traits = row_plan_of<P>.traits;
  static constexpr int V = traits.vector;
  template <RowMode M> static constexpr int vectors = M == RowMode::once ? traits.vectors : traits.pass_vectors;
  static constexpr int stages = traits.stages;

  [[nodiscard]] static consteval Line line(int i) { return summary_of<P>.lines[static_cast<std::size_t>(i)]; }
  [[nodiscard]] static consteval LinePlan plan(int i) { return plan_of<P>[i]; }
  [[nodiscard]] static consteval RowLine row(int i) { return row_plan_of<P>.lines[static_cast<std::size_t>(i)]; }

  /// Whether an operand is a number and no memory.
  [[nodiscard]] static consteval bool is_number(int operand) {
    for (const Line& own : summary_of<P>.lines)
      if (own.operand == operand) return own.kind == LineKind::immediate || own.kind == LineKind::iota;
    return false;
  }
  /// The types of a line's elements in memory, and in which they are computed.
  template <int I> using Element = scalar_t<line(I).type>;
  template <int I> using Computed = compute_t<Element<I>>;
  /// A line's part of a tile: in its loaded or in its computed form.
  template <int I>
  using Part = std::conditional_t<line(I).kind == LineKind::input || line(I).kind == LineKind::gather,
                                  Words<Element<I>, V>, Lanes<Computed<I>, V>>;

  template <class Sequence, int K> struct TileOf;
  template <int... I, int K> struct TileOf<std::integer_sequence<int, I...>, K> : RowSlot<I, Parts<Part<I>, K>>... {};
  template <class Sequence> struct ValuesOf;
  template <int... I> struct ValuesOf<std::integer_sequence<int, I...>> : RowSlot<I, Computed<I>>... {};
  template <class Sequence> struct SumsOf;
  template <int... I> struct SumsOf<std::integer_sequence<int, I...>> : RowSlot<I, Lanes<Computed<I>, V>>... {};
  template <class Sequence> struct OutputsOf;
  template <int... I> struct OutputsOf<std::integer_sequence<int, I...>> : RowSlot<I, Words<Element<I>, V>>... {};

  /// A thread's part of its row.
  template <RowMode M> using Tile = TileOf<lines_t<P, IsKept>, vectors<M>>;
  /// The values that vary along the row, for one element.
  using Values = ValuesOf<lines_t<P, IsPassing>>;
  /// The values that the row shares.
  using Uniforms = ValuesOf<lines_t<P, IsUniform>>;
  template <int Stage> using Sums = SumsOf<lines_t<P, IsReduced<Stage>>>;
  using Parameters = RowParameters<operands>;
  using Place = RowPlace<operands>;
};

/// The values that the row shares, computed by each thread for itself.
template <class P> struct RowUniforms {
  using R = RowProgram<P>;
  using Uniforms = typename R::Uniforms;

  /// The value of a step, of those of its operands.
  template <int I, int... A>
  static TWILL_INLINE constexpr auto step(const Uniforms& values, std::integer_sequence<int, A...>) {
    constexpr Line own = R::line(I);
    if constexpr (own.primitive == Primitive::random_uniform)
      return DrawnBlock{}.uniform(slot<own.arguments[A]>(values)...);
    else
      return kernel::apply<own.primitive>(slot<own.arguments[A]>(values)...);
  }
  template <int I> static TWILL_INLINE constexpr void know(Uniforms& values, const typename R::Place& place) {
    constexpr Line own = R::line(I);
    constexpr int a0 = own.arguments[0];
    using T = typename R::template Element<I>;
    using C = typename R::template Computed<I>;
    C& value = slot<I>(values);
    if constexpr (own.kind == LineKind::input) {
      value = place.is_live ? static_cast<C>(read_element<T>(place.operands[own.operand].at)) : C{};
    } else if constexpr (own.kind == LineKind::gather) {
      const std::byte* from = place.operands[own.operand].at + slot<a0>(values) * static_cast<std::int64_t>(sizeof(T));
      value = place.is_live ? static_cast<C>(read_element<T>(from)) : C{};
    } else if constexpr (own.kind == LineKind::immediate) {
      value = static_cast<C>(element_of_bits<T>(place.operands[own.operand].number));
    } else if constexpr (own.kind == LineKind::cast) {
      value = cast_element<T>(slot<a0>(values));
    } else {
      value = step<I>(values, std::make_integer_sequence<int, own.arity>{});
    }
  }
  template <int... I>
  static TWILL_INLINE constexpr void know_all(Uniforms& values, const typename R::Place& place,
                                              std::integer_sequence<int, I...>) {
    (know<I>(values, place), ...);
  }
  /// Computes the values that become known before a stage.
  template <int Level> static TWILL_INLINE constexpr void at_level(Uniforms& values, const typename R::Place& place) {
    know_all(values, place, lines_t<P, IsKnown<Level>>{});
  }
};

/// One stage over one tile.
template <class P, RowMode M, int Stage> struct RowTile {
  using R = RowProgram<P>;
  using Place = typename R::Place;
  using Parameters = typename R::Parameters;
  using Tile = typename R::template Tile<M>;
  using Values = typename R::Values;
  using Uniforms = typename R::Uniforms;
  using Sums = typename R::template Sums<Stage>;
  using Loaded = lines_t<P, IsLoaded<M, Stage>>;
  using Active = lines_t<P, IsComputed<M, Stage>>;
  using Reduced = lines_t<P, IsReduced<Stage>>;
  using Scaled = lines_t<P, IsScaled<M, Stage>>;
  static constexpr int V = R::V;
  static constexpr int K = R::template vectors<M>;

  template <int... I>
  static auto stored(std::integer_sequence<int, I...>) ->
      typename R::template OutputsOf<std::integer_sequence<int, I...>>;
  struct IsStored {
    static constexpr bool holds(const Line& line, const LinePlan& plan, const RowLine& row) {
      return line.kind == LineKind::output && IsComputed<M, Stage>::holds(line, plan, row);
    }
  };
  using Stored = lines_t<P, IsStored>;
  using Outputs = decltype(stored(Stored{}));
  using Inverses = typename R::template ValuesOf<Scaled>;

  /// Initialises the sums.
  template <int... I> static TWILL_INLINE constexpr void clear(Sums& sums, std::integer_sequence<int, I...>) {
    (clear_one<I>(sums), ...);
  }
  template <int I> static TWILL_INLINE constexpr void clear_one([[maybe_unused]] Sums& sums) {
    TWILL_UNROLL
    for (int lane = 0; lane < V; ++lane)
      slot<I>(sums).lane[lane] = identity<R::line(I).reduction, typename R::template Computed<I>>();
  }
  template <int... I>
  static TWILL_INLINE constexpr void join(Sums& to, const Sums& from, std::integer_sequence<int, I...>) {
    (join_one<I>(to, from), ...);
  }
  template <int I> static TWILL_INLINE constexpr void join_one(Sums& to, const Sums& from) {
    TWILL_UNROLL
    for (int lane = 0; lane < V; ++lane)
      slot<I>(to).lane[lane] = combine<R::line(I).reduction>(slot<I>(to).lane[lane], slot<I>(from).lane[lane]);
  }
  /// The sum of a vector's lanes, as a tree.
  template <int I> [[nodiscard]] static TWILL_INLINE constexpr auto folded(const Sums& sums) {
    Lanes<typename R::template Computed<I>, V> values = slot<I>(sums);
    TWILL_UNROLL
    for (int step = V / 2; step > 0; step /= 2) {
      TWILL_UNROLL
      for (int lane = 0; lane < step; ++lane)
        values.lane[lane] = combine<R::line(I).reduction>(values.lane[lane], values.lane[lane + step]);
    }
    return values.lane[0];
  }

  /// Runs the stage over the vectors `first`, `first + width`, ... of the row; `shared` holds the row's inputs.
  static TWILL_INLINE constexpr void run(const Parameters& p, const Place& place, std::int32_t first, Tile& tile,
                                         const Uniforms& uniforms, const Inverses& inverses, Sums& sums,
                                         std::byte* shared) {
    TWILL_UNROLL
    for (int k = 0; k < K; ++k) load(p, place, first + k * p.job.width, k, tile, shared, Loaded{});
    TWILL_UNROLL
    for (int k = 0; k < K; ++k) {
      const std::int32_t begin = (first + k * p.job.width) * V - place.shift;
      if (begin < place.length) compute(place, begin, k, tile, uniforms, inverses, sums, Active{}, Stored{});
    }
  }

  /// The reciprocals of the stage's divisors.
  static TWILL_INLINE constexpr Inverses inverted(const Uniforms& uniforms) {
    Inverses inverses;
    invert(inverses, uniforms, Scaled{});
    return inverses;
  }

  /// Redirects reads to the values that earlier stages have left in shared memory.
  static TWILL_INLINE constexpr Place relocated(const Parameters& p, const Place& place, std::byte* shared) {
    Place moved = place;
    if (p.job.shared_elements > 0) relocate(p, moved, shared, Loaded{});
    return moved;
  }

private:
  template <int... I>
  static TWILL_INLINE constexpr void invert(Inverses& inverses, const Uniforms& uniforms,
                                            std::integer_sequence<int, I...>) {
    ((slot<I>(inverses) = typename R::template Computed<I>{1} / slot<R::line(I).arguments[1]>(uniforms)), ...);
  }

  template <int I> using Element = typename R::template Element<I>;

  /// Whether shared memory can hold an input, and whether an earlier stage has put it there.
  template <int I> [[nodiscard]] static constexpr bool is_shared() {
    return M == RowMode::again && R::row(I).shared_offset >= 0;
  }
  template <int I> [[nodiscard]] static constexpr bool is_later() {
    return is_shared<I>() && (R::row(I).again & ((std::uint32_t{1} << Stage) - 1)) != 0;
  }
  template <int I> [[nodiscard]] static TWILL_INLINE constexpr std::byte* kept(const Parameters& p, std::byte* shared) {
    return shared + R::row(I).shared_offset * p.job.shared_elements;
  }
  template <int... I>
  static TWILL_INLINE constexpr void relocate(const Parameters& p, Place& place, [[maybe_unused]] std::byte* shared,
                                              std::integer_sequence<int, I...>) {
    (relocate_one<I>(p, place, shared), ...);
  }
  template <int I>
  static TWILL_INLINE constexpr void relocate_one(const Parameters& p, Place& place, std::byte* shared) {
    if constexpr (is_later<I>()) {
      RowElements& own = place.operands[R::line(I).operand];
      own.at = kept<I>(p, shared) + place.shift * static_cast<std::int64_t>(sizeof(Element<I>));
      own.along = 1;
      own.by_vector = true;
    }
  }

  template <int... I>
  static TWILL_INLINE constexpr void load(const Parameters& p, const Place& place, [[maybe_unused]] std::int32_t number,
                                          [[maybe_unused]] int k, Tile& tile, [[maybe_unused]] std::byte* shared,
                                          std::integer_sequence<int, I...>) {
    (load_one<I>(p, place, number, slot<I>(tile).part[k], shared), ...);
  }
  template <int I, class Part>
  static TWILL_INLINE constexpr void load_one(const Parameters& p, const Place& place, std::int32_t number, Part& to,
                                              [[maybe_unused]] std::byte* shared) {
    const std::int32_t begin = number * V - place.shift;
    load_part(to, place.operands[R::line(I).operand], begin, place.length);
    if constexpr (is_shared<I>() && !is_later<I>())
      if (p.job.shared_elements > 0 && begin < place.length)
        store_vector(to, kept<I>(p, shared) + number * (V * static_cast<std::int64_t>(sizeof(Element<I>))));
  }

  template <int... I, int... O>
  static TWILL_INLINE constexpr void compute(const Place& place, std::int32_t begin, int k, Tile& tile,
                                             const Uniforms& uniforms, const Inverses& inverses, Sums& sums,
                                             std::integer_sequence<int, I...>, std::integer_sequence<int, O...>) {
    Outputs outputs{};
    DrawnBlock drawn; // four neighbours share one
    TWILL_UNROLL
    for (int lane = 0; lane < V; ++lane) {
      Values values;
      (evaluate<I>(place, begin, k, lane, values, tile, uniforms, inverses, sums, outputs, drawn), ...);
    }
    (store_part(slot<O>(outputs), place.operands[R::line(O).operand], begin, place.length), ...);
  }

  /// The value of a line as the argument of another one.
  template <int I>
  [[nodiscard]] static TWILL_INLINE constexpr typename R::template Computed<I>
  argument(int k, int lane, const Values& values, const Tile& tile, const Uniforms& uniforms) {
    if constexpr (R::line(I).uniform)
      return slot<I>(uniforms);
    else if constexpr (R::row(I).kept)
      return static_cast<typename R::template Computed<I>>(get(slot<I>(tile).part[k], lane));
    else
      return slot<I>(values);
  }

  /// The value of a step, of those of its operands.
  template <int I, int... A>
  static TWILL_INLINE constexpr auto step(int k, int lane, const Values& values, const Tile& tile,
                                          const Uniforms& uniforms, [[maybe_unused]] DrawnBlock& drawn,
                                          std::integer_sequence<int, A...>) {
    constexpr Line own = R::line(I);
    if constexpr (own.primitive == Primitive::random_uniform)
      return drawn.uniform(argument<own.arguments[A]>(k, lane, values, tile, uniforms)...);
    else
      return kernel::apply<own.primitive>(argument<own.arguments[A]>(k, lane, values, tile, uniforms)...);
  }

  template <int I>
  static TWILL_INLINE constexpr void evaluate(const Place& place, std::int32_t begin, int k, int lane, Values& values,
                                              Tile& tile, const Uniforms& uniforms, const Inverses& inverses,
                                              Sums& sums, Outputs& outputs, [[maybe_unused]] DrawnBlock& drawn) {
    constexpr Line own = R::line(I);
    constexpr int a0 = own.arguments[0];
    using T = typename R::template Element<I>;
    using C = typename R::template Computed<I>;
    if constexpr (own.kind == LineKind::reduce) {
      const bool is_mine = is_inside(begin, lane, place.length);
      C& sum = slot<I>(sums).lane[lane];
      const C added = argument<a0>(k, lane, values, tile, uniforms);
      sum = is_mine ? combine<own.reduction>(sum, added) : sum;
    } else if constexpr (own.kind == LineKind::output) {
      set(slot<I>(outputs), lane, static_cast<T>(argument<a0>(k, lane, values, tile, uniforms)));
    } else if constexpr (own.kind == LineKind::gather) {
      auto& part = slot<I>(tile).part[k];
      if (lane == 0) part = Words<T, V>{};
      if (is_inside(begin, lane, place.length)) {
        const RowElements& operand = place.operands[own.operand];
        const std::int64_t offset = argument<a0>(k, lane, values, tile, uniforms);
        set(part, lane,
            read_element<T>(element_at<T, false>(operand, begin + lane) +
                            offset * static_cast<std::int64_t>(sizeof(T))));
      }
    } else {
      C value{};
      if constexpr (own.kind == LineKind::iota)
        value = static_cast<C>(place.operands[own.operand].number +
                               static_cast<std::uint64_t>(begin + lane) *
                                   static_cast<std::uint64_t>(place.operands[own.operand].along));
      else if constexpr (own.kind == LineKind::cast)
        value = cast_element<T>(argument<a0>(k, lane, values, tile, uniforms));
      else if constexpr (R::plan(I).reciprocal)
        value = argument<a0>(k, lane, values, tile, uniforms) * slot<I>(inverses);
      else
        value = step<I>(k, lane, values, tile, uniforms, drawn, std::make_integer_sequence<int, own.arity>{});
      if constexpr (R::row(I).kept)
        slot<I>(tile).part[k].lane[lane] = value;
      else
        slot<I>(values) = value;
    }
  }
};

}}}}} // namespace twill::v0::kernel::gpu::TWILL_ISA
