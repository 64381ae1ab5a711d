#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/block_functions.hpp: primitives and conversions.

#include <twill/kernel/block_functions.hpp>
#include <twill/kernel/block_packs.hpp>
#include <twill/kernel/draw.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
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

/// The type of a primitive's operand among values of T.
template <Primitive P, class T, int Operand>
using operand_t = std::conditional_t<P == Primitive::where && Operand == 0, bool, T>;

template <Primitive P, class T, int... A> void run_block(std::byte* to, const BlockArgument* from, std::int64_t count) {
  constexpr bool draws = P == Primitive::random_uniform || P == Primitive::random_integer;
  constexpr int N = draws ? vector_bytes / 4 : natural_lanes<T>;
  if constexpr (P == Primitive::random_uniform)
    if (!from[0].moves && !from[1].moves && !from[2].moves) {
      const auto number = [&](int a) { return *reinterpret_cast<const std::int64_t*>(from[a].at); };
      return for_packs<N, 1, T>(to, from + 3, count,
                                [seed = number(0), step = number(1), node = number(2)](const auto& index)
                                    TWILL_ALWAYS_INLINE { return draw(seed, step, node, index); });
    }
  for_packs<N, is_light(P) ? 4 : 1, operand_t<P, T, A>...>(
      to, from, count, [](const auto&... packs) TWILL_ALWAYS_INLINE { return apply<P>(packs...); });
}

template <Primitive P, class T, int... A> void run_shared(std::byte* to, const std::byte* const* from) {
  const auto value = kernel::apply<P>(*reinterpret_cast<const operand_t<P, T, A>*>(from[A])...);
  *reinterpret_cast<std::remove_const_t<decltype(value)>*>(to) = value;
}

template <Primitive P, class T, int... A>
[[nodiscard]] constexpr LineFunctions functions_of_operands(std::integer_sequence<int, A...>) {
  return {&run_block<P, T, A...>, &run_shared<P, T, A...>};
}
template <int I> [[nodiscard]] constexpr LineFunctions functions_of_place() {
  constexpr auto primitive = static_cast<Primitive>(I / computing_count);
  constexpr DType type = computing_types[I % computing_count];
  if constexpr (takes(primitive, type))
    return functions_of_operands<primitive, scalar_t<type>>(std::make_integer_sequence<int, info(primitive).arity>{});
  else
    return {};
}
template <int... I> [[nodiscard]] constexpr auto functions_of_places(std::integer_sequence<int, I...>) {
  return std::array<LineFunctions, sizeof...(I)>{functions_of_place<I>()...};
}

template <class T, class From> void cast_block(std::byte* to, const BlockArgument* from, std::int64_t count) {
  constexpr int N = std::min(natural_lanes<T>, natural_lanes<From>);
  for_packs<N, 1, From>(to, from, count, [](const auto& a) TWILL_ALWAYS_INLINE { return cast_to<T>(a); });
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
