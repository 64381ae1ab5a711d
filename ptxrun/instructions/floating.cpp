// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of float and double. Functions that a device only approximates are computed exactly.

#include "ptxrun/instructions/families.hpp"
#include "ptxrun/instructions/floats.hpp"
#include "ptxrun/instructions/handlers.hpp"

#include <array>
#include <string_view>

namespace ptxrun {
namespace {

/// `Function` is a functor with an operator() for float and double, of up to three values.
template <class T, int Count, class Function>
void floating(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const RoundingScope rounding{instruction.rounding};
  const auto result = values<T>(warp, instruction.destinations[0]);
  const auto first = values<T>(warp, instruction.sources[0]);
  const auto second = values<T>(warp, instruction.sources[Count > 1 ? 1 : 0]);
  const auto third = values<T>(warp, instruction.sources[Count > 2 ? 2 : 0]);
  const auto compute = [](T a, T b, T c) {
    if constexpr (Count == 1)
      return Function{}(a);
    else if constexpr (Count == 2)
      return Function{}(a, b);
    else
      return Function{}(a, b, c);
  };
  if (!instruction.flushes && !instruction.saturates) {
    for_lanes(mask, [&](int lane) { result[lane] = canonical(compute(first[lane], second[lane], third[lane])); });
    return;
  }
  const bool flushes = instruction.flushes, saturates = instruction.saturates;
  const auto flushed = [flushes](T x) { return flushes ? flush(x) : x; };
  for_lanes(mask, [&](int lane) {
    const T x = flushed(compute(flushed(first[lane]), flushed(second[lane]), flushed(third[lane])));
    result[lane] = canonical(saturates ? saturate(x) : x);
  });
}

struct Add {
  template <class T> T operator()(T a, T b) const { return a + b; }
};
struct Subtract {
  template <class T> T operator()(T a, T b) const { return a - b; }
};
struct Multiply {
  template <class T> T operator()(T a, T b) const { return a * b; }
};
struct Divide {
  template <class T> T operator()(T a, T b) const { return a / b; }
};
struct MultiplyAdd {
  template <class T> T operator()(T a, T b, T c) const { return std::fma(a, b, c); }
};
struct Minimum {
  template <class T> T operator()(T a, T b) const { return minimum_number(a, b); }
};
struct Maximum {
  template <class T> T operator()(T a, T b) const { return maximum_number(a, b); }
};
struct MinimumOrNan {
  template <class T> T operator()(T a, T b) const { return minimum_or_nan(a, b); }
};
struct MaximumOrNan {
  template <class T> T operator()(T a, T b) const { return maximum_or_nan(a, b); }
};
struct Minimum3 {
  template <class T> T operator()(T a, T b, T c) const { return minimum_number(minimum_number(a, b), c); }
};
struct Maximum3 {
  template <class T> T operator()(T a, T b, T c) const { return maximum_number(maximum_number(a, b), c); }
};
struct SquareRoot {
  template <class T> T operator()(T a) const { return std::sqrt(a); }
};
struct Reciprocal {
  template <class T> T operator()(T a) const { return T(1) / a; }
};
struct ReciprocalSquareRoot {
  template <class T> T operator()(T a) const { return static_cast<T>(1.0 / std::sqrt(static_cast<double>(a))); }
};
struct Exponential {
  template <class T> T operator()(T a) const { return static_cast<T>(std::exp2(static_cast<double>(a))); }
};
struct Logarithm {
  template <class T> T operator()(T a) const { return static_cast<T>(std::log2(static_cast<double>(a))); }
};
struct Sine {
  template <class T> T operator()(T a) const { return static_cast<T>(std::sin(static_cast<double>(a))); }
};
struct Cosine {
  template <class T> T operator()(T a) const { return static_cast<T>(std::cos(static_cast<double>(a))); }
};
struct HyperbolicTangent {
  template <class T> T operator()(T a) const { return static_cast<T>(std::tanh(static_cast<double>(a))); }
};
// rcp.approx.ftz.f64 has the upper half of a double's bits.
struct ReciprocalOfUpperHalf {
  float operator()(float a) const { return 1.0F / a; }
  double operator()(double a) const {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(1.0 / a) & 0xffffffff00000000U);
  }
};

template <int Count, class Function> void decode_as(Statement& statement) {
  if (static_cast<int>(statement.arguments.size()) != Count + 1) statement.reject("another number of operands");
  statement.all(statement.type());
  statement.instruction.handler =
      statement.type() == Type::f32 ? &floating<float, Count, Function> : &floating<double, Count, Function>;
}

template <class T, T SignBit> T with_sign_of(T sign, T value) {
  return static_cast<T>((sign & SignBit) | (value & ~SignBit));
}

/// abs, neg and copysign change nothing but the sign, of NaN, too.
template <class T, T SignBit> Handler sign_handler(std::string_view opcode) {
  if (opcode == "abs") return &unary<T, T, [](T a) { return static_cast<T>(a & ~SignBit); }>;
  if (opcode == "neg") return &unary<T, T, [](T a) { return static_cast<T>(a ^ SignBit); }>;
  return &binary<T, T, T, &with_sign_of<T, SignBit>>;
}

} // namespace

void decode_sign(Statement& statement) {
  const Type type = statement.type();
  statement.all(type);
  Instruction& instruction = statement.instruction;
  switch (type) {
  case Type::f32:
    instruction.handler = sign_handler<std::uint32_t, 0x80000000U>(statement.opcode);
    break;
  case Type::f64:
    instruction.handler = sign_handler<std::uint64_t, std::uint64_t{1} << 63>(statement.opcode);
    break;
  case Type::f16:
  case Type::bf16:
    instruction.handler = sign_handler<std::uint16_t, std::uint16_t{0x8000}>(statement.opcode);
    break;
  default:
    instruction.handler = sign_handler<std::uint32_t, 0x80008000U>(statement.opcode);
    break; // pairs
  }
}

void decode_floating(Statement& statement) {
  const std::string_view opcode = statement.opcode;
  const bool propagates = statement.has("NaN");
  if (statement.has("xorsign")) statement.reject("unknown modifier");
  if (opcode == "add") return decode_as<2, Add>(statement);
  if (opcode == "sub") return decode_as<2, Subtract>(statement);
  if (opcode == "mul") return decode_as<2, Multiply>(statement);
  if (opcode == "div") return decode_as<2, Divide>(statement);
  if (opcode == "fma" || opcode == "mad") return decode_as<3, MultiplyAdd>(statement);
  if (opcode == "min" && statement.arguments.size() == 4 && !propagates) return decode_as<3, Minimum3>(statement);
  if (opcode == "max" && statement.arguments.size() == 4 && !propagates) return decode_as<3, Maximum3>(statement);
  if (opcode == "min") return propagates ? decode_as<2, MinimumOrNan>(statement) : decode_as<2, Minimum>(statement);
  if (opcode == "max") return propagates ? decode_as<2, MaximumOrNan>(statement) : decode_as<2, Maximum>(statement);
  if (opcode == "sqrt") return decode_as<1, SquareRoot>(statement);
  if (opcode == "rsqrt") return decode_as<1, ReciprocalSquareRoot>(statement);
  if (opcode == "rcp")
    return statement.has("approx") ? decode_as<1, ReciprocalOfUpperHalf>(statement)
                                   : decode_as<1, Reciprocal>(statement);
  if (opcode == "ex2") return decode_as<1, Exponential>(statement);
  if (opcode == "lg2") return decode_as<1, Logarithm>(statement);
  if (opcode == "sin") return decode_as<1, Sine>(statement);
  if (opcode == "cos") return decode_as<1, Cosine>(statement);
  if (opcode == "tanh") return decode_as<1, HyperbolicTangent>(statement);
  statement.reject("unknown instruction");
}

} // namespace ptxrun
