#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The closed list of scalar primitives. Expressions, graphs and fused programs all speak of a primitive by its enumerator;
// what it computes stands in kernel/apply.hpp, its derivative in graph/derivatives.hpp. Everything elementwise that a
// user can write is a composition of these, so it fuses by itself. Read next: kernel/program.hpp.

#include <array>
#include <cstdint>
#include <string_view>

namespace twill::inline v0::kernel {

enum class Primitive : std::uint8_t {
  // one operand, arithmetic
  negate,
  abs,
  sign,
  square,
  sqrt,
  rsqrt,
  reciprocal,
  floor,
  ceil,
  round,
  trunc,
  exp,
  expm1,
  log,
  log1p,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  erf,
  // one operand, boolean result
  logical_not,
  isnan,
  isinf,
  isfinite,
  // two operands of one type
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  remainder,
  power,
  atan2,
  maximum,
  minimum,
  // two operands, boolean result
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  logical_and,
  logical_or,
  logical_xor,
  // two operands, integers
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  // three operands
  where,
  fma,
  // four operands (seed, step, node, index): a float32 in [0, 1)
  random_uniform,
};

inline constexpr int primitive_count = static_cast<int>(Primitive::random_uniform) + 1;

/// How a primitive is called in prints, and how many operands it takes.
struct PrimitiveInfo {
  std::string_view name;
  int arity;
  bool boolean_result;
};

namespace detail {
// Outside of the function: there every call of a constant evaluation would build the table anew.
inline constexpr std::array<PrimitiveInfo, primitive_count> primitive_table{{
    {"negate", 1, false},       {"abs", 1, false},        {"sign", 1, false},
    {"square", 1, false},       {"sqrt", 1, false},       {"rsqrt", 1, false},
    {"reciprocal", 1, false},   {"floor", 1, false},      {"ceil", 1, false},
    {"round", 1, false},        {"trunc", 1, false},      {"exp", 1, false},
    {"expm1", 1, false},        {"log", 1, false},        {"log1p", 1, false},
    {"sin", 1, false},          {"cos", 1, false},        {"tan", 1, false},
    {"asin", 1, false},         {"acos", 1, false},       {"atan", 1, false},
    {"sinh", 1, false},         {"cosh", 1, false},       {"tanh", 1, false},
    {"erf", 1, false},          {"logical_not", 1, true}, {"isnan", 1, true},
    {"isinf", 1, true},         {"isfinite", 1, true},    {"add", 2, false},
    {"subtract", 2, false},     {"multiply", 2, false},   {"divide", 2, false},
    {"floor_divide", 2, false}, {"remainder", 2, false},  {"power", 2, false},
    {"atan2", 2, false},        {"maximum", 2, false},    {"minimum", 2, false},
    {"equal", 2, true},         {"not_equal", 2, true},   {"less", 2, true},
    {"less_equal", 2, true},    {"greater", 2, true},     {"greater_equal", 2, true},
    {"logical_and", 2, true},   {"logical_or", 2, true},  {"logical_xor", 2, true},
    {"bitwise_and", 2, false},  {"bitwise_or", 2, false}, {"bitwise_xor", 2, false},
    {"where", 3, false},        {"fma", 3, false},        {"random_uniform", 4, false},
}};
} // namespace detail

[[nodiscard]] constexpr PrimitiveInfo info(Primitive primitive) {
  return detail::primitive_table.data()[static_cast<std::size_t>(primitive)];
}

/// Associative combinations that a reduction can use.
enum class Reduction : std::uint8_t { sum, product, max, min, any, all };

[[nodiscard]] constexpr std::string_view name(Reduction reduction) {
  constexpr std::string_view names[] = {"sum", "product", "max", "min", "any", "all"};
  return names[static_cast<int>(reduction)];
}

} // namespace twill::inline v0::kernel
