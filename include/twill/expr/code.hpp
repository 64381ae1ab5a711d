#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Lines of an expression's program while it is being written, as a value: each node of the expression appends its
// lines, and equal lines are written once. Each operand has a record of its source: a leaf of the
// expression, a number in the code, the length of a reduced row. A complex value is two lines, its real and imaginary
// part, whose numbers share an int; programs compute with real numbers alone. Read next: expr/symbol.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
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

/// The value that two lines are together: a complex number.
[[nodiscard]] constexpr int paired(int real, int imaginary) { return 1 << 16 | real << 8 | imaginary; }
[[nodiscard]] constexpr bool is_pair(int value) { return value >= 1 << 16; }
[[nodiscard]] constexpr int real_line(int pair) { return pair >> 8 & 0xff; }
[[nodiscard]] constexpr int imaginary_line(int pair) { return pair & 0xff; }

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
  /// The element type of a line, or of a pair of them.
  [[nodiscard]] constexpr DType type_of(int value) const {
    return is_pair(value) ? complex_type((*this)[real_line(value)].type) : (*this)[value].type;
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
    if (is_complex(type)) { // the parts have other keys, so that no program takes one for the other
      const int real = tensor(real_type(type), access, outside, drops, shape ^ 0x5bd1e995U, elements);
      return paired(real, tensor(real_type(type), access, outside, drops, shape ^ 0x9747b28cU, elements));
    }
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
  constexpr int constant(DType type) {
    if (is_complex(type)) {
      const int real = constant(real_type(type));
      return paired(real, constant(real_type(type)));
    }
    return append_leaf({.kind = kernel::LineKind::immediate, .type = type});
  }
  constexpr int gather(DType type, kernel::Access access, int argument, bool outside, std::int64_t elements) {
    if (is_complex(type)) {
      const int real = gather(real_type(type), access, argument, outside, elements);
      return paired(real, gather(real_type(type), access, argument, outside, elements));
    }
    return append_leaf(
        {.kind = kernel::LineKind::gather, .type = type, .access = access, .arity = 1, .arguments = {argument}},
        {.outside = outside, .elements = elements});
  }
  constexpr int number(DType type, double value) {
    if (is_complex(type)) return paired(number(real_type(type), value), number(real_type(type), 0));
    return append_once({.kind = kernel::LineKind::immediate, .type = type},
                       {.origin = Origin::number, .bits = kernel::bits_of(type, value)});
  }
  constexpr int row_length(DType type) {
    return append_once({.kind = kernel::LineKind::immediate, .type = type}, {.origin = Origin::row_length});
  }
  constexpr int row_index() {
    return append_once({.kind = kernel::LineKind::iota, .type = DType::int64}, {.origin = Origin::row_index});
  }
  /// A real number is a complex one without imaginary part; of a complex number as a real one, that part is dropped,
  /// and as a truth value, both parts count.
  constexpr int cast(DType type, int value) {
    if (is_complex(type)) {
      const DType part = real_type(type);
      if (!is_pair(value)) return paired(cast(part, value), number(part, 0));
      return paired(cast(part, real_line(value)), cast(part, imaginary_line(value)));
    }
    if (is_pair(value) && type == DType::boolean)
      return step(kernel::Primitive::logical_or, type,
                  {cast(type, real_line(value)), cast(type, imaginary_line(value)), 0, 0});
    if (is_pair(value)) value = real_line(value);
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
  /// A complex value has two outputs.
  constexpr void output(DType type, int value) {
    if (is_pair(value)) {
      output(real_type(type), real_line(value));
      return output(real_type(type), imaginary_line(value));
    }
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
