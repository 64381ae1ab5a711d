#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Strings as template arguments: the name of a dimension, the pattern of an `einsum`. Types that carry one never become
// arguments of a kernel.

#include <cstddef>
#include <string_view>

namespace twill { inline namespace v0 {

/// A string as a template argument.
template <std::size_t N> struct FixedString {
  char characters[N]{}; ///< with a zero after the last
  /// Takes a literal, so that `Dim<"batch">` can be written.
  constexpr FixedString(const char (&text)[N]) {
    for (std::size_t i = 0; i < N; ++i) characters[i] = text[i];
  }
  /// The characters, without the final zero.
  [[nodiscard]] constexpr std::string_view view() const { return {characters, N - 1}; }
};

}} // namespace twill::v0
