#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Lines of an expression's program while it is being written, as a value: each node of the expression appends its
// lines, and equal lines are written once. Each operand has a record of its source: a leaf of the
// expression, a number in the code, the length of a reduced row. Read next: expr/symbol.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/summary.hpp>

#include <array>
#include <cstdint>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// The origin of an operand; a leaf's number otherwise.
enum class Origin : std::int16_t { none = -1, number = -2, row_length = -3, row_index = -4, destination = -5 };

/// The source of the operand of a line.
struct OperandSource {
  Origin origin = Origin::none;
  bool outside = false;        ///< a leaf beside the reductions of a row program, not inside them
  bool drops = false;          ///< ... and those dropped their axes
  int ordinal = 0;             ///< of a leaf among those of its expression
  std::uint64_t bits = 0;      ///< of a number; of a leaf: a key of its known shape
  std::int64_t elements = dyn; ///< of a leaf, as far as the types tell
};

/// Which leaves of one shape and type a program takes for one tensor: checked at run time.
enum class Merging : std::uint8_t { none, alike, by_ordinal };

struct Code {
  static constexpr int capacity = 96;
  std::array<kernel::Line, capacity> lines{};
  std::array<OperandSource, capacity> sources{}; ///< of the operands, in their order
  int count = 0;
  int leaves = 0;
  int operands = 0;
  int outputs = 0;
  bool is_too_long = false;
  Merging merging = Merging::none;
  int ordinal = 0; ///< leaves of the expression that is being written
  std::array<std::int16_t, capacity> line_of_leaf{};

  [[nodiscard]] constexpr const kernel::Line& operator[](int index) const {
    return lines[static_cast<std::size_t>(index)];
  }
  /// requires: the line takes an operand
  [[nodiscard]] constexpr const OperandSource& source_of(int line) const {
    return sources[static_cast<std::size_t>((*this)[line].operand)];
  }

  constexpr int append(const kernel::Line& line) {
    if (count == capacity) {
      is_too_long = true;
      return 0;
    }
    lines[static_cast<std::size_t>(count)] = line;
    return count++;
  }
  constexpr int append(kernel::Line line, const OperandSource& source) {
    if (count < capacity) {
      line.operand = operands++;
      sources[static_cast<std::size_t>(line.operand)] = source;
    }
    return append(line);
  }

  /// The number of an equal line, or of a new one. Leaves are never equal: only the run time knows where they point.
  constexpr int append_once(const kernel::Line& wanted) {
    for (int index = 0; index < count; ++index)
      if ((*this)[index] == wanted) return index;
    return append(wanted);
  }
  constexpr int append_once(const kernel::Line& wanted, const OperandSource& source) {
    for (int index = 0; index < count; ++index)
      if ((*this)[index] == wanted && source_of(index).origin == source.origin && source_of(index).bits == source.bits)
        return index;
    return append(wanted, source);
  }

  /// The line of the next leaf, which is a new one.
  constexpr int append_leaf(const kernel::Line& line, OperandSource source = {}) {
    source.origin = static_cast<Origin>(leaves);
    return note_leaf(append(line, source));
  }
  constexpr int note_leaf(int line) {
    if (leaves == capacity) {
      is_too_long = true;
      return line;
    }
    line_of_leaf[static_cast<std::size_t>(leaves++)] = static_cast<std::int16_t>(line);
    return line;
  }
  constexpr int tensor(DType type, kernel::Access access, bool outside, bool drops, std::uint64_t shape,
                       std::int64_t elements) {
    const int own_ordinal = ordinal++;
    for (int index = 0; index < count && merging != Merging::none; ++index) {
      const kernel::Line& seen = (*this)[index];
      if (seen.kind != kernel::LineKind::input || seen.type != type || seen.access != access) continue;
      const OperandSource& source = source_of(index);
      if (source.outside == outside && source.drops == drops && source.bits == shape &&
          (merging == Merging::alike || source.ordinal == own_ordinal))
        return note_leaf(index);
    }
    return append_leaf(
        {.kind = kernel::LineKind::input, .type = type, .access = access},
        {.outside = outside, .drops = drops, .ordinal = own_ordinal, .bits = shape, .elements = elements});
  }
  /// The place of each element in row-major order, bound as the strides of a leaf without memory.
  constexpr int position() { return append_leaf({.kind = kernel::LineKind::iota, .type = DType::int64}); }
  constexpr int constant(DType type) { return append_leaf({.kind = kernel::LineKind::immediate, .type = type}); }
  constexpr int gather(DType type, kernel::Access access, int argument, bool outside, std::int64_t elements) {
    return append_leaf(
        {.kind = kernel::LineKind::gather, .type = type, .access = access, .arity = 1, .arguments = {argument}},
        {.outside = outside, .elements = elements});
  }
  constexpr int number(DType type, double value) {
    return append_once({.kind = kernel::LineKind::immediate, .type = type},
                       {.origin = Origin::number, .bits = kernel::bits_of(type, value)});
  }
  constexpr int row_length(DType type) {
    return append_once({.kind = kernel::LineKind::immediate, .type = type}, {.origin = Origin::row_length});
  }
  constexpr int row_index() {
    return append_once({.kind = kernel::LineKind::iota, .type = DType::int64}, {.origin = Origin::row_index});
  }
  constexpr int cast(DType type, int value) {
    if ((*this)[value].type == type) return value;
    return append_once({.kind = kernel::LineKind::cast, .type = type, .arity = 1, .arguments = {value}});
  }
  constexpr int step(kernel::Primitive primitive, DType type, std::array<int, 4> arguments) {
    return append_once({.kind = kernel::LineKind::step,
                        .type = type,
                        .primitive = primitive,
                        .arity = kernel::info(primitive).arity,
                        .arguments = arguments});
  }
  constexpr int reduce(kernel::LineKind kind, kernel::Reduction reduction, int value) {
    return append_once(
        {.kind = kind, .type = (*this)[value].type, .reduction = reduction, .arity = 1, .arguments = {value}});
  }
  constexpr void output(DType type, int value) {
    ++outputs;
    append({.kind = kernel::LineKind::output, .type = type, .arity = 1, .arguments = {value}},
           {.origin = Origin::destination});
  }

  /// Data for the binding of a leaf.
  struct Leaf {
    std::int16_t operand = 0;
    std::int16_t first = 0; ///< the leaf that stands for it
    bool outside = false;
    bool drops = false;
  };
  [[nodiscard]] constexpr Leaf leaf(int number) const {
    const int line = line_of_leaf[static_cast<std::size_t>(number)];
    const OperandSource& source = source_of(line);
    return {static_cast<std::int16_t>((*this)[line].operand), static_cast<std::int16_t>(source.origin), source.outside,
            source.drops};
  }
};

}}}} // namespace twill::v0::expr::TWILL_ISA
