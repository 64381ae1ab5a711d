// SPDX-License-Identifier: Apache-2.0

#include "ptxrun/statement.hpp"

#include "ptxrun/text.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>

namespace ptxrun {

Statement::Statement(Names& all_names, Instruction& result, std::string_view text)
    : names{all_names}, instruction{result} {
  std::string_view rest = trim(text);
  std::string_view head = take_word(rest);
  arguments = split(rest, ',');
  std::size_t dot = head.find('.');
  opcode = head.substr(0, dot);
  while (dot != std::string_view::npos) {
    const std::size_t next = head.find('.', dot + 1);
    modifiers.push_back(head.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1));
    if (const Type type = type_of(modifiers.back()); type != Type::none) types.push_back(type);
    dot = next;
  }
}

bool Statement::has(std::string_view modifier) const {
  return std::ranges::find(modifiers, modifier) != modifiers.end();
}

std::string_view Statement::argument(std::size_t n) const {
  if (n >= arguments.size()) reject("too few operands");
  return arguments[n];
}

void Statement::reject(std::string_view reason) const {
  throw ParseError(std::string{reason} + ": " + describe(instruction));
}

std::optional<std::uint64_t> to_constant(std::string_view text, Type type) {
  const bool is_hexadecimal = text.size() > 2 && text[0] == '0';
  if (is_hexadecimal && (text[1] == 'f' || text[1] == 'F')) {
    const auto bits = to_integer("0x" + std::string{text.substr(2)});
    if (!bits || type != Type::f64) return bits;
    return std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(*bits))));
  }
  if (is_hexadecimal && (text[1] == 'd' || text[1] == 'D')) {
    const auto bits = to_integer("0x" + std::string{text.substr(2)});
    if (!bits || type != Type::f32) return bits;
    return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(*bits)));
  }
  if (is_single_or_double(type) && !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'))) {
    const double value = std::strtod(std::string{text}.c_str(), nullptr);
    return type == Type::f64 ? std::bit_cast<std::uint64_t>(value)
                             : std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
  return to_integer(text);
}

std::vector<std::string_view> elements(std::string_view text) {
  return text.starts_with('{') ? split(text.substr(1, text.rfind('}') - 1), ',') : std::vector{text};
}

Operand Statement::operand(std::string_view text, std::size_t bytes, Type type) {
  const auto in_register = [&](Register found) {
    if (!found.is_predicate && bytes != 0 && found.bytes != bytes)
      reject("register " + std::string{text} + " has another width");
    return Operand{found.number, 0, static_cast<std::uint8_t>(found.bytes == 8 ? 3 : 2), false};
  };
  const auto in_constant = [&](std::uint64_t value, std::size_t size) {
    return Operand{names.constant(size == 8 ? value : static_cast<std::uint32_t>(value), size), 1,
                   static_cast<std::uint8_t>(size == 8 ? 3 : 2), false};
  };
  if (text == "_") return Operand{0, 0, 2, true};
  if (const auto found = names.find_register(text)) return in_register(*found);
  if (text.starts_with('%')) return in_register(names.special_register(text));
  if (text == "WARP_SZ") return in_constant(32, bytes == 0 ? 4 : bytes);
  if (const auto value = to_constant(text, type))
    return in_constant(*value, bytes != 0 ? bytes : size_of(type) == 8 ? 8 : 4);
  if (const auto place = names.find_place(text)) {
    if (place->space == Space::parameter) reject("the address of a parameter");
    return in_constant(place->address, bytes == 0 ? 8 : bytes);
  }
  reject("unknown operand " + std::string{text});
}

namespace {
std::size_t slot_bytes(Type type) { return size_of(type) <= 4 ? 4 : 8; }
} // namespace

void Statement::destination(std::size_t n, std::string_view text, Type type) {
  const Operand result = operand(text, slot_bytes(type), type);
  if (result.bank != 0) reject("a constant as destination");
  instruction.destinations[n] = result;
  instruction.destination_count =
      static_cast<std::uint8_t>(std::max<std::size_t>(instruction.destination_count, n + 1));
}

void Statement::source(std::size_t n, std::string_view text, Type type) {
  instruction.sources[n] = operand(text, slot_bytes(type), type);
  instruction.source_count = static_cast<std::uint8_t>(std::max<std::size_t>(instruction.source_count, n + 1));
}

void Statement::destination_of_any_width(std::size_t n, std::string_view text, Type type) {
  const auto found = names.find_register(text);
  destination(n, text, found ? (found->bytes == 8 ? Type::b64 : Type::b32) : type);
}

void Statement::source_of_any_width(std::size_t n, std::string_view text, Type type) {
  if (const auto found = names.find_register(text))
    source(n, text, found->bytes == 8 ? Type::b64 : Type::b32);
  else if (text.starts_with('%'))
    source(n, text, names.special_register(text).bytes == 8 ? Type::b64 : Type::b32);
  else
    source(n, text, type);
}

void Statement::all(Type type) {
  destination(0, argument(0), type);
  for (std::size_t n = 1; n < arguments.size(); ++n) source(n - 1, arguments[n], type);
}

void Statement::predicate_destination(std::size_t n, std::string_view text) {
  const auto found = names.find_register(text);
  if (text == "_")
    instruction.destinations[n].is_ignored = true;
  else if (found && found->is_predicate)
    instruction.destinations[n].offset = found->number;
  else
    reject("unknown predicate " + std::string{text});
  instruction.destination_count =
      static_cast<std::uint8_t>(std::max<std::size_t>(instruction.destination_count, n + 1));
}

void Statement::predicate_source(std::size_t n, std::string_view text) {
  if (text.starts_with('!')) {
    instruction.source_is_negated = true;
    text = trim(text.substr(1));
  }
  const auto found = names.find_register(text);
  const auto value = to_integer(text);
  if (found && found->is_predicate)
    instruction.sources[n].offset = found->number;
  else if (value)
    instruction.sources[n] = {names.constant(*value != 0 ? 0xffffffffU : 0, 4), 1, 2, false};
  else
    reject("unknown predicate " + std::string{text});
  instruction.source_count = static_cast<std::uint8_t>(std::max<std::size_t>(instruction.source_count, n + 1));
}

void Statement::destination_with_predicate(std::string_view text, Type type) {
  const std::size_t bar = text.find('|');
  destination(0, trim(text.substr(0, bar)), type);
  if (bar != std::string_view::npos) predicate_destination(1, trim(text.substr(bar + 1)));
}

void Statement::predicate_destinations(std::string_view text) {
  const std::size_t bar = text.find('|');
  predicate_destination(0, trim(text.substr(0, bar)));
  if (bar != std::string_view::npos) predicate_destination(1, trim(text.substr(bar + 1)));
}

void Statement::address(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']')) reject("an address is expected");
  const std::string_view inner = trim(text.substr(1, text.size() - 2));
  std::string_view base = inner;
  std::uint64_t offset = 0;
  if (const std::size_t sign = inner.find_first_of("+-", 1); sign != std::string_view::npos) {
    base = trim(inner.substr(0, sign));
    std::string_view number = trim(inner.substr(sign + 1));
    const auto value = to_integer(number);
    if (!value) reject("unknown offset");
    offset = inner[sign] == '-' ? std::uint64_t{0} - *value : *value;
  }
  instruction.source_count = std::max<std::uint8_t>(instruction.source_count, 1);
  if (names.find_register(base)) {
    source_of_any_width(0, base, Type::b64);
    instruction.has_address_register = true;
  } else {
    instruction.sources[0] = {names.constant(0, 4), 1, 2, false};
    if (const auto place = names.find_place(base)) {
      offset += place->address;
      // A function's parameters and results are stored in local memory (parser.cpp).
      if (instruction.space == Space::parameter && place->space == Space::local) instruction.space = Space::local;
    } else if (const auto number = to_integer(base)) {
      offset += *number;
    } else {
      reject("unknown address " + std::string{base});
    }
  }
  instruction.immediate = static_cast<std::int64_t>(offset);
}

} // namespace ptxrun
