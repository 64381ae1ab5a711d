#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Policy selection: finds the policy of one kind in a list, so that `Pool` takes policies in any order.

#include <concepts>
#include <type_traits>

namespace twill { inline namespace v0 { namespace memory {

namespace detail {

template <class Kind, class Default, class... Policies> struct Pick { using type = Default; };
template <class Kind, class Default, class First, class... Rest> struct Pick<Kind, Default, First, Rest...> {
  using type = typename std::conditional_t<std::same_as<typename First::policy_kind, Kind>, std::type_identity<First>,
                                           Pick<Kind, Default, Rest...>>::type;
};

template <class Kind, class... Policies>
inline constexpr int count_of_kind = (0 + ... + (std::same_as<typename Policies::policy_kind, Kind> ? 1 : 0));

} // namespace detail

/// Whether no two policies are of the same kind.
template <class... Policies>
inline constexpr bool one_of_each_kind = (... &&
                                          (detail::count_of_kind<typename Policies::policy_kind, Policies...> == 1));

/// The first policy of that kind, or the default.
template <class Kind, class Default, class... Policies>
using pick_policy = typename detail::Pick<Kind, Default, Policies...>::type;

}}} // namespace twill::v0::memory
