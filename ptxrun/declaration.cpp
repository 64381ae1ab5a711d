// SPDX-License-Identifier: Apache-2.0

#include "ptxrun/declaration.hpp"

#include "ptxrun/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ptxrun {

Type type_of(std::string_view name) {
  using enum Type;
  static constexpr std::array<std::pair<std::string_view, Type>, 20> names{
      {{"b8", b8},     {"b16", b16},       {"b32", b32}, {"b64", b64}, {"b128", b128},
       {"u8", u8},     {"u16", u16},       {"u32", u32}, {"u64", u64}, {"s8", s8},
       {"s16", s16},   {"s32", s32},       {"s64", s64}, {"f16", f16}, {"f16x2", f16x2},
       {"bf16", bf16}, {"bf16x2", bf16x2}, {"f32", f32}, {"f64", f64}, {"pred", predicate}}};
  for (const auto& [known, type] : names)
    if (known == name) return type;
  return none;
}

Declaration to_declaration(std::string_view text) {
  Declaration declaration;
  if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
    declaration.initialiser = trim(text.substr(equals + 1));
    text = text.substr(0, equals);
  }
  text = trim(text);
  while (!text.empty()) {
    const std::string_view word = take_word(text);
    if (word == ".align") {
      declaration.alignment = static_cast<std::size_t>(to_integer(take_word(text)).value_or(1));
    } else if (word.front() == '.') {
      if (const Type type = type_of(word.substr(1)); type != Type::none) declaration.type = type;
    } else if (declaration.name.empty()) {
      std::size_t bracket = word.find('[');
      declaration.name = word.substr(0, bracket);
      std::size_t count = 1;
      while (bracket != std::string_view::npos) {
        const std::size_t end = word.find(']', bracket);
        count *= static_cast<std::size_t>(to_integer(trim(word.substr(bracket + 1, end - bracket - 1))).value_or(0));
        bracket = word.find('[', end);
      }
      declaration.bytes = count * size_of(declaration.type);
    }
  }
  declaration.alignment = std::max(declaration.alignment, size_of(declaration.type));
  return declaration;
}

} // namespace ptxrun
