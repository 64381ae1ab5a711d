#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of nn/state_names.hpp.

#include <twill/nn/state_names.hpp>

namespace twill { inline namespace v0 { namespace nn {

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
