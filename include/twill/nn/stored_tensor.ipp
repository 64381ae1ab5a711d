#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of nn/stored_tensor.hpp.

#include <twill/nn/stored_tensor.hpp>

namespace twill { inline namespace v0 { namespace nn {

TWILL_BODY std::pair<StoredTensor, std::byte*> StoredTensor::make(DType dtype, const Dims& shape) {
  const auto size = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
  std::shared_ptr<std::byte[]> memory(new std::byte[size]);
  std::byte* const data = memory.get();
  return {{dtype, shape, {data, size}, std::move(memory)}, data};
}

TWILL_BODY StateDict::StateDict(std::vector<Entry> entries, std::vector<ForeignEntry> foreign)
    : entries_{std::move(entries)}, foreign_{std::move(foreign)} {
  std::vector<std::string_view> names{};
  for (const Entry& entry : entries_) names.push_back(entry.first);
  for (const ForeignEntry& entry : foreign_) names.push_back(entry.first);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) throw ValueError("state_dict: '" + std::string{*twice} + "' is there twice");
}

TWILL_BODY void StateDict::add(std::string name, StoredTensor tensor) {
  if (named(entries_, name) != nullptr || named(foreign_, name) != nullptr)
    throw ValueError("state_dict: '" + name + "' is there twice");
  entries_.emplace_back(std::move(name), std::move(tensor));
}

TWILL_BODY const StoredTensor* StateDict::find(std::string_view name) const {
  if (const ForeignTensor* const found = named(foreign_, name); found != nullptr)
    throw ValueError("state_dict: '" + std::string{name} + "' has type " + found->type +
                     ", which twill does not have; foreign() has its bytes");
  return named(entries_, name);
}

TWILL_BODY std::span<const StateDict::Entry> StateDict::entries() const& { return entries_; }

TWILL_BODY std::span<const StateDict::ForeignEntry> StateDict::foreign() const { return foreign_; }

TWILL_BODY void StateDict::require_no_foreign(std::string_view operation) const {
  if (!foreign_.empty())
    throw ValueError(std::string{operation} + ": '" + foreign_.front().first + "' has type " +
                     foreign_.front().second.type + ", which twill does not have");
}

TWILL_BODY StateDict with_prefix(const StateDict& state, std::string_view prefix) {
  return renamed(state, [&](const std::string& name) { return join_text({prefix, name}); });
}

TWILL_BODY StateDict without_prefix(const StateDict& state, std::string_view prefix) {
  return renamed(state,
                 [&](const std::string& name) { return name.starts_with(prefix) ? name.substr(prefix.size()) : name; });
}

TWILL_BODY StateDict part(const StateDict& state, std::string_view prefix) {
  return renamed(state, [&](const std::string& name) {
    return name.starts_with(prefix) ? std::optional{name.substr(prefix.size())} : std::nullopt;
  });
}

TWILL_BODY StateDict joined(std::initializer_list<StateDict> parts) {
  std::vector<StateDict::Entry> entries{};
  std::vector<StateDict::ForeignEntry> foreign{};
  for (const StateDict& state : parts) {
    entries.insert(entries.end(), state.entries().begin(), state.entries().end());
    foreign.insert(foreign.end(), state.foreign().begin(), state.foreign().end());
  }
  return StateDict{std::move(entries), std::move(foreign)};
}

TWILL_BODY StateDict renumbered_stages(const StateDict& state, std::span<const int> numbers) {
  return renamed(state, [&](const std::string& name) {
    std::size_t stage = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), stage);
    if (error != std::errc{} || end == name.data() + name.size() || *end != '.' || stage >= numbers.size())
      throw ValueError(join_text(
          {"renumbered_stages: '", name, "' does not begin with the number of one of ", numbers.size(), " stages"}));
    return std::to_string(numbers[stage]) + std::string(end, name.data() + name.size());
  });
}

}}} // namespace twill::v0::nn
