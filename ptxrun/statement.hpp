#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A statement of PTX while it becomes an Instruction: opcode, modifiers, types and arguments, and the steps that turn arguments into
// operands. The files of instructions/ decode one family each.

#include "ptxrun/instruction.hpp"
#include "ptxrun/names.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace ptxrun {

class Statement {
public:
  /// `text` has no guard and no semicolon.
  Statement(Names& names, Instruction& instruction, std::string_view text);

  Names& names;
  Instruction& instruction;
  std::string_view opcode{};
  std::vector<std::string_view> modifiers{};
  std::vector<std::string_view> arguments{};
  std::vector<Type> types{};              ///< of the modifiers, in their order
  std::vector<std::string_view> labels{}; ///< that a branch leads to; filled by its decoder

  [[nodiscard]] bool has(std::string_view modifier) const;
  [[nodiscard]] Type type() const { return types.empty() ? Type::none : types.front(); }
  [[nodiscard]] std::string_view argument(std::size_t n) const;
  [[noreturn]] void reject(std::string_view reason) const;

  /// Registers and constants as wide as `type`.
  void destination(std::size_t n, std::string_view text, Type type);
  void source(std::size_t n, std::string_view text, Type type);
  /// Registers as wide as they are declared, since memory accesses and conversions allow it.
  void destination_of_any_width(std::size_t n, std::string_view text, Type type);
  void source_of_any_width(std::size_t n, std::string_view text, Type type);
  /// The first argument as destination, the others as sources.
  void all(Type type);

  void predicate_destination(std::size_t n, std::string_view text);
  void predicate_source(std::size_t n, std::string_view text);
  /// `value|predicate`
  void destination_with_predicate(std::string_view text, Type type);
  /// `predicate|inverse`
  void predicate_destinations(std::string_view text);

  /// `[register+offset]`, `[variable+offset]` or `[number]`, into the first source and the immediate.
  void address(std::string_view text);

private:
  [[nodiscard]] Operand operand(std::string_view text, std::size_t bytes, Type type);
};

/// The elements of `{a, b}`, or the text alone.
[[nodiscard]] std::vector<std::string_view> elements(std::string_view text);

/// A number as PTX writes it, by the bits that `type` has: integers, `0f3F800000`, `0d3FF0000000000000`.
[[nodiscard]] std::optional<std::uint64_t> to_constant(std::string_view text, Type type);

using Decoder = void (*)(Statement&);

/// Fills the instruction, except for what `labels` still names. Throws ParseError.
void decode(Statement& statement);

} // namespace ptxrun
