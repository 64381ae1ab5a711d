#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Handlers of instructions that compute each lane by itself, made from a function of its values, and the choice of a handler by type.

#include "ptxrun/lanes.hpp"
#include "ptxrun/statement.hpp"

#include <cstdint>
#include <type_traits>

namespace ptxrun {

template <class D, class A, auto Function> void unary(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto result = values<D>(warp, instruction.destinations[0]);
  const auto a = values<A>(warp, instruction.sources[0]);
  for_lanes(mask, [&](int lane) { result[lane] = Function(a[lane]); });
}

template <class D, class A, class B, auto Function>
void binary(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto result = values<D>(warp, instruction.destinations[0]);
  const auto a = values<A>(warp, instruction.sources[0]);
  const auto b = values<B>(warp, instruction.sources[1]);
  for_lanes(mask, [&](int lane) { result[lane] = Function(a[lane], b[lane]); });
}

template <class D, class A, class B, class C, auto Function>
void ternary(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto result = values<D>(warp, instruction.destinations[0]);
  const auto a = values<A>(warp, instruction.sources[0]);
  const auto b = values<B>(warp, instruction.sources[1]);
  const auto c = values<C>(warp, instruction.sources[2]);
  for_lanes(mask, [&](int lane) { result[lane] = Function(a[lane], b[lane], c[lane]); });
}

/// make.operator()<T>() for the integer type, with its sign; null for others.
template <class Make> Handler for_integers(Type type, Make make) {
  switch (type) {
  case Type::b8:
  case Type::u8:
    return make.template operator()<std::uint8_t>();
  case Type::s8:
    return make.template operator()<std::int8_t>();
  case Type::b16:
  case Type::u16:
    return make.template operator()<std::uint16_t>();
  case Type::s16:
    return make.template operator()<std::int16_t>();
  case Type::b32:
  case Type::u32:
    return make.template operator()<std::uint32_t>();
  case Type::s32:
    return make.template operator()<std::int32_t>();
  case Type::b64:
  case Type::u64:
    return make.template operator()<std::uint64_t>();
  case Type::s64:
    return make.template operator()<std::int64_t>();
  default:
    return nullptr;
  }
}

/// make.operator()<T>() for unsigned integers as wide as the type.
template <class Make> Handler for_bits(Type type, Make make) {
  switch (size_of(type)) {
  case 1:
    return make.template operator()<std::uint8_t>();
  case 2:
    return make.template operator()<std::uint16_t>();
  case 4:
    return make.template operator()<std::uint32_t>();
  case 8:
    return make.template operator()<std::uint64_t>();
  default:
    return nullptr;
  }
}

/// Integers, float and double.
template <class Make> Handler for_numbers(Type type, Make make) {
  if (type == Type::f32) return make.template operator()<float>();
  if (type == Type::f64) return make.template operator()<double>();
  return for_integers(type, make);
}

/// The unsigned type in which arithmetic of T wraps without being promoted to a signed one.
template <class T> using Wrapping = std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::uint64_t>;

} // namespace ptxrun
