#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Programs as values: a line for each of a program's types. Lazy expressions and graphs write such lines, and
// `TypeOfLine` makes types of them. All compile-time questions about a program (the plan of its loops, the operands it
// takes, its printed form) read its lines, never the types. The functions take a pointer and a count, so that they are
// compiled once and not once for each length. Read next: kernel/plan.hpp.

#include <twill/core/dtype.hpp>
#include <twill/kernel/primitive.hpp>
#include <twill/kernel/program.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace kernel {

enum class LineKind : std::uint8_t { input, immediate, iota, gather, step, cast, reduce, reduce_columns, output };

/// One line of a program; the kind decides which members have a meaning. `describe` finds the last three.
struct Line {
  LineKind kind = LineKind::step;
  DType type = DType::boolean; ///< the element type of the value; of an output: of the stored elements
  Access access = Access::contiguous;
  Primitive primitive = Primitive::negate;
  Reduction reduction = Reduction::sum;
  int arity = 0;
  std::array<int, 4> arguments{};
  int operand = -1;      ///< which operand the line takes, -1 for none
  bool uniform = false;  ///< equal for every element of a row
  bool column = false;   ///< made by ReduceColumns: one value for each column, known when all rows are done
  bool in_order = false; ///< a ReduceInOrder

  /// Whether two lines of one program compute equal values, if they take equal operands.
  [[nodiscard]] friend constexpr bool operator==(const Line& a, const Line& b) {
    if (a.kind != b.kind || a.type != b.type || a.access != b.access || a.primitive != b.primitive ||
        a.reduction != b.reduction || a.arity != b.arity || a.in_order != b.in_order)
      return false;
    for (int i = 0; i < a.arity; ++i)
      if (a.arguments[static_cast<std::size_t>(i)] != b.arguments[static_cast<std::size_t>(i)]) return false;
    return true;
  }
};

/// The bit pattern of a number in an element type, as `Operand::bits` has it.
[[nodiscard]] constexpr std::uint64_t bits_of(DType dtype, double number) {
  switch (dtype) {
  case DType::boolean:
    return number != 0 ? 1 : 0;
  case DType::float16:
    return static_cast<half>(number).bits;
  case DType::bfloat16:
    return static_cast<bfloat16>(number).bits;
  case DType::float8_e4m3fn:
    return static_cast<float8_e4m3fn>(number).bits;
  case DType::float8_e5m2:
    return static_cast<float8_e5m2>(number).bits;
  case DType::float32:
    return std::bit_cast<std::uint32_t>(static_cast<float>(number));
  case DType::float64:
    return std::bit_cast<std::uint64_t>(number);
  default: {
    const bool is_large = dtype == DType::uint64 && number >= 0x1p63;
    const std::uint64_t bits =
        is_large ? static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(static_cast<std::int64_t>(number));
    return bits & (~std::uint64_t{0} >> (64 - 8 * size_of(dtype)));
  }
  }
}

/// The loops that a program needs.
enum class KernelShape : std::uint8_t { elementwise, row, column };

[[nodiscard]] constexpr std::string_view name(KernelShape shape) {
  constexpr std::string_view names[] = {"elementwise", "row", "column"};
  return names[static_cast<int>(shape)];
}

namespace detail {

template <Scalar T, Access A> constexpr Line line_of(In<T, A>) {
  return {.kind = LineKind::input, .type = dtype_of<T>, .access = A};
}
template <Scalar T> constexpr Line line_of(Immediate<T>) { return {.kind = LineKind::immediate, .type = dtype_of<T>}; }
constexpr Line line_of(Iota) { return {.kind = LineKind::iota, .type = DType::int64}; }
template <Scalar T, int Argument, Access A> constexpr Line line_of(Gather<T, Argument, A>) {
  return {.kind = LineKind::gather, .type = dtype_of<T>, .access = A, .arity = 1, .arguments = {Argument}};
}
template <Primitive P, int... Arguments> constexpr Line line_of(Step<P, Arguments...>) {
  static_assert(sizeof...(Arguments) == info(P).arity, "twill: a step names as many values as its primitive takes");
  return {.kind = LineKind::step, .primitive = P, .arity = info(P).arity, .arguments = {Arguments...}};
}
template <Scalar T, int Argument> constexpr Line line_of(Cast<T, Argument>) {
  return {.kind = LineKind::cast, .type = dtype_of<T>, .arity = 1, .arguments = {Argument}};
}
template <Reduction R, int Argument> constexpr Line line_of(Reduce<R, Argument>) {
  return {.kind = LineKind::reduce, .reduction = R, .arity = 1, .arguments = {Argument}};
}
template <Reduction R, int Argument> constexpr Line line_of(ReduceInOrder<R, Argument>) {
  return {.kind = LineKind::reduce, .reduction = R, .arity = 1, .arguments = {Argument}, .in_order = true};
}
template <Reduction R, int Argument> constexpr Line line_of(ReduceColumns<R, Argument>) {
  return {.kind = LineKind::reduce_columns, .reduction = R, .arity = 1, .arguments = {Argument}};
}
template <Scalar T, int Argument> constexpr Line line_of(Out<T, Argument>) {
  return {.kind = LineKind::output, .type = dtype_of<T>, .arity = 1, .arguments = {Argument}};
}

template <Line L, std::size_t... I> constexpr auto type_of_line(std::index_sequence<I...>) {
  using T = scalar_t<L.type>;
  if constexpr (L.kind == LineKind::input)
    return std::type_identity<In<T, L.access>>{};
  else if constexpr (L.kind == LineKind::immediate)
    return std::type_identity<Immediate<T>>{};
  else if constexpr (L.kind == LineKind::iota)
    return std::type_identity<Iota>{};
  else if constexpr (L.kind == LineKind::gather)
    return std::type_identity<Gather<T, L.arguments[I]..., L.access>>{};
  else if constexpr (L.kind == LineKind::step)
    return std::type_identity<Step<L.primitive, L.arguments[I]...>>{};
  else if constexpr (L.kind == LineKind::cast)
    return std::type_identity<Cast<T, L.arguments[I]...>>{};
  else if constexpr (L.kind == LineKind::reduce && L.in_order)
    return std::type_identity<ReduceInOrder<L.reduction, L.arguments[I]...>>{};
  else if constexpr (L.kind == LineKind::reduce)
    return std::type_identity<Reduce<L.reduction, L.arguments[I]...>>{};
  else if constexpr (L.kind == LineKind::reduce_columns)
    return std::type_identity<ReduceColumns<L.reduction, L.arguments[I]...>>{};
  else
    return std::type_identity<Out<T, L.arguments[I]...>>{};
}

/// The first line with a fault, or -1: an argument that is not earlier, operands of two types, a wrong value type.
constexpr int complete(Line* lines, int count) {
  int operands = 0;
  for (int i = 0; i < count; ++i) {
    Line& line = lines[i];
    bool all_uniform = true;
    for (int a = 0; a < line.arity; ++a) {
      const int from = line.arguments[static_cast<std::size_t>(a)];
      if (from < 0 || from >= i || lines[from].kind == LineKind::output) return i;
      all_uniform = all_uniform && lines[from].uniform;
      line.column = line.column || lines[from].column;
    }
    const auto argument = [&](int a) -> const Line& { return lines[line.arguments[static_cast<std::size_t>(a)]]; };
    switch (line.kind) {
    case LineKind::input:
      line.uniform = line.access == Access::uniform;
      break;
    case LineKind::immediate:
      line.uniform = true;
      break;
    case LineKind::iota:
      break;
    case LineKind::gather:
      if (argument(0).type != DType::int64) return i;
      line.uniform = all_uniform && line.access == Access::uniform;
      break;
    case LineKind::cast:
      line.uniform = all_uniform;
      break;
    case LineKind::step: {
      const int first = line.primitive == Primitive::where ? 1 : 0;
      for (int a = first + 1; a < line.arity; ++a)
        if (argument(a).type != argument(first).type) return i;
      if (first == 1 && argument(0).type != DType::boolean) return i;
      line.type = argument(first).type;
      if (info(line.primitive).boolean_result) line.type = DType::boolean;
      if (line.primitive == Primitive::random_uniform) {
        if (line.type != DType::int64) return i;
        line.type = DType::float32;
      }
      line.uniform = all_uniform;
      break;
    }
    case LineKind::reduce:
      line.type = argument(0).type;
      line.uniform = true;
      break;
    case LineKind::reduce_columns:
      line.type = argument(0).type;
      line.column = true;
      break;
    case LineKind::output:
      if (argument(0).type != line.type) return i;
      line.uniform = argument(0).uniform;
      break;
    }
    if (line.column && line.kind != LineKind::reduce_columns && line.kind != LineKind::output) return i;
    if (line.kind == LineKind::input || line.kind == LineKind::immediate || line.kind == LineKind::iota ||
        line.kind == LineKind::gather || line.kind == LineKind::output)
      line.operand = operands++;
  }
  return -1;
}

} // namespace detail

/// The type of a line, the inverse of `describe`: `In`, `Step`, ... A class, since g++ 12 fails on an alias template of
/// a dependent line.
template <Line L> struct TypeOfLine {
  using type =
      typename decltype(detail::type_of_line<L>(std::make_index_sequence<static_cast<std::size_t>(L.arity)>{}))::type;
};

[[nodiscard]] constexpr bool is_reduction(const Line& line) {
  return line.kind == LineKind::reduce || line.kind == LineKind::reduce_columns;
}

/// Facts about a program as a whole.
struct SummaryTotals {
  int fault = -1; ///< the first line that breaks a rule of kernel/program.hpp, -1 for none
  int leaves = 0;
  int outputs = 0;
  int operands = 0;
  int reductions = 0;
  int steps = 0;
  KernelShape shape = KernelShape::elementwise;
  bool mixed = false; ///< reduces rows and columns: no loop can do both
};

/// The table of a program.
template <int Count> struct Summary : SummaryTotals {
  std::array<Line, Count> lines{};
  friend constexpr bool operator==(const Summary&, const Summary&) = delete;
};

/// Completes the lines of a program, and counts them.
constexpr SummaryTotals describe(Line* lines, int count) {
  SummaryTotals summary{};
  summary.fault = detail::complete(lines, count);
  bool rows = false, columns = false;
  for (int i = 0; i < count; ++i) {
    const Line& line = lines[i];
    summary.operands += line.operand >= 0 ? 1 : 0;
    summary.outputs += line.kind == LineKind::output ? 1 : 0;
    summary.reductions += is_reduction(line) ? 1 : 0;
    summary.steps += line.kind == LineKind::step || line.kind == LineKind::cast ? 1 : 0;
    rows = rows || line.kind == LineKind::reduce;
    columns = columns || line.kind == LineKind::reduce_columns;
  }
  summary.mixed = rows && columns;
  summary.shape = columns ? KernelShape::column : rows ? KernelShape::row : KernelShape::elementwise;
  summary.leaves = summary.operands - summary.outputs;
  return summary;
}

/// The contents of a program: its lines, how many operands it takes and which kernel shape runs it.
template <class... Lines> [[nodiscard]] constexpr auto describe(Program<Lines...>) {
  constexpr int count = static_cast<int>(sizeof...(Lines));
  Summary<count> summary{};
  summary.lines = {detail::line_of(Lines{})...};
  static_cast<SummaryTotals&>(summary) = describe(summary.lines.data(), count);
  return summary;
}

namespace detail {

template <class P> struct Described {
  static constexpr auto summary = describe(P{});
  static_assert(summary.fault < 0, "twill: a program's lines name earlier values of the types their primitives take");
  static_assert(!summary.mixed, "twill: a program reduces rows or columns, not both; split it in two");
};

} // namespace detail

/// The table of a program that keeps the rules; any other does not compile.
template <class P> inline constexpr auto summary_of = detail::Described<P>::summary;

/// Elements that a thread of a GPU computes together: 16 bytes of the largest type in memory, at least 2, at most 8.
/// The sums of columns, which are stored once, do not count.
[[nodiscard]] constexpr int chunk_elements(const Line* lines, int count) {
  int largest = 0;
  for (int i = 0; i < count; ++i) {
    const LineKind kind = lines[i].kind;
    const int bytes = static_cast<int>(size_of(lines[i].type));
    const bool is_sum = kind == LineKind::output && lines[i].column;
    if ((kind == LineKind::input || kind == LineKind::gather || kind == LineKind::output) && !is_sum && bytes > largest)
      largest = bytes;
  }
  return largest == 8 ? 2 : largest == 2 ? 8 : 4;
}

}}} // namespace twill::v0::kernel
