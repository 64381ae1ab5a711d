#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Program types of expressions: the `kernel::Program` that a finished `Code` describes. The code belongs to a tag type,
// so no array becomes a template argument; the program's type names nothing of the expression, so equal expressions
// share one kernel. Read next: expr/evaluate.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/expr/code.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/summary.hpp>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// `Source` has a static constexpr `code`.
template <class Source> struct ProgramOf {
  static_assert(!Source::code.is_too_long,
                "twill: this statement has more than 96 lines; compute a part of it in a statement of its own");
  template <std::size_t... I>
  static auto make(std::index_sequence<I...>)
      -> kernel::Program<typename kernel::TypeOfLine<Source::code.lines[I]>::type...>;
  using type = decltype(make(std::make_index_sequence<static_cast<std::size_t>(Source::code.count)>{}));
};

/// The facts about one operand that the run time needs.
struct OperandEntry {
  kernel::LineKind kind = kernel::LineKind::immediate;
  kernel::Access access = kernel::Access::uniform;
  DType type = DType::boolean;
  Origin origin = Origin::none;
  std::uint64_t bits = 0;

  /// A leaf of which a row reads one element.
  [[nodiscard]] constexpr bool is_shared() const {
    return access == kernel::Access::uniform && (kind == kernel::LineKind::input || kind == kernel::LineKind::gather);
  }
};

/// The facts about a code that the run time needs: which operand each leaf fills, and what fills the others.
template <class Source> struct Operands {
  static constexpr std::size_t count = static_cast<std::size_t>(Source::code.operands);
  static constexpr std::size_t leaves = static_cast<std::size_t>(Source::code.leaves);
  static constexpr std::size_t outputs = static_cast<std::size_t>(Source::code.outputs);
  static constexpr std::array<Code::Leaf, leaves + 1> leaf = [] {
    std::array<Code::Leaf, leaves + 1> result{};
    for (std::size_t i = 0; i < leaves; ++i) result[i] = Source::code.leaf(static_cast<int>(i));
    return result;
  }();
  static constexpr std::array<OperandEntry, count> entries = [] {
    std::array<OperandEntry, count> result{};
    std::size_t next = 0;
    for (int line = 0; line < Source::code.count; ++line) {
      const kernel::Line& from = Source::code[line];
      if (from.operand < 0) continue;
      const OperandSource& source = Source::code.source_of(line);
      result[next++] = {from.kind, from.access, from.type, source.origin, source.bits};
    }
    return result;
  }();
};

/// `Operands` as a value, so that its readers are not compiled for each expression.
struct OperandMap {
  const Code::Leaf* leaf = nullptr;
  const OperandEntry* entries = nullptr;
  std::size_t leaves = 0;
  std::size_t count = 0;
  std::size_t outputs = 0;
  bool has_numbers = false; ///< of the code
  bool has_shared = false;  ///< leaves that its rows share
};
template <class Source>
inline constexpr OperandMap operand_map = [] {
  using All = Operands<Source>;
  OperandMap map{All::leaf.data(), All::entries.data(), All::leaves, All::count, All::outputs};
  for (const OperandEntry& entry : All::entries) {
    map.has_numbers = map.has_numbers || entry.origin == Origin::number;
    map.has_shared = map.has_shared || entry.is_shared();
  }
  return map;
}();

}}}} // namespace twill::v0::expr::TWILL_ISA
