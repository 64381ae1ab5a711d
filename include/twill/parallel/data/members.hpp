#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The members of a plain struct as a tuple of references: counted by how many initialisers it takes, named by a structured
// binding. Up to twelve members, none of them a C array. It is what lets wrappers take a struct of tensors apart and put
// it together again.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace twill::inline v0::parallel::detail::inline TWILL_ISA {

/// Converts to anything, in unevaluated code.
struct Anything {
  template <class T> operator T() const;
};
template <std::size_t> using AnythingAt = Anything;

template <class V, class Sequence> inline constexpr bool takes = false;
template <class V, std::size_t... I> inline constexpr bool takes<V, std::index_sequence<I...>> = requires {
  V{AnythingAt<I>{}...};
};

inline constexpr std::size_t most_members = 12;

template <class V, std::size_t Count = most_members + 1> [[nodiscard]] consteval std::size_t member_count() {
  if constexpr (takes<V, std::make_index_sequence<Count>>)
    return Count;
  else if constexpr (Count > 0)
    return member_count<V, Count - 1>();
  else
    return 0;
}

/// A struct whose members can be listed.
template <class V>
concept PlainStruct = std::is_class_v<V> && std::is_aggregate_v<V> && member_count<V>()
> 0;

/// References to the members, in order.
template <class V>
requires PlainStruct<std::remove_const_t<V>>
[[nodiscard]] constexpr auto members(V& value) {
  constexpr std::size_t count = member_count<std::remove_const_t<V>>();
  static_assert(count <= most_members, "twill: a struct of tensors has at most 12 members here; nest another struct");
  if constexpr (count == 1) {
    auto& [a] = value;
    return std::tie(a);
  } else if constexpr (count == 2) {
    auto& [a, b] = value;
    return std::tie(a, b);
  } else if constexpr (count == 3) {
    auto& [a, b, c] = value;
    return std::tie(a, b, c);
  } else if constexpr (count == 4) {
    auto& [a, b, c, d] = value;
    return std::tie(a, b, c, d);
  } else if constexpr (count == 5) {
    auto& [a, b, c, d, e] = value;
    return std::tie(a, b, c, d, e);
  } else if constexpr (count == 6) {
    auto& [a, b, c, d, e, f] = value;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (count == 7) {
    auto& [a, b, c, d, e, f, g] = value;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (count == 8) {
    auto& [a, b, c, d, e, f, g, h] = value;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (count == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = value;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else if constexpr (count == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (count == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k);
  } else {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  }
}

} // namespace twill::inline v0::parallel::detail::inline TWILL_ISA
