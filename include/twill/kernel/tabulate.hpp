#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Construction of a program's table: its operands and reductions as data, and pointers to its functions. Read next:
// kernel/rows.hpp and kernel/columns.hpp, the loops that read it.

#include <twill/core/config.hpp>
#include <twill/kernel/columns.hpp>
#include <twill/kernel/rows.hpp>
#include <twill/kernel/stage.hpp>
#include <twill/kernel/table.hpp>
#include <twill/kernel/transpose.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

namespace vector_detail {
/// The properties of a line's operand.
[[nodiscard]] constexpr OperandInfo operand_of(const Line& line, const LinePlan& plan) {
  using enum OperandInfo::Role;
  OperandInfo info{};
  info.role = line.kind == LineKind::output      ? output
              : line.kind == LineKind::iota      ? iota
              : line.kind == LineKind::gather    ? gather
              : line.kind == LineKind::immediate ? immediate
                                                 : input;
  info.bytes = static_cast<int>(size_of(line.type));
  info.unit = line.kind == LineKind::iota ? 1 : line.kind == LineKind::immediate ? 0 : info.bytes;
  info.contiguous =
      (line.kind == LineKind::input || line.kind == LineKind::gather) && line.access == Access::contiguous;
  info.stages = plan.computed;
  info.source = line.arguments[0];
  return info;
}

[[nodiscard]] constexpr bool is_summed_output(const Line& line) { return line.kind == LineKind::output && line.column; }
[[nodiscard]] constexpr bool is_shared_output(const Line& line) {
  return line.kind == LineKind::output && !line.column && line.uniform;
}

/// The lines that satisfy a test.
template <int Count>
[[nodiscard]] constexpr Chosen<Count> lines_that(const Summary<Count>& summary, bool (*is_wanted)(const Line&)) {
  Chosen<Count> chosen{};
  for (int i = 0; i < Count; ++i)
    if (is_wanted(summary.lines[static_cast<std::size_t>(i)])) chosen.add(i);
  return chosen;
}

/// Whether the row shares a line that is known at a level and that a shared function computes.
[[nodiscard]] constexpr bool is_known_at(const Line& line, const LinePlan& plan, int level) {
  return line.uniform && plan.level == level && line.kind != LineKind::reduce && line.kind != LineKind::output;
}

/// The lines that the row shares and that are known at a level.
template <int Count>
[[nodiscard]] constexpr Chosen<Count> lines_known_at(const Summary<Count>& summary, const Plan<Count>& plan,
                                                     int level) {
  Chosen<Count> chosen{};
  for (int i = 0; i < Count; ++i)
    if (is_known_at(summary.lines[static_cast<std::size_t>(i)], plan[i], level)) chosen.add(i);
  return chosen;
}

/// A reduction line's index among the reductions.
[[nodiscard]] constexpr int ordinal_of(const Line* lines, int line) {
  int before = 0;
  for (int k = 0; k < line; ++k) before += is_reduction(lines[k]) ? 1 : 0;
  return before;
}

/// The output whose row can serve as the first scratch row: of the same type, with no input read after the values are
/// there (the input may share the output's memory). -1 for none.
[[nodiscard]] constexpr int scratch_output(const Line* lines, const LinePlan* plan, int count) {
  int kept = -1;
  for (int i = 0; i < count; ++i)
    if (plan[i].scratch == 0) kept = i;
  if (kept < 0) return -1;
  int found = -1;
  for (int i = 0; i < count; ++i) {
    const Line& line = lines[i];
    const bool reads = line.kind == LineKind::input || line.kind == LineKind::gather;
    if (reads && (plan[i].computed >> (plan[kept].home + 1)) != 0) return -1;
    const bool stored = line.kind == LineKind::output && !line.uniform && line.type == lines[kept].type;
    if (stored && found < 0 && (line.type == DType::float32 || line.type == DType::float64)) found = line.operand;
  }
  return found;
}

/// The bytes that one element of each input and output takes.
[[nodiscard]] constexpr int row_bytes(const Line* lines, int count) {
  int bytes = 0;
  for (int i = 0; i < count; ++i)
    if (lines[i].kind == LineKind::input || lines[i].kind == LineKind::output)
      bytes += static_cast<int>(size_of(lines[i].type));
  return bytes;
}

/// Whether a program does nothing but copy elements as they are.
[[nodiscard]] constexpr bool is_copy(const Line* lines, int count) {
  return count == 2 && lines[0].kind == LineKind::input && !lines[0].uniform && lines[1].kind == LineKind::output &&
         lines[1].type == lines[0].type;
}

/// The stage in which a line reduces.
[[nodiscard]] constexpr int stage_of(const Line& line, const LinePlan& plan) {
  return line.kind == LineKind::reduce ? plan.level - 1 : 0;
}

/// The numbers of a table, without its arrays and functions.
[[nodiscard]] constexpr ProgramTable table_numbers(const Line* lines, const LinePlan* plan, int count,
                                                   const SummaryTotals& summary, const PlanTotals& totals) {
  ProgramTable result;
  result.operands = summary.operands;
  result.reductions = summary.reductions;
  result.lanes = vector_bytes / totals.element_bytes;
  result.stages = totals.stages;
  result.operations = totals.operations + 2 * (summary.operands > 0 ? summary.operands : 1);
  result.scratch_rows = totals.scratch_rows;
  result.scratch_output = scratch_output(lines, plan, count);
  result.reduces = summary.reductions > 0;
  for (int i = 0; i < count; ++i) // pointers to functions cannot be compared here under a sanitizer
    result.stores_shared = result.stores_shared || (lines[i].kind == LineKind::output && lines[i].uniform);
  result.shared_bytes = count * shared_slot_bytes;
  return result;
}
} // namespace vector_detail

/// The functions and tables of a program.
template <class P> class Tabulate {
  using B = Body<P>;
  static constexpr bool is_column = B::summary.shape == KernelShape::column;
  static constexpr int stages = B::plan.stages;

  /// The lines that the row shares and that are known at a level.
  template <int Level> static constexpr auto lines_at = vector_detail::lines_known_at(B::summary, B::plan, Level);

  template <int I> static TWILL_INLINE const auto& value(const std::byte* shared) {
    return vector_detail::shared_value<typename B::template Scalar<I>>(shared, I);
  }

  /// The value of a step, of those of its operands.
  template <int I, int... A>
  static TWILL_INLINE auto shared_step(const std::byte* shared, std::integer_sequence<int, A...>) {
    return kernel::apply<B::line(I).primitive>(value<B::line(I).arguments[A]>(shared)...);
  }
  template <int I>
  static TWILL_INLINE void shared_line(std::byte* shared, const std::int64_t* at, const Operand* bound) {
    using namespace vector_detail;
    constexpr const Line& own = B::line(I);
    using T = typename B::template Element<I>;
    auto& result = shared_value<typename B::template Scalar<I>>(shared, I);
    if constexpr (own.kind == LineKind::input)
      result = load_shared<T>(reinterpret_cast<const void*>(at[own.operand]));
    else if constexpr (own.kind == LineKind::gather)
      result = load_shared<T>(reinterpret_cast<const T*>(at[own.operand]) + value<own.arguments[0]>(shared));
    else if constexpr (own.kind == LineKind::immediate)
      result = load_shared<T>(&bound[own.operand].bits);
    else if constexpr (own.kind == LineKind::cast)
      result = cast_element<T>(value<own.arguments[0]>(shared));
    else
      result = shared_step<I>(shared, std::make_integer_sequence<int, B::line(I).arity>{});
  }
  template <int... I>
  static TWILL_INLINE void shared_lines(std::byte* shared, const std::int64_t* at, const Operand* bound,
                                        std::integer_sequence<int, I...>) {
    (shared_line<I>(shared, at, bound), ...);
  }
  template <int Level>
  static void shared_at(const ProgramTable&, int, std::byte* shared, const std::int64_t* at, const Operand* bound) {
    shared_lines(shared, at, bound, vector_detail::Sequence<lines_at<Level>>{});
  }
  template <int Level> static constexpr SharedFunction shared_function() {
    if constexpr (lines_at<Level>.size == 0)
      return nullptr;
    else
      return &shared_at<Level>;
  }

  /// One pack of columns.
  template <int... O, int... U, int... R>
  static TWILL_INLINE void few_rows(const Cursor& where, const std::int64_t* down, const Operand* bound,
                                    std::int64_t height, std::int64_t j, bool add, std::byte* sums, std::int64_t column,
                                    std::int64_t row_bytes, std::integer_sequence<int, O...>,
                                    std::integer_sequence<int, U...>, std::integer_sequence<int, R...> reduced) {
    using namespace vector_detail;
    using Loop = StageLoop<P, 0>;
    typename Loop::Local local{{where.at[O]...}, {where.stride[O]...}, {where.mode[O]...}};
    const std::int64_t step[] = {down[O]...};
    typename Loop::Registers registers;
    typename Loop::Accumulators accumulators;
    Loop::start(accumulators, nullptr, RowPart::first, reduced);
    for (std::int64_t row = 0; row < height; ++row) {
      if constexpr (lines_at<0>.size > 0) {
        alignas(8) std::byte shared[static_cast<std::size_t>(B::count) * shared_slot_bytes];
        shared_lines(shared, local.at, bound, Sequence<lines_at<0>>{});
        ((value_of<U>(registers) = value<U>(shared)), ...);
      }
      Loop::pack(registers, local, ScratchRows{}, j, accumulators, Sequence<StageLines<P, 0>::active_lines>{});
      ((local.at[O] += step[O]), ...);
    }
    (merge_sums<B::line(R).reduction>(sums + ordinal(R) * row_bytes, column, add, value_of<R>(accumulators)), ...);
  }
  /// `ColumnFunction`.
  static void columns(const ProgramTable&, const Cursor& where, const std::int64_t* down, const Operand* bound,
                      std::int64_t height, std::int64_t begin, std::int64_t end, bool add, std::byte* sums,
                      std::int64_t column, std::int64_t row_bytes) {
    using Lines = StageLines<P, 0>;
    for (std::int64_t j = begin; j < end; j += B::lanes, column += B::lanes)
      few_rows(where, down, bound, height, j, add, sums, column, row_bytes,
               std::make_integer_sequence<int, B::operands>{}, vector_detail::Sequence<Lines::shared_lines>{},
               vector_detail::Sequence<Lines::reduced_lines>{});
  }

  /// A reduction line's index among the reductions.
  [[nodiscard]] static constexpr int ordinal(int line) {
    return vector_detail::ordinal_of(B::summary.lines.data(), line);
  }

  using Operands = std::array<OperandInfo, static_cast<std::size_t>(B::operands) + 1>;
  using Reductions = std::array<ReductionInfo, static_cast<std::size_t>(B::summary.reductions) + 1>;

  static constexpr auto reduced_lines = vector_detail::lines_that(B::summary, kernel::is_reduction);
  static constexpr auto summed_outputs = vector_detail::lines_that(B::summary, vector_detail::is_summed_output);
  static constexpr auto shared_outputs = vector_detail::lines_that(B::summary, vector_detail::is_shared_output);

  template <int I> static constexpr void note_reduction(Reductions& all) {
    constexpr const Line& line = B::line(I);
    constexpr int stage = vector_detail::stage_of(line, B::plan[I]);
    using Loop = StageLoop<P, stage>;
    using V = typename Loop::template Accumulator<I>;
    using T = vector_detail::lane_t<V>;
    ReductionInfo& info = all[static_cast<std::size_t>(ordinal(I))];
    info.line = I;
    info.stage = stage;
    info.offset = StageLines<P, stage>::offsets[I];
    info.lane_bytes = static_cast<int>(sizeof(V)) / B::lanes;
    if constexpr (is_column) {
      info.clear = &vector_detail::clear_sums<line.reduction, T>;
      info.add = &vector_detail::add_sums<line.reduction, T>;
    } else {
      info.finish = &vector_detail::finish_reduction<line.reduction, V, Loop::accumulators>;
      info.tree = &vector_detail::combine_tree<line.reduction, T>;
    }
  }
  template <int... C, int... U>
  static constexpr Operands note_operands(std::integer_sequence<int, C...>, std::integer_sequence<int, U...>) {
    Operands all{};
    for (int i = 0; i < B::count; ++i)
      if (B::line(i).operand >= 0)
        all[static_cast<std::size_t>(B::line(i).operand)] = vector_detail::operand_of(B::line(i), B::plan[i]);
    ((all[static_cast<std::size_t>(B::line(C).operand)].store_sums =
          &vector_detail::store_sums<typename B::template Element<C>>),
     ...);
    if constexpr (!is_column && B::summary.reductions > 0)
      ((all[static_cast<std::size_t>(B::line(U).operand)].store_shared =
            &vector_detail::store_shared<typename B::template Element<U>>),
       ...);
    return all;
  }
  template <int... I> static constexpr Reductions note_reductions(std::integer_sequence<int, I...>) {
    Reductions all{};
    (note_reduction<I>(all), ...);
    return all;
  }
  template <int... S> static constexpr auto stage_functions(std::integer_sequence<int, S...>) {
    if constexpr (is_column)
      return std::array<StageFunction, 1>{};
    else
      return std::array<StageFunction, sizeof...(S)>{&StageLoop<P, S>::run...};
  }
  template <int... S> static constexpr auto block_sizes(std::integer_sequence<int, S...>) {
    return std::array<int, sizeof...(S)>{StageLines<P, S>::block_bytes...};
  }
  template <int... L> static constexpr auto shared_functions(std::integer_sequence<int, L...>) {
    return std::array<SharedFunction, sizeof...(L)>{shared_function<L>()...};
  }

  static_assert(!is_column || vector_detail::row_bytes(B::summary.lines.data(), B::count) * B::lanes *
                                      vector_detail::rows_at_once <=
                                  max_column_buffer_bytes,
                "twill: a program that reduces columns has too many operands");

  static constexpr auto operands_table =
      note_operands(vector_detail::Sequence<summed_outputs>{}, vector_detail::Sequence<shared_outputs>{});
  static constexpr auto reductions_table = note_reductions(vector_detail::Sequence<reduced_lines>{});
  static constexpr auto stage_table = stage_functions(std::make_integer_sequence<int, stages>{});
  static constexpr auto blocks_table = block_sizes(std::make_integer_sequence<int, stages>{});
  static constexpr auto shared_table =
      shared_functions(std::make_integer_sequence < int, is_column ? 1 : stages + 1 > {});

public:
  static constexpr ProgramTable table() {
    ProgramTable result =
        vector_detail::table_numbers(B::summary.lines.data(), B::plan.lines.data(), B::count, B::summary, B::plan);
    result.block_bytes = blocks_table.data();
    result.operand = operands_table.data();
    result.reduction = reductions_table.data();
    result.stage = stage_table.data();
    result.shared = shared_table.data();
    if constexpr (is_column) {
      result.run = &run_columns;
      result.columns = &columns;
    } else {
      result.run = &run_rows;
    }
    if constexpr (vector_detail::is_copy(B::summary.lines.data(), B::count))
      result.transposed = &vector_detail::run_transposed<integer_t<static_cast<int>(size_of(B::line(0).type))>>;
    return result;
  }
};

/// Storage of a program's table. Not a constant's value, so that the compiled library can hold it.
template <class P> struct TableOf { static const ProgramTable table; };
template <class P> constinit const ProgramTable TableOf<P>::table = Tabulate<P>::table();

/// The table of a program.
template <class P> inline constexpr const ProgramTable& table_of = TableOf<P>::table;

}}}} // namespace twill::v0::kernel::TWILL_ISA
