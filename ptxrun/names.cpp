// SPDX-License-Identifier: Apache-2.0

#include "ptxrun/names.hpp"

#include "ptxrun/text.hpp"

#include <ranges>

namespace ptxrun {
namespace {

template <class T> constexpr T round_up(T value, std::size_t alignment) {
  return static_cast<T>((value + alignment - 1) / alignment * alignment);
}

} // namespace

std::uint32_t Names::add_register(Type type) {
  const auto number = static_cast<std::uint32_t>(registers_.size());
  registers_.push_back({number, static_cast<std::uint8_t>(size_of(type) == 8 ? 8 : 4), type == Type::predicate});
  return number;
}

void Names::declare_registers(std::string_view text) {
  const std::string_view word = take_word(text);
  const Type type = type_of(word.substr(1));
  if (type == Type::none || type == Type::b128) throw ParseError("registers of type " + std::string{word});
  for (const std::string_view name : split(text, ',')) {
    const std::size_t open = name.find('<');
    if (open == std::string_view::npos) {
      scopes_.back().singles[name] = {add_register(type), 0};
      continue;
    }
    const auto count =
        static_cast<std::uint32_t>(to_integer(trim(name.substr(open + 1, name.find('>') - open - 1))).value_or(0));
    scopes_.back().series[trim(name.substr(0, open))] = {static_cast<std::uint32_t>(registers_.size()), count};
    for (std::uint32_t n = 0; n < count; ++n) add_register(type);
  }
}

std::uint64_t Names::take_local(std::size_t bytes, std::size_t alignment) {
  const std::uint32_t begin = round_up(kernel_.traits.local_bytes, alignment);
  kernel_.traits.local_bytes = round_up(begin + static_cast<std::uint32_t>(bytes), 16);
  return begin;
}

void Names::declare_local(const Declaration& declaration) {
  define(declaration.name, {Space::local, take_local(declaration.bytes, declaration.alignment)});
}

void Names::declare_shared(const Declaration& declaration) {
  if (dynamic_shared_) throw ParseError("static shared memory after dynamic: " + std::string{declaration.name});
  const std::uint32_t begin = round_up(kernel_.traits.static_shared_bytes, declaration.alignment);
  kernel_.traits.static_shared_bytes = begin + static_cast<std::uint32_t>(declaration.bytes);
  scopes_.front().places[declaration.name] = {Space::shared, begin};
}

void Names::declare_parameter(const Declaration& declaration) {
  KernelTraits& traits = kernel_.traits;
  const std::uint32_t begin = round_up(traits.parameter_bytes, declaration.alignment);
  traits.parameters.push_back({begin, static_cast<std::uint32_t>(declaration.bytes)});
  traits.parameter_bytes = begin + static_cast<std::uint32_t>(declaration.bytes);
  define(declaration.name, {Space::parameter, begin});
}

std::optional<Register> Names::find_register(std::string_view name) const {
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  for (const Scope& scope : scopes_ | std::views::reverse) {
    if (const auto single = scope.singles.find(name); single != scope.singles.end())
      return registers_[single->second.first];
    if (digits == name.size()) continue;
    const auto series = scope.series.find(name.substr(0, digits));
    if (series == scope.series.end()) continue;
    std::uint32_t number = 0;
    for (const char digit : name.substr(digits)) number = number * 10 + static_cast<std::uint32_t>(digit - '0');
    if (number < series->second.count) return registers_[series->second.first + number];
  }
  return std::nullopt;
}

std::optional<Place> Names::find_shared(std::string_view name) {
  const auto found = kernel_.symbols->shared.find(name);
  if (found == kernel_.symbols->shared.end() || found->second.bytes != 0) return std::nullopt;
  if (!dynamic_shared_) {
    kernel_.traits.static_shared_bytes = round_up(kernel_.traits.static_shared_bytes, 16);
    dynamic_shared_ = kernel_.traits.static_shared_bytes;
  }
  return Place{Space::shared, *dynamic_shared_};
}

std::optional<Place> Names::find_place(std::string_view text) {
  std::uint64_t offset = 0;
  if (const std::size_t plus = text.find('+'); plus != std::string_view::npos) {
    const auto value = to_integer(trim(text.substr(plus + 1)));
    if (!value) return std::nullopt;
    offset = *value;
    text = trim(text.substr(0, plus));
  }
  for (const Scope& scope : scopes_ | std::views::reverse)
    if (const auto found = scope.places.find(text); found != scope.places.end())
      return Place{found->second.space, found->second.address + offset};
  if (const auto found = kernel_.symbols->variables.find(text); found != kernel_.symbols->variables.end())
    return Place{Space::global, reinterpret_cast<std::uintptr_t>(found->second.data) + offset};
  if (const auto found = find_shared(text)) return Place{found->space, found->address + offset};
  return std::nullopt;
}

Register Names::special_register(std::string_view name) {
  const auto found = specials_.find(name);
  if (found != specials_.end()) return found->second;
  if (find_special_register(name) == nullptr) throw ParseError("unknown register " + std::string{name});
  return specials_[name] = registers_[add_register(Type::b32)];
}

std::uint32_t Names::constant(std::uint64_t value, std::size_t bytes) {
  std::vector<std::byte>& bank = kernel_.constants;
  const auto [entry, is_new] = constants_.try_emplace({value, bytes}, static_cast<std::uint32_t>(bank.size()));
  if (is_new)
    for (int lane = 0; lane < 32; ++lane)
      for (std::size_t n = 0; n < bytes; ++n) bank.push_back(static_cast<std::byte>(value >> (8 * n)));
  return entry->second;
}

} // namespace ptxrun
