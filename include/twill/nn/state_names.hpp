#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Renaming in state dictionaries: a state saved from a wrapper loads into the bare model, a stage's part of a pipeline
// into the stage's model, stages under other numbers, and back. The tensors are shared. Read next: nn/state_dict.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/nn/stored_tensor.hpp>

#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace nn {

/// The state under the names given by `rename(name)`; std::nullopt drops the tensor.
/// throws: ValueError for a name that would be there twice
template <class F> [[nodiscard]] StateDict renamed(const StateDict& state, F&& rename) {
  const auto under_new_names = [&]<class E>(std::span<const E> before) {
    std::vector<E> entries{};
    entries.reserve(before.size());
    for (const auto& [name, tensor] : before)
      if (std::optional<std::string> now = rename(name)) entries.emplace_back(*std::move(now), tensor);
    return entries;
  };
  return StateDict{under_new_names(state.entries()), under_new_names(state.foreign())};
}

/// Every name with a prefix: `with_prefix(state, "module.")`.
[[nodiscard]] StateDict with_prefix(const StateDict& state, std::string_view prefix);

/// Removes the prefix from names that begin with it, like PyTorch's consume_prefix_in_state_dict_if_present.
[[nodiscard]] StateDict without_prefix(const StateDict& state, std::string_view prefix);

/// Only tensors whose names begin with the prefix, without it: `part(state, "1.")` is the second stage of a pipeline.
[[nodiscard]] StateDict part(const StateDict& state, std::string_view prefix);

/// Several states in one. throws: ValueError for a name that is in two of them
[[nodiscard]] StateDict joined(std::initializer_list<StateDict> parts);

/// The state of a pipeline whose stage i is now number `numbers[i]`: "0.weight" becomes "2.weight" for numbers {2, …}.
/// throws: ValueError naming a key that begins with no number of a stage
[[nodiscard]] StateDict renumbered_stages(const StateDict& state, std::span<const int> numbers);

}}} // namespace twill::v0::nn

#if TWILL_HEADER_ONLY
#include <twill/nn/state_names.ipp>
#endif
