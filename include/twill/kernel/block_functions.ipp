#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/block_functions.hpp: primitives and conversions.

#include <twill/kernel/block_functions.hpp>
#include <twill/kernel/block_packs.hpp>
#include <twill/kernel/draw.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {
namespace vector_detail {

/// Whether a primitive has a meaning on values of a type.
[[nodiscard]] constexpr bool takes(Primitive primitive, DType type) {
  using enum Primitive;
  const Family family = info(primitive).family;
  if (primitive == random_uniform || primitive == random_integer) return type == DType::int64;
  if (primitive == where || family == Family::comparison || family == Family::logical) return true;
  if (type == DType::boolean)
    return primitive == abs || primitive == sign || primitive == square || primitive == reciprocal ||
           primitive == add || primitive == multiply || primitive == maximum || primitive == minimum ||
           family == Family::rounding || family == Family::bitwise;
  if (is_floating(type)) return family != Family::bitwise && family != Family::integer;
  return family != Family::floating || primitive == divide || primitive == reciprocal;
}

/// Whether a primitive takes no longer than its loads and stores, so that its loop has to be tight.
[[nodiscard]] constexpr bool is_light(Primitive primitive) {
  using enum Primitive;
  const Family family = info(primitive).family;
  return family == Family::comparison || family == Family::logical || primitive == negate || primitive == abs ||
         primitive == square || primitive == add || primitive == subtract || primitive == multiply ||
         primitive == maximum || primitive == minimum || primitive == where || primitive == fma;
}

template <Primitive P, class T> void run_block(std::byte* to, const BlockArgument* from, std::int64_t count) {
  constexpr int arity = info(P).arity;
  constexpr int N = natural_lanes<T>;
  constexpr int unroll = is_light(P) ? 4 : 1;
  if constexpr (P == Primitive::random_uniform || P == Primitive::random_integer) {
    constexpr int wide = vector_bytes / 4;
    if constexpr (P == Primitive::random_uniform)
      if (!from[0].moves && !from[1].moves && !from[2].moves) {
        const auto number = [&](int a) { return *reinterpret_cast<const std::int64_t*>(from[a].at); };
        return for_packs<wide, 1, T>(
            to, from + 3, count,
            [ seed = number(0), step = number(1), node = number(2) ](const auto& index)
                __attribute__((always_inline)) { return draw(seed, step, node, index); });
      }
    for_packs<wide, 1, T, T, T, T>(
        to, from, count, [](const auto& a, const auto& b, const auto& c, const auto& d) __attribute__((always_inline)) {
          return apply<P>(a, b, c, d);
        });
  } else if constexpr (P == Primitive::where) {
    for_packs<N, unroll, bool, T, T>(
        to, from, count,
        [](const auto& a, const auto& b, const auto& c) __attribute__((always_inline)) { return apply<P>(a, b, c); });
  } else if constexpr (arity == 3) {
    for_packs<N, unroll, T, T, T>(
        to, from, count,
        [](const auto& a, const auto& b, const auto& c) __attribute__((always_inline)) { return apply<P>(a, b, c); });
  } else if constexpr (arity == 2) {
    for_packs<N, unroll, T, T>(
        to, from, count, [](const auto& a, const auto& b) __attribute__((always_inline)) { return apply<P>(a, b); });
  } else {
    for_packs<N, unroll, T>(
        to, from, count, [](const auto& a) __attribute__((always_inline)) { return apply<P>(a); });
  }
}

template <Primitive P, class T> void run_shared(std::byte* to, const std::byte* const* from) {
  constexpr int arity = info(P).arity;
  const auto put = [to](auto value) { *reinterpret_cast<decltype(value)*>(to) = value; };
  const auto argument = [from](int a) -> const T& { return *reinterpret_cast<const T*>(from[a]); };
  if constexpr (P == Primitive::where)
    put(kernel::apply<P>(*reinterpret_cast<const bool*>(from[0]), argument(1), argument(2)));
  else if constexpr (arity == 4)
    put(kernel::apply<P>(argument(0), argument(1), argument(2), argument(3)));
  else if constexpr (arity == 3)
    put(kernel::apply<P>(argument(0), argument(1), argument(2)));
  else if constexpr (arity == 2)
    put(kernel::apply<P>(argument(0), argument(1)));
  else
    put(kernel::apply<P>(argument(0)));
}

template <int I> [[nodiscard]] constexpr LineFunctions functions_of_place() {
  constexpr auto primitive = static_cast<Primitive>(I / computing_count);
  constexpr DType type = computing_types[I % computing_count];
  if constexpr (takes(primitive, type))
    return {&run_block<primitive, scalar_t<type>>, &run_shared<primitive, scalar_t<type>>};
  else
    return {};
}
template <int... I> [[nodiscard]] constexpr auto functions_of_places(std::integer_sequence<int, I...>) {
  return std::array<LineFunctions, sizeof...(I)>{functions_of_place<I>()...};
}

template <class T, class From> void cast_block(std::byte* to, const BlockArgument* from, std::int64_t count) {
  constexpr int N = std::min(natural_lanes<T>, natural_lanes<From>);
  for_packs<N, 1, From>(
      to, from, count, [](const auto& a) __attribute__((always_inline)) { return cast_to<T>(a); });
}
template <class T, class From> void cast_shared(std::byte* to, const std::byte* const* from) {
  *reinterpret_cast<compute_t<T>*>(to) = cast_element<T>(*reinterpret_cast<const From*>(from[0]));
}

template <int... I> [[nodiscard]] constexpr auto casts(std::integer_sequence<int, I...>) {
  return std::array<LineFunctions, sizeof...(I)>{LineFunctions{
      &cast_block<scalar_t<static_cast<DType>(I / computing_count)>, scalar_t<computing_types[I % computing_count]>>,
      &cast_shared<scalar_t<static_cast<DType>(I / computing_count)>,
                   scalar_t<computing_types[I % computing_count]>>}...};
}

} // namespace vector_detail

TWILL_BODY LineFunctions functions_of(Primitive primitive, DType type) {
  using namespace vector_detail;
  static constexpr auto all = functions_of_places(std::make_integer_sequence<int, primitive_count * computing_count>{});
  const int place = static_cast<int>(primitive) * computing_count + computing_index(type);
  return place < static_cast<int>(all.size()) ? all[static_cast<std::size_t>(place)] : LineFunctions{};
}

TWILL_BODY LineFunctions functions_of_cast(DType to, DType from) {
  using namespace vector_detail;
  static constexpr auto all = casts(std::make_integer_sequence<int, element_count * computing_count>{});
  return all[static_cast<std::size_t>(static_cast<int>(to) * computing_count + computing_index(from))];
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
