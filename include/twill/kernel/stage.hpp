#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Functions compiled for each program: one loop over whole packs for each stage, the values that rows share at each
// level, and for column programs a few rows of one pack. Reductions in a light body run in several accumulators, so
// that the latency of an addition does not bound the loop. `table_of<P>` points to them. Read next: kernel/rows.hpp.

#include <twill/kernel/body.hpp>
#include <twill/kernel/draw.hpp>
#include <twill/kernel/reduction.hpp>
#include <twill/kernel/table.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

namespace vector_detail {
inline constexpr int packs_of_block = 64; ///< that an accumulator sums one after another

/// The addresses of a program's own operands: a copy that nothing else can see stays in registers.
template <int Operands> struct Local {
  std::int64_t at[Operands > 0 ? Operands : 1];
  std::int64_t stride[Operands > 0 ? Operands : 1];
  StoreMode mode[Operands > 0 ? Operands : 1];
};

/// Lines selected by a predicate.
template <int Count> struct Chosen {
  int size = 0;
  std::array<int, static_cast<std::size_t>(Count)> number{};

  constexpr void add(int chosen) { number[static_cast<std::size_t>(size++)] = chosen; }
};
template <auto Chosen, int... K>
auto sequence_of(std::integer_sequence<int, K...>) -> std::integer_sequence<int, Chosen.number[K]...>;
template <auto Chosen> using Sequence = decltype(sequence_of<Chosen>(std::make_integer_sequence<int, Chosen.size>{}));

/// The totals of a stage's reductions.
struct StageTotals {
  int block_bytes = 0; ///< of one set of accumulators
  int accumulators = 1;
  bool adds_floats = false;
};

/// The bytes of a lane of a reduction's accumulator.
[[nodiscard]] constexpr int lane_bytes(const Line& argument, int width) {
  if (argument.type == DType::boolean) return width;
  return computed_bytes(argument.type);
}

/// Notes each line's role in a stage, in arrays of `count`: whether the stage works on the line, whether it takes the
/// value that the row shares, and the offset of a reduction's accumulator.
[[nodiscard]] constexpr StageTotals plan_stage(const Line* lines, const LinePlan* plan, const int* widths, int count,
                                               KernelShape shape, int lanes, int stage, bool* is_active,
                                               bool* is_shared, int* offsets) {
  StageTotals result{};
  int cost = 0;
  bool reduces = false;
  bool in_order = false;
  for (int i = 0; i < count; ++i) {
    const Line& line = lines[i];
    const bool in_stage = plan[i].in_stage(stage);
    for (int a = 0; a < line.arity && in_stage; ++a)
      if (const int from = line.arguments[static_cast<std::size_t>(a)]; lines[from].uniform) is_shared[from] = true;
    if (in_stage) cost += kernel::detail::cost_of(line);
    is_active[i] = in_stage || plan[i].from_scratch(stage);
    if (!is_active[i] || !is_reduction(line)) continue;
    reduces = true;
    in_order = in_order || line.in_order;
    offsets[i] = result.block_bytes;
    result.block_bytes += lane_bytes(lines[line.arguments[0]], widths[line.arguments[0]]) * lanes;
    if (line.reduction == Reduction::sum && is_floating(line.type) && shape != KernelShape::column)
      result.adds_floats = true;
  }
  // More accumulators for lighter bodies.
  if (reduces && !in_order && shape != KernelShape::column) result.accumulators = cost <= 4 ? 4 : cost <= 9 ? 2 : 1;
  while (result.accumulators > 1 && result.accumulators * result.block_bytes > max_accumulator_bytes)
    result.accumulators /= 2;
  return result;
}

/// The lines that a stage works on, and the accumulators of its reductions. It depends on the number of lines and not
/// on the program, so that programs share the function that finds it.
template <int Count> struct StagePlan : StageTotals {
  Chosen<Count> active{};
  Chosen<Count> shared{};
  Chosen<Count> reduced{};
  std::array<int, static_cast<std::size_t>(Count)> offsets{};
};

template <int Count>
[[nodiscard]] constexpr StagePlan<Count> plan_stage(const Summary<Count>& summary, const Plan<Count>& plan,
                                                    const std::array<int, static_cast<std::size_t>(Count)>& widths,
                                                    int lanes, int stage) {
  StagePlan<Count> result{};
  std::array<bool, static_cast<std::size_t>(Count)> is_active{}, is_shared{};
  static_cast<StageTotals&>(result) =
      plan_stage(summary.lines.data(), plan.lines.data(), widths.data(), Count, summary.shape, lanes, stage,
                 is_active.data(), is_shared.data(), result.offsets.data());
  for (int i = 0; i < Count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (is_active[k]) result.active.add(i);
    if (is_shared[k]) result.shared.add(i);
    if (is_active[k] && is_reduction(summary.lines[k])) result.reduced.add(i);
  }
  return result;
}
} // namespace vector_detail

/// The lines that a stage works on.
template <class P, int Stage> struct StageLines {
  using B = Body<P>;
  static constexpr vector_detail::StagePlan<B::count> plan =
      vector_detail::plan_stage(B::summary, B::plan, B::widths, B::lanes, Stage);

  static constexpr const auto& active_lines = plan.active;
  static constexpr const auto& shared_lines = plan.shared;
  static constexpr const auto& reduced_lines = plan.reduced;
  /// The offset of each accumulator within a block of them.
  static constexpr const auto& offsets = plan.offsets;
  static constexpr int block_bytes = plan.block_bytes;
  /// How many accumulators each reduction of the stage has.
  static constexpr int accumulators = plan.accumulators;
  /// Whether the stage sums numbers that round.
  static constexpr bool adds_floats = plan.adds_floats;
  static_assert(block_bytes <= max_accumulator_bytes, "twill: too many reductions in one stage of a program");
};

/// The loop of one stage.
template <class P, int Stage> struct StageLoop {
  using B = Body<P>;
  using Lines = StageLines<P, Stage>;
  using Local = vector_detail::Local<B::operands>;
  using Registers = typename B::Registers;
  static constexpr int lanes = B::lanes;
  static constexpr int accumulators = Lines::accumulators;

  template <int I> using Accumulator = typename B::template Vector<B::line(I).arguments[0]>;
  template <class Reduced> struct AccumulatorFile;
  template <int... R>
  struct AccumulatorFile<std::integer_sequence<int, R...>> : vector_detail::Slot<R, Accumulator<R>>... {};
  using Accumulators = AccumulatorFile<vector_detail::Sequence<Lines::reduced_lines>>;

  /// The value of a step, of those of its operands.
  template <int I, int... A> static TWILL_INLINE auto step(Registers& r, std::integer_sequence<int, A...>) {
    using namespace vector_detail;
    constexpr const Line& own = B::line(I);
    return apply<own.primitive>(
        as_vector<typename B::template Wanted<own.arguments[A], I>>(value_of<own.arguments[A]>(r))...);
  }
  /// One line for one pack.
  template <int I>
  static TWILL_INLINE void evaluate(Registers& r, const Local& local, const ScratchRows& scratch, std::int64_t j,
                                    [[maybe_unused]] Accumulators& sums) {
    using namespace vector_detail;
    constexpr const Line& own = B::line(I);
    constexpr const LinePlan& plan = B::plan[I];
    constexpr int a0 = own.arguments[0], a1 = own.arguments[1], a2 = own.arguments[2], a3 = own.arguments[3];
    if constexpr (plan.from_scratch(Stage)) {
      using T = typename B::template Scalar<I>;
      value_of<I>(r) = load<T, lanes>(scratch.row<T>(plan.scratch) + j);
    } else if constexpr (own.kind == LineKind::input) {
      value_of<I>(r) = load_leaf<typename B::template Element<I>, own.access == Access::contiguous, lanes>(
          local.at[own.operand], local.stride[own.operand], j);
    } else if constexpr (own.kind == LineKind::iota) {
      value_of<I>(r) = load_iota<lanes>(local.at[own.operand], local.stride[own.operand], j);
    } else if constexpr (own.kind == LineKind::gather) {
      value_of<I>(r) = load_gathered<typename B::template Element<I>, own.access == Access::contiguous, lanes>(
          local.at[own.operand], local.stride[own.operand], local.mode[own.operand], j, value_of<a0>(r));
    } else if constexpr (own.kind == LineKind::cast) {
      value_of<I>(r) = cast_to<typename B::template Element<I>>(value_of<a0>(r));
    } else if constexpr (own.kind == LineKind::output) {
      store_output<typename B::template Element<I>>(local.at[own.operand], local.stride[own.operand],
                                                    local.mode[own.operand], j,
                                                    as_vector<typename B::template Wanted<a0, a0>>(value_of<a0>(r)));
    } else if constexpr (own.kind == LineKind::reduce || own.kind == LineKind::reduce_columns) {
      value_of<I>(sums) =
          combine<own.reduction>(value_of<I>(sums), as_vector<typename B::template Wanted<a0, a0>>(value_of<a0>(r)));
    } else if constexpr (plan.reciprocal) {
      value_of<I>(r) =
          divide_by_shared(as_vector<typename B::template Wanted<a0, I>>(value_of<a0>(r)), value_of<a1>(r));
    } else if constexpr (own.primitive == Primitive::random_uniform && B::line(a0).uniform && B::line(a1).uniform &&
                         B::line(a2).uniform) {
      value_of<I>(r) = draw(value_of<a0>(r), value_of<a1>(r), value_of<a2>(r), value_of<a3>(r));
    } else {
      value_of<I>(r) = step<I>(r, std::make_integer_sequence<int, B::line(I).arity>{});
    }
    if constexpr (plan.kept_in(Stage)) {
      using T = typename B::template Scalar<I>;
      store(scratch.row<T>(plan.scratch) + j, value_of<I>(r));
    }
  }

  template <int... I>
  static TWILL_INLINE void pack(Registers& registers, const Local& local, const ScratchRows& scratch, std::int64_t j,
                                Accumulators& sums, std::integer_sequence<int, I...>) {
    (evaluate<I>(registers, local, scratch, j, sums), ...);
  }

  /// Accumulators at their start, or with their earlier content.
  template <int... R>
  static TWILL_INLINE void start(Accumulators& sums, [[maybe_unused]] const std::byte* partial, RowPart part,
                                 std::integer_sequence<int, R...>) {
    using namespace vector_detail;
    if (part == RowPart::later)
      ((value_of<R>(sums) = read<Accumulator<R>>(partial + Lines::offsets[R])), ...);
    else
      ((value_of<R>(sums) = Accumulator<R>{identity<B::line(R).reduction, typename B::template Scalar<R>>()}), ...);
  }
  template <int... R>
  static TWILL_INLINE void keep(Accumulators& sums, [[maybe_unused]] std::byte* partial,
                                std::integer_sequence<int, R...>) {
    using namespace vector_detail;
    (write(partial + Lines::offsets[R], value_of<R>(sums)), ...);
  }

  template <int... R>
  static TWILL_INLINE void join(Accumulators& to, Accumulators& from, std::integer_sequence<int, R...>) {
    using namespace vector_detail;
    ((value_of<R>(to) = combine<B::line(R).reduction>(value_of<R>(to), value_of<R>(from))), ...);
  }
  /// The accumulators, combined as a tree into the first.
  template <int... R>
  static TWILL_INLINE void fold(Accumulators (&sums)[accumulators], std::integer_sequence<int, R...> reduced) {
    static_assert(accumulators == 1 || accumulators == 2 || accumulators == 4);
    if constexpr (accumulators == 4) { // without a loop: its subscripts would keep the accumulators in memory
      join(sums[0], sums[2], reduced);
      join(sums[1], sums[3], reduced);
    }
    if constexpr (accumulators > 1) join(sums[0], sums[1], reduced);
  }
  template <int... R>
  static TWILL_INLINE void finish(Accumulators (&sums)[accumulators], [[maybe_unused]] std::byte* slots,
                                  std::integer_sequence<int, R...> reduced) {
    using namespace vector_detail;
    fold(sums, reduced);
    (store_lanes<B::line(R).reduction>(slots + R * shared_slot_bytes, value_of<R>(sums[0])), ...);
  }

  template <int... O, int... U, int... K>
  static TWILL_INLINE void loop(const Cursor& where, [[maybe_unused]] const std::byte* shared, std::byte* result,
                                const ScratchRows& rows, std::int64_t begin, std::int64_t end, RowPart part,
                                std::integer_sequence<int, O...>, std::integer_sequence<int, U...>,
                                std::integer_sequence<int, K...>) {
    using namespace vector_detail;
    constexpr Sequence<Lines::active_lines> active{};
    constexpr Sequence<Lines::reduced_lines> reduced{};
    const Local local{{where.at[O]...}, {where.stride[O]...}, {where.mode[O]...}};
    const ScratchRows scratch = rows;
    Registers registers;
    ((value_of<U>(registers) = shared_value<typename B::template Scalar<U>>(shared, U)), ...);
    Accumulators sums[accumulators];
    (start(sums[K], result + K * Lines::block_bytes, part, reduced), ...);
    std::int64_t j = begin;
    [[maybe_unused]] Accumulators total;
    if constexpr (Lines::adds_floats) start(total, nullptr, RowPart::first, reduced);
    for (;;) {
      constexpr std::int64_t block = std::int64_t{packs_of_block} * accumulators * lanes;
      const std::int64_t stop = Lines::adds_floats && end - j > block ? j + block : end;
      if constexpr (accumulators > 1) {
        for (; j + accumulators * lanes <= stop; j += accumulators * lanes)
          (pack(registers, local, scratch, j + K * lanes, sums[K], active), ...);
      }
      for (; j < stop; j += lanes) pack(registers, local, scratch, j, sums[0], active);
      if constexpr (Lines::adds_floats) {
        if (stop != end) {
          fold(sums, reduced); // no sum runs over more than a block
          join(total, sums[0], reduced);
          (start(sums[K], nullptr, RowPart::first, reduced), ...);
          continue;
        }
      }
      break;
    }
    if constexpr (Lines::adds_floats) join(sums[0], total, reduced);
    if (part == RowPart::whole)
      finish(sums, result, reduced);
    else
      (keep(sums[K], result + K * Lines::block_bytes, reduced), ...);
  }

  /// The stage over whole packs: `StageFunction`.
  static void run(const ProgramTable&, int, const Cursor& where, const std::byte* shared, std::byte* result,
                  const ScratchRows& rows, std::int64_t begin, std::int64_t end, RowPart part) {
    loop(where, shared, result, rows, begin, end, part, std::make_integer_sequence<int, B::operands>{},
         vector_detail::Sequence<Lines::shared_lines>{}, std::make_integer_sequence<int, accumulators>{});
  }
};

}}}} // namespace twill::v0::kernel::TWILL_ISA
