// SPDX-License-Identifier: Apache-2.0
//
// Comparisons, selections, and tests of floating-point numbers.

#include "ptxrun/instructions/families.hpp"
#include "ptxrun/instructions/floats.hpp"
#include "ptxrun/instructions/half_formats.hpp"
#include "ptxrun/instructions/handlers.hpp"

#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace ptxrun {
namespace {

template <class T> bool compare(Comparison comparison, T a, T b) {
  using enum Comparison;
  const bool is_unordered = a != a || b != b;
  switch (comparison) {
  case eq:
    return a == b;
  case ne:
    return !is_unordered && a != b;
  case lt:
  case lo:
    return a < b;
  case le:
  case ls:
    return a <= b;
  case gt:
  case hi:
    return a > b;
  case ge:
  case hs:
    return a >= b;
  case equ:
    return is_unordered || a == b;
  case neu:
    return is_unordered || a != b;
  case ltu:
    return is_unordered || a < b;
  case leu:
    return is_unordered || a <= b;
  case gtu:
    return is_unordered || a > b;
  case geu:
    return is_unordered || a >= b;
  case num:
    return !is_unordered;
  case nan:
    return is_unordered;
  }
  return false;
}

template <class T> std::uint32_t compare_lanes(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto a = values<T>(warp, instruction.sources[0]);
  const auto b = values<T>(warp, instruction.sources[1]);
  std::uint32_t result = 0;
  const auto collect = [&](auto test) {
    std::uint32_t bits = 0;
    for_lanes(mask, [&](int lane) { bits |= static_cast<std::uint32_t>(test(a[lane], b[lane])) << lane; });
    result = bits;
  };
  using enum Comparison;
  if constexpr (std::is_floating_point_v<T>)
    if (instruction.flushes) {
      collect([&](T x, T y) { return compare<T>(instruction.comparison, flush(x), flush(y)); });
      return result;
    }
  switch (instruction.comparison) { // one loop for each frequent comparison
  case eq:
    collect([](T x, T y) { return x == y; });
    break;
  case lt:
  case lo:
    collect([](T x, T y) { return x < y; });
    break;
  case le:
  case ls:
    collect([](T x, T y) { return x <= y; });
    break;
  case gt:
  case hi:
    collect([](T x, T y) { return x > y; });
    break;
  case ge:
  case hs:
    collect([](T x, T y) { return x >= y; });
    break;
  default:
    collect([&](T x, T y) { return compare<T>(instruction.comparison, x, y); });
  }
  return result;
}

template <class Format> std::uint32_t compare_halves(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto a = values<std::uint16_t>(warp, instruction.sources[0]);
  const auto b = values<std::uint16_t>(warp, instruction.sources[1]);
  std::uint32_t result = 0;
  for_lanes_in_order(mask, [&](int lane) {
    result |= static_cast<std::uint32_t>(
                  compare<float>(instruction.comparison, widen<Format>(a[lane]), widen<Format>(b[lane])))
              << lane;
  });
  return result;
}

std::uint32_t combine(Warp& warp, const Instruction& instruction, std::uint32_t bits) {
  switch (instruction.combination) {
  case Combination::conjunction:
    return bits & predicate_source(warp, instruction, 2);
  case Combination::disjunction:
    return bits | predicate_source(warp, instruction, 2);
  case Combination::exclusive:
    return bits ^ predicate_source(warp, instruction, 2);
  default:
    return bits;
  }
}

template <auto Compare> void set_predicates(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const std::uint32_t bits = Compare(warp, instruction, mask);
  const std::uint32_t result = combine(warp, instruction, bits);
  const std::uint32_t inverse = instruction.destination_count > 1 ? combine(warp, instruction, ~bits) : 0;
  set_predicate(warp, instruction.destinations[0], result, mask);
  if (instruction.destination_count > 1) set_predicate(warp, instruction.destinations[1], inverse, mask);
}

template <auto Compare> void set_values(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const std::uint32_t bits = combine(warp, instruction, Compare(warp, instruction, mask));
  const std::uint64_t yes = instruction.type == Type::f32 ? std::bit_cast<std::uint32_t>(1.0F) : ~std::uint64_t{0};
  for_lanes(mask, [&](int lane) { set_bits(warp, instruction.destinations[0], lane, has_lane(bits, lane) ? yes : 0); });
}

template <class T> void select(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto result = values<T>(warp, instruction.destinations[0]);
  const auto a = values<T>(warp, instruction.sources[0]);
  const auto b = values<T>(warp, instruction.sources[1]);
  const std::uint32_t chooses = predicate_source(warp, instruction, 2);
  for_lanes(mask, [&](int lane) { result[lane] = has_lane(chooses, lane) ? a[lane] : b[lane]; });
}

/// slct: the first where the third is not negative.
template <class T, class C> void select_by_sign(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto result = values<T>(warp, instruction.destinations[0]);
  const auto a = values<T>(warp, instruction.sources[0]);
  const auto b = values<T>(warp, instruction.sources[1]);
  const auto c = values<C>(warp, instruction.sources[2]);
  for_lanes(mask, [&](int lane) { result[lane] = c[lane] >= C(0) ? a[lane] : b[lane]; });
}

enum Test : std::uint8_t { finite, infinite, number, not_a_number, normal, subnormal };

template <class T> void test_numbers(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto a = values<T>(warp, instruction.sources[0]);
  std::uint32_t bits = 0;
  for_lanes_in_order(mask, [&](int lane) {
    const T x = a[lane];
    bool result = false;
    switch (instruction.mode) {
    case finite:
      result = std::isfinite(x);
      break;
    case infinite:
      result = std::isinf(x);
      break;
    case number:
      result = !std::isnan(x);
      break;
    case not_a_number:
      result = std::isnan(x);
      break;
    case normal:
      result = std::isnormal(x);
      break;
    default:
      result = std::fpclassify(x) == FP_SUBNORMAL;
      break;
    }
    bits |= static_cast<std::uint32_t>(result) << lane;
  });
  set_predicate(warp, instruction.destinations[0], bits, mask);
}

Comparison comparison_of(const Statement& statement) {
  using enum Comparison;
  static constexpr std::array<std::pair<std::string_view, Comparison>, 18> names{{{"eq", eq},
                                                                                  {"ne", ne},
                                                                                  {"lt", lt},
                                                                                  {"le", le},
                                                                                  {"gt", gt},
                                                                                  {"ge", ge},
                                                                                  {"lo", lo},
                                                                                  {"ls", ls},
                                                                                  {"hi", hi},
                                                                                  {"hs", hs},
                                                                                  {"equ", equ},
                                                                                  {"neu", neu},
                                                                                  {"ltu", ltu},
                                                                                  {"leu", leu},
                                                                                  {"gtu", gtu},
                                                                                  {"geu", geu},
                                                                                  {"num", num},
                                                                                  {"nan", nan}}};
  for (const auto& [name, comparison] : names)
    if (statement.has(name)) return comparison;
  statement.reject("unknown comparison");
}

} // namespace

void decode_comparison(Statement& statement) {
  Instruction& instruction = statement.instruction;
  const Type type = statement.types.back(); // of the sources
  const bool sets_values = statement.opcode == "set";
  instruction.comparison = comparison_of(statement);
  instruction.combination = statement.has("and")   ? Combination::conjunction
                            : statement.has("or")  ? Combination::disjunction
                            : statement.has("xor") ? Combination::exclusive
                                                   : Combination::none;
  if (sets_values)
    statement.destination(0, statement.argument(0), statement.type());
  else
    statement.predicate_destinations(statement.argument(0));
  statement.source(0, statement.argument(1), type);
  statement.source(1, statement.argument(2), type);
  if (instruction.combination != Combination::none) statement.predicate_source(2, statement.argument(3));
  if (type == Type::f16x2 || type == Type::bf16x2) statement.reject("a comparison of pairs");
  if (type == Type::f16)
    instruction.handler = sets_values ? &set_values<&compare_halves<Half>> : &set_predicates<&compare_halves<Half>>;
  else if (type == Type::bf16)
    instruction.handler =
        sets_values ? &set_values<&compare_halves<Bfloat16>> : &set_predicates<&compare_halves<Bfloat16>>;
  else
    instruction.handler = for_numbers(type, [&]<class T>() -> Handler {
      return sets_values ? &set_values<&compare_lanes<T>> : &set_predicates<&compare_lanes<T>>;
    });
}

void decode_selection(Statement& statement) {
  const Type type = statement.type();
  for (std::size_t n = 0; n < 2; ++n) statement.source(n, statement.argument(n + 1), type);
  statement.destination(0, statement.argument(0), type);
  if (statement.opcode == "selp") {
    statement.predicate_source(2, statement.argument(3));
    statement.instruction.handler = for_bits(type, []<class T>() -> Handler { return &select<T>; });
    return;
  }
  const Type sign_type = statement.types.back();
  statement.source(2, statement.argument(3), sign_type);
  statement.instruction.handler = for_bits(type, [&]<class T>() -> Handler {
    return sign_type == Type::f32 ? &select_by_sign<T, float> : &select_by_sign<T, std::int32_t>;
  });
}

void decode_test(Statement& statement) {
  statement.predicate_destination(0, statement.argument(0));
  statement.source(0, statement.argument(1), statement.type());
  statement.instruction.mode = statement.has("finite")       ? finite
                               : statement.has("infinite")   ? infinite
                               : statement.has("number")     ? number
                               : statement.has("notanumber") ? not_a_number
                               : statement.has("normal")     ? normal
                                                             : subnormal;
  statement.instruction.handler = statement.type() == Type::f32 ? &test_numbers<float> : &test_numbers<double>;
}

} // namespace ptxrun
