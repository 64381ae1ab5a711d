#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Scattering of a model's arguments and gathering of its results. Tensors are divided along an axis; tuples, pairs,
// arrays, vectors, maps and plain structs of tensors are treated member by member; a tensor of rank 0 goes whole to
// every device, and everything without tensors is shared. Gathering turns scalars, which have no axis to be joined
// along, into a vector with one element for each replica. Read next: parallel/data/chunk.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/parallel/data/chunk.hpp>
#include <twill/tensor/tensor.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

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

template <class V> inline constexpr bool is_tuple = false;
template <class... V> inline constexpr bool is_tuple<std::tuple<V...>> = true;
template <class A, class B> inline constexpr bool is_tuple<std::pair<A, B>> = true;
template <class V> inline constexpr bool is_array = false;
template <class V, std::size_t N> inline constexpr bool is_array<std::array<V, N>> = true;
template <class V> inline constexpr bool is_vector = false;
template <class V, class A> inline constexpr bool is_vector<std::vector<V, A>> = true;
template <class V>
concept AnyMap = requires {
  typename V::key_type;
  typename V::mapped_type;
};

template <class V> [[nodiscard]] consteval bool contains_tensor();

template <class Tuple, std::size_t... I> [[nodiscard]] consteval bool any_contains(std::index_sequence<I...>) {
  return (contains_tensor<std::remove_cvref_t<std::tuple_element_t<I, Tuple>>>() || ...);
}

/// Whether a value of the type contains tensors.
template <class V> [[nodiscard]] consteval bool contains_tensor() {
  if constexpr (is_tensor<V>)
    return true;
  else if constexpr (is_tuple<V>)
    return any_contains<V>(std::make_index_sequence<std::tuple_size_v<V>>{});
  else if constexpr (is_array<V> || is_vector<V>)
    return contains_tensor<typename V::value_type>();
  else if constexpr (AnyMap<V>)
    return contains_tensor<typename V::mapped_type>();
  else if constexpr (PlainStruct<V>) {
    using Members = decltype(members(std::declval<V&>()));
    return any_contains<Members>(std::make_index_sequence<std::tuple_size_v<Members>>{});
  } else
    return false;
}

/// Calls `f` with every tensor of a value.
template <class V, class F> void for_each_tensor(const V& value, F& f) {
  if constexpr (is_tensor<V>)
    f(value);
  else if constexpr (!contains_tensor<V>())
    return;
  else if constexpr (is_tuple<V>)
    std::apply([&](const auto&... part) { (for_each_tensor(part, f), ...); }, value);
  else if constexpr (is_array<V> || is_vector<V>)
    for (const auto& part : value) for_each_tensor(part, f);
  else if constexpr (AnyMap<V>)
    for (const auto& [key, part] : value) for_each_tensor(part, f);
  else
    std::apply([&](const auto&... part) { (for_each_tensor(part, f), ...); }, members(value));
}

/// One device's share of a value.
template <int Axis, class V, class To> [[nodiscard]] auto share_of(const V& value, const Rows& rows, const To& device) {
  if constexpr (is_tensor<V>) {
    if constexpr (V::rank == 0)
      return value.to(device);
    else
      return rows_of<Axis>(value, rows).to(device);
  } else if constexpr (!contains_tensor<V>()) {
    return value;
  } else if constexpr (is_tuple<V>) {
    return std::apply(
        [&](const auto&... part) {
          if constexpr (requires { value.first; })
            return std::pair(share_of<Axis>(part, rows, device)...);
          else
            return std::tuple(share_of<Axis>(part, rows, device)...);
        },
        value);
  } else if constexpr (is_array<V>) {
    return std::apply([&](const auto&... part) { return std::array{share_of<Axis>(part, rows, device)...}; }, value);
  } else if constexpr (is_vector<V>) {
    std::vector<decltype(share_of<Axis>(value[0], rows, device))> shares;
    for (const auto& part : value) shares.push_back(share_of<Axis>(part, rows, device));
    return shares;
  } else if constexpr (AnyMap<V>) {
    V shares;
    for (const auto& [key, part] : value) shares.emplace(key, share_of<Axis>(part, rows, device));
    return shares;
  } else {
    return std::apply([&](const auto&... part) { return V{share_of<Axis>(part, rows, device)...}; }, members(value));
  }
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// A value with tensors in it, which scattering divides; anything else is shared.
template <class V>
concept Scatterable = detail::contains_tensor<std::remove_cvref_t<V>>();

/// The number of rows of the tensors of all values along the axis; nothing if there is no tensor with an axis.
/// throws: ShapeError if two differ
template <int Axis = 0, class... V> [[nodiscard]] std::optional<std::int64_t> common_rows(const V&... values) {
  std::optional<std::int64_t> rows;
  Dims first;
  auto look = [&](const auto& tensor) {
    if constexpr (std::remove_cvref_t<decltype(tensor)>::rank > 0) {
      const std::int64_t here = tensor.size(Axis);
      if (rows && *rows != here)
        throw ShapeError("scatter: all tensors have equally many rows along axis " + std::to_string(Axis) +
                         ", got shapes " + to_string(first) + " and " + to_string(tensor.shape()));
      if (!rows) first = tensor.shape();
      rows = here;
    }
  };
  (detail::for_each_tensor(values, look), ...);
  return rows;
}

/// One device's share of a value: tensors are cut to the rows, values without tensors are passed by reference.
template <int Axis = 0, class V, class To>
[[nodiscard]] decltype(auto) scattered(const V& value, const Rows& rows, const To& device) {
  if constexpr (Scatterable<V>)
    return detail::share_of<Axis>(value, rows, device);
  else
    return (value);
}

/// The shares of one value for all devices that get any. throws: ValueError without a device, ShapeError
template <int Axis = 0, Scatterable V, class To>
[[nodiscard]] auto scatter(const V& value, const std::vector<To>& devices) {
  std::vector<decltype(detail::share_of<Axis>(value, Rows{}, devices[0]))> shares;
  const auto pieces = chunk_rows(common_rows<Axis>(value).value_or(0), static_cast<std::int64_t>(devices.size()));
  for (std::size_t piece = 0; piece < pieces.size(); ++piece)
    shares.push_back(detail::share_of<Axis>(value, pieces[piece], devices[piece]));
  return shares;
}

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// One member of every replica's result, gathered.
template <int Axis, class V, class To, class Member>
[[nodiscard]] auto gathered_member(const std::vector<V>& results, const To& device, Member member);

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Joins the replicas' results: tensors along the axis, scalars (of rank 0, or plain values) to a vector, containers
/// and structs member by member. throws: ValueError without results, ShapeError
template <int Axis = 0, class V, class To> [[nodiscard]] auto gather(const std::vector<V>& results, const To& device) {
  if (results.empty()) throw ValueError("gather: there is at least one result, got none");
  const auto member = [&](auto select) { return detail::gathered_member<Axis>(results, device, select); };
  if constexpr (is_tensor<V>) {
    if constexpr (V::rank == 0) {
      std::vector<decltype(results[0].template unsqueeze<0>())> rows;
      for (const V& result : results) rows.push_back(result.template unsqueeze<0>());
      return concatenate<0>(rows, device);
    } else {
      return concatenate<Axis>(results, device);
    }
  } else if constexpr (!detail::contains_tensor<V>()) {
    return results;
  } else if constexpr (detail::is_tuple<V> || detail::is_array<V>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto at = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
        return member([](const V& result) -> const auto& { return std::get<J>(result); });
      };
      if constexpr (requires { results[0].first; })
        return std::pair(at(std::integral_constant<std::size_t, I>{})...);
      else if constexpr (detail::is_array<V>)
        return std::array{at(std::integral_constant<std::size_t, I>{})...};
      else
        return std::tuple(at(std::integral_constant<std::size_t, I>{})...);
    }
    (std::make_index_sequence<std::tuple_size_v<V>>{});
  } else if constexpr (detail::is_vector<V>) {
    std::vector<decltype(member([](const V& result) -> const auto& { return result[0]; }))> joined;
    for (std::size_t i = 0; i < results[0].size(); ++i) {
      for (const V& result : results)
        if (result.size() != results[0].size())
          throw ShapeError("gather: the replicas returned lists of " + std::to_string(results[0].size()) + " and " +
                           std::to_string(result.size()) + " elements");
      joined.push_back(member([i](const V& result) -> const auto& { return result[i]; }));
    }
    return joined;
  } else if constexpr (detail::AnyMap<V>) {
    V joined;
    for (const auto& [key, value] : results[0]) {
      for (const V& result : results)
        if (!result.contains(key)) throw ShapeError("gather: a key of replica 0 is missing in another replica");
      joined.emplace(key, member([&key = key](const V& result) -> const auto& { return result.at(key); }));
    }
    return joined;
  } else {
    using Members = decltype(detail::members(results[0]));
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return V{member([](const V& result) -> const auto& { return std::get<I>(detail::members(result)); })...};
    }
    (std::make_index_sequence<std::tuple_size_v<Members>>{});
  }
}

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

template <int Axis, class V, class To, class Member>
[[nodiscard]] auto gathered_member(const std::vector<V>& results, const To& device, Member member) {
  std::vector<std::remove_cvref_t<decltype(member(results[0]))>> parts;
  parts.reserve(results.size());
  for (const V& result : results) parts.push_back(member(result));
  return parallel::gather<Axis>(parts, device);
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
