// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of half and bfloat16, alone or in pairs: computed in double, where sums and products are exact or rounded to odd, and
// rounded once.

#include "ptxrun/instructions/families.hpp"
#include "ptxrun/instructions/floats.hpp"
#include "ptxrun/instructions/half_formats.hpp"
#include "ptxrun/instructions/handlers.hpp"

#include <string_view>

namespace ptxrun {
namespace {

using Function = double (*)(double, double, double);

template <class Format, int Count, Function F>
std::uint16_t compute(const Instruction& instruction, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const auto read = [&](std::uint32_t bits) {
    const float x = widen<Format>(static_cast<std::uint16_t>(bits));
    return static_cast<double>(
        instruction.flushes && std::fabs(x) < 0x1p-14F && Format::mantissa_bits == 10 ? std::copysign(0.0F, x) : x);
  };
  double x = F(read(a), read(b), read(c));
  if (instruction.saturates) x = saturate(x);
  if (instruction.is_relu && x < 0) x = 0;
  return narrow<Format>(x, instruction.rounding);
}

template <class Format, bool IsPair, int Count, Function F>
void half(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  using T = std::conditional_t<IsPair, std::uint32_t, std::uint16_t>;
  const auto result = values<T>(warp, instruction.destinations[0]);
  const auto a = values<T>(warp, instruction.sources[0]);
  const auto b = values<T>(warp, instruction.sources[Count > 1 ? 1 : 0]);
  const auto c = values<T>(warp, instruction.sources[Count > 2 ? 2 : 0]);
  for_lanes_in_order(mask, [&](int lane) {
    std::uint32_t bits = compute<Format, Count, F>(instruction, a[lane], b[lane], c[lane]);
    if constexpr (IsPair)
      bits |= std::uint32_t{compute<Format, Count, F>(instruction, a[lane] >> 16, b[lane] >> 16, c[lane] >> 16)} << 16;
    result[lane] = static_cast<T>(bits);
  });
}

template <int Count, Function F> void decode_as(Statement& statement) {
  if (static_cast<int>(statement.arguments.size()) != Count + 1) statement.reject("another number of operands");
  statement.all(statement.type());
  Instruction& instruction = statement.instruction;
  switch (statement.type()) {
  case Type::f16:
    instruction.handler = &half<Half, false, Count, F>;
    break;
  case Type::f16x2:
    instruction.handler = &half<Half, true, Count, F>;
    break;
  case Type::bf16:
    instruction.handler = &half<Bfloat16, false, Count, F>;
    break;
  default:
    instruction.handler = &half<Bfloat16, true, Count, F>;
    break;
  }
}

double add(double a, double b, double) { return add_to_odd(a, b); }
double subtract(double a, double b, double) { return add_to_odd(a, -b); }
double multiply(double a, double b, double) { return a * b; }
double multiply_add(double a, double b, double c) { return add_to_odd(a * b, c); }
double minimum(double a, double b, double) { return minimum_number(a, b); }
double maximum(double a, double b, double) { return maximum_number(a, b); }
double minimum_nan(double a, double b, double) { return minimum_or_nan(a, b); }
double maximum_nan(double a, double b, double) { return maximum_or_nan(a, b); }
double exponential(double a, double, double) { return std::exp2(a); }
double hyperbolic_tangent(double a, double, double) { return std::tanh(a); }

} // namespace

void decode_half(Statement& statement) {
  const std::string_view opcode = statement.opcode;
  const bool propagates = statement.has("NaN");
  if (statement.has("xorsign")) statement.reject("unknown modifier");
  if (opcode == "add") return decode_as<2, &add>(statement);
  if (opcode == "sub") return decode_as<2, &subtract>(statement);
  if (opcode == "mul") return decode_as<2, &multiply>(statement);
  if (opcode == "fma" || opcode == "mad") return decode_as<3, &multiply_add>(statement);
  if (opcode == "min") return propagates ? decode_as<2, &minimum_nan>(statement) : decode_as<2, &minimum>(statement);
  if (opcode == "max") return propagates ? decode_as<2, &maximum_nan>(statement) : decode_as<2, &maximum>(statement);
  if (opcode == "ex2") return decode_as<1, &exponential>(statement);
  if (opcode == "tanh") return decode_as<1, &hyperbolic_tangent>(statement);
  statement.reject("unknown instruction");
}

} // namespace ptxrun
