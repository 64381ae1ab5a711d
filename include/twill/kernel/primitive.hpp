#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Scalar primitives, a closed list. Expressions, graphs and fused programs name a primitive by its enumerator;
// kernel/apply.hpp defines its value, graph/derivatives.hpp its derivative. All elementwise functions that a user can
// write are compositions of primitives, so they fuse without further code. Read next: kernel/program.hpp.

#include <array>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace kernel {

/// The operation of an elementwise line.
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
  erfinv,
  ndtri,
  i0,
  i0e,
  i1,
  i1e,
  bessel_j0,
  bessel_j1,
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
  gammainc,
  gammaincc,
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
  betainc,
  // four operands (seed, step, node, index): a float32 in [0, 1)
  random_uniform,
  // four operands (seed, step + 2^32 node, range, index): an int64 in [0, range)
  random_integer,
};

/// The number of primitives.
inline constexpr int primitive_count = static_cast<int>(Primitive::random_integer) + 1;

/// The family of a primitive, which decides the element types that it takes and gives: numbers of any type (arithmetic,
/// where booleans are allowed only for some), real numbers, rounding (which leaves integers unchanged), truth values
/// from any type or from truth values, integers with or without booleans.
enum class Family : std::uint8_t { arithmetic, floating, rounding, comparison, logical, bitwise, integer };

/// A primitive's name in prints, number of operands, and types.
struct PrimitiveInfo {
  std::string_view name{};           ///< in prints
  int arity = 0;                     ///< operands
  Family family{Family::arithmetic}; ///< which element types it takes
  bool boolean_result = false;       ///< comparisons and logical ones; else the result has the type of the operands
};

namespace detail { namespace families {
using enum Family;

/// Primitives of one kind, in the order of their enumerators.
struct PrimitiveGroup {
  int arity;
  Family family;
  const char* names;
};
inline constexpr PrimitiveGroup primitive_groups[] = {
    {1, arithmetic, "negate abs sign square"},
    {1, floating, "sqrt rsqrt reciprocal"},
    {1, rounding, "floor ceil round trunc"},
    {1, floating,
     "exp expm1 exp2 log log1p log2 log10 cbrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh"},
    {1, floating, "erf erfc lgamma digamma erfinv ndtri i0 i0e i1 i1e bessel_j0 bessel_j1"},
    {1, floating, "frexp_exponent tanh_accurate erf_accurate"},
    {1, logical, "logical_not"},
    {1, comparison, "isnan isinf isfinite"},
    {1, bitwise, "invert"},
    {2, arithmetic, "add subtract multiply"},
    {2, floating, "divide"},
    {2, arithmetic, "floor_divide remainder fmod power maximum minimum"},
    {2, floating, "atan2 hypot copysign nextafter ldexp polygamma gammainc gammaincc"},
    {2, comparison, "equal not_equal less less_equal greater greater_equal"},
    {2, logical, "logical_and logical_or logical_xor"},
    {2, bitwise, "bitwise_and bitwise_or bitwise_xor"},
    {2, integer, "left_shift right_shift gcd"},
    {3, arithmetic, "where fma"},
    {3, floating, "betainc"},
    {4, floating, "random_uniform"},
    {4, integer, "random_integer"},
};

// Outside the function: inside, every call of a constant evaluation would build the table anew.
inline constexpr auto primitive_table = [] {
  std::array<PrimitiveInfo, primitive_count> table{};
  std::size_t size = 0;
  for (const PrimitiveGroup& group : primitive_groups) {
    const bool is_truth = group.family == comparison || group.family == logical;
    const char* begin = group.names;
    for (const char* at = begin;; ++at) {
      if (*at != ' ' && *at != 0) continue;
      table[size++] = {{begin, static_cast<std::size_t>(at - begin)}, group.arity, group.family, is_truth};
      if (*at == 0) break;
      begin = at + 1;
    }
  }
  return table;
}();
static_assert(primitive_table.back().name == "random_integer");
}} // namespace detail::families

/// The properties of a primitive.
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

}}} // namespace twill::v0::kernel
