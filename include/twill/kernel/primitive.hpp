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

/// What an elementwise line computes.
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
  // one operand, functions of real numbers
  exp,
  expm1,
  exp2,
  log,
  log1p,
  log2,
  log10,
  cbrt,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  erf,
  erfc,
  lgamma,
  digamma,
  frexp_exponent,
  tanh_accurate,
  erf_accurate,
  // one operand, boolean result
  logical_not,
  isnan,
  isinf,
  isfinite,
  // one operand, integers
  invert,
  // two operands of one type
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  remainder,
  fmod,
  power,
  maximum,
  minimum,
  atan2,
  hypot,
  copysign,
  nextafter,
  ldexp,
  polygamma,
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
  left_shift,
  right_shift,
  gcd,
  // three operands
  where,
  fma,
  // four operands (seed, step, node, index): a float32 in [0, 1)
  random_uniform,
  // four operands (seed, step + 2^32 node, range, index): an int64 in [0, range)
  random_integer,
};

/// How many there are.
inline constexpr int primitive_count = static_cast<int>(Primitive::random_integer) + 1;

/// What a primitive is about, which decides the element types that it takes and gives: numbers as they are (arithmetic,
/// where booleans have a meaning only now and then), real numbers, what leaves integers alone, truth values from any type or
/// from truth values, integers with or without booleans.
enum class Family : std::uint8_t { arithmetic, floating, rounding, comparison, logical, bitwise, integer };

/// How a primitive is called in prints, how many operands it takes, and of which types.
struct PrimitiveInfo {
  std::string_view name; ///< in prints
  int arity;             ///< operands
  Family family;         ///< which element types it takes
  bool boolean_result;   ///< else the result has the type of the operands

  /// Comparisons and logical ones have truth values as results.
  constexpr PrimitiveInfo(std::string_view primitive, int operands, Family about)
      : name{primitive},
        arity{operands},
        family{about},
        boolean_result{about == Family::comparison || about == Family::logical} {}
};

namespace detail::families {
using enum Family;
// Outside of the function: there every call of a constant evaluation would build the table anew.
inline constexpr std::array<PrimitiveInfo, primitive_count> primitive_table{{
    {"negate", 1, arithmetic},
    {"abs", 1, arithmetic},
    {"sign", 1, arithmetic},
    {"square", 1, arithmetic},
    {"sqrt", 1, floating},
    {"rsqrt", 1, floating},
    {"reciprocal", 1, floating},
    {"floor", 1, rounding},
    {"ceil", 1, rounding},
    {"round", 1, rounding},
    {"trunc", 1, rounding},
    {"exp", 1, floating},
    {"expm1", 1, floating},
    {"exp2", 1, floating},
    {"log", 1, floating},
    {"log1p", 1, floating},
    {"log2", 1, floating},
    {"log10", 1, floating},
    {"cbrt", 1, floating},
    {"sin", 1, floating},
    {"cos", 1, floating},
    {"tan", 1, floating},
    {"asin", 1, floating},
    {"acos", 1, floating},
    {"atan", 1, floating},
    {"sinh", 1, floating},
    {"cosh", 1, floating},
    {"tanh", 1, floating},
    {"asinh", 1, floating},
    {"acosh", 1, floating},
    {"atanh", 1, floating},
    {"erf", 1, floating},
    {"erfc", 1, floating},
    {"lgamma", 1, floating},
    {"digamma", 1, floating},
    {"frexp_exponent", 1, floating},
    {"tanh_accurate", 1, floating},
    {"erf_accurate", 1, floating},
    {"logical_not", 1, logical},
    {"isnan", 1, comparison},
    {"isinf", 1, comparison},
    {"isfinite", 1, comparison},
    {"invert", 1, bitwise},
    {"add", 2, arithmetic},
    {"subtract", 2, arithmetic},
    {"multiply", 2, arithmetic},
    {"divide", 2, floating},
    {"floor_divide", 2, arithmetic},
    {"remainder", 2, arithmetic},
    {"fmod", 2, arithmetic},
    {"power", 2, arithmetic},
    {"maximum", 2, arithmetic},
    {"minimum", 2, arithmetic},
    {"atan2", 2, floating},
    {"hypot", 2, floating},
    {"copysign", 2, floating},
    {"nextafter", 2, floating},
    {"ldexp", 2, floating},
    {"polygamma", 2, floating},
    {"equal", 2, comparison},
    {"not_equal", 2, comparison},
    {"less", 2, comparison},
    {"less_equal", 2, comparison},
    {"greater", 2, comparison},
    {"greater_equal", 2, comparison},
    {"logical_and", 2, logical},
    {"logical_or", 2, logical},
    {"logical_xor", 2, logical},
    {"bitwise_and", 2, bitwise},
    {"bitwise_or", 2, bitwise},
    {"bitwise_xor", 2, bitwise},
    {"left_shift", 2, integer},
    {"right_shift", 2, integer},
    {"gcd", 2, integer},
    {"where", 3, arithmetic},
    {"fma", 3, arithmetic},
    {"random_uniform", 4, floating},
    {"random_integer", 4, integer},
}};
} // namespace detail::families

/// What is known of a primitive.
[[nodiscard]] constexpr PrimitiveInfo info(Primitive primitive) {
  return detail::families::primitive_table.data()[static_cast<std::size_t>(primitive)];
}

/// Associative combinations that a reduction can use.
enum class Reduction : std::uint8_t { sum, product, max, min, any, all };

/// Its name in prints.
[[nodiscard]] constexpr std::string_view name(Reduction reduction) {
  constexpr std::string_view names[] = {"sum", "product", "max", "min", "any", "all"};
  return names[static_cast<int>(reduction)];
}

} // namespace twill::inline v0::kernel
