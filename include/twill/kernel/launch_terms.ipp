#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/launch_terms.hpp.

#include <twill/kernel/launch_terms.hpp>

namespace twill { inline namespace v0 { namespace kernel {

TWILL_COLD TWILL_BODY std::string joined_words(const std::vector<std::string_view>& words) {
  constexpr std::size_t most_words = 4;
  std::vector<std::string_view> different{};
  for (const std::string_view word : words)
    if (std::find(different.begin(), different.end(), word) == different.end()) different.push_back(word);
  std::string text{};
  for (std::size_t i = 0; i < different.size() && i < most_words; ++i) {
    if (i > 0) text += '+';
    text += different[i];
  }
  if (different.size() > most_words) text += join_text({"+", different.size() - most_words, " more"});
  return text;
}

TWILL_BODY std::int64_t elements_along(const Grid& grid, const Operand& operand) {
  std::int64_t elements = 1;
  for (int axis = 0; axis < grid.rank; ++axis)
    if (operand.strides[static_cast<std::size_t>(axis)] != 0) elements *= grid[axis];
  return elements;
}

}}} // namespace twill::v0::kernel
