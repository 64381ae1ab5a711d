// SPDX-License-Identifier: Apache-2.0
//
// The functions of the other files in the element types of tensors alone: integers of 8 to 64 bits and floats of 8 bits.
// Kernels of a function differ between types only in how elements are read, wrapped and written, so each family has some
// functions in all of them, not all. What PyTorch refuses, such as int8 beside uint16, does not compile (tests/misuse).

#include "tests/oracle/registry.hpp"

#if defined(TWILL_ORACLE_ALGORITHMS)
#include <twill/algorithms.hpp>
#endif

#include <cstdint>

namespace oracle {
namespace {

using std::int16_t;
using std::int8_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using twill::float8_e4m3fn;
using twill::float8_e5m2;

using Small = Types<int8_t, int16_t, uint16_t, uint32_t, uint64_t>;
using Signed = Types<int8_t, int16_t>;
using Unsigned = Types<uint16_t, uint32_t, uint64_t>;
using Bytes = Types<float8_e4m3fn, float8_e5m2>;

void add_small_elementwise(Registry& to) {
  constexpr Tolerance tight{.narrow = 1, .single = 3, .wide = 3};
  unary(to, "negative", Small{}, exact, [](const auto& x) { return -x; });
  unary(to, "absolute", Signed{}, exact, [](const auto& x) { return abs(x); });
  unary(to, "square", Types<int8_t, uint16_t>{}, exact, [](const auto& x) { return square(x); });
  unary(to, "sign", Types<int8_t, uint32_t>{}, exact, [](const auto& x) { return sign(x); });
  unary(to, "exp", Types<int8_t, uint16_t>{}, tight, [](const auto& x) { return exp(x); });
  unary(to, "sqrt", Types<int16_t, uint32_t>{}, exact, [](const auto& x) { return sqrt(x); });
  unary(to, "log", Types<uint64_t>{}, tight, [](const auto& x) { return log(x); });
  unary(to, "exp2", Signed{}, tight, [](const auto& x) { return exp2(x); });
  unary(to, "log2", Unsigned{}, tight, [](const auto& x) { return log2(x); });
  binary(to, "subtract", Small{}, exact, [](const auto& a, const auto& b) { return a - b; });
  binary(to, "multiply", Types<int8_t, int16_t, uint32_t>{}, exact, [](const auto& a, const auto& b) { return a * b; });
  binary(to, "floor_divide", Small{}, exact, [](const auto& a, const auto& b) { return floor_divide(a, b); });
  binary(to, "remainder", Types<int8_t, uint64_t>{}, exact, [](const auto& a, const auto& b) { return a % b; });
  binary(to, "maximum", Types<int16_t, uint16_t, uint64_t>{}, exact,
         [](const auto& a, const auto& b) { return maximum(a, b); });
  ternary(to, "clip", Types<int8_t, uint64_t>{}, exact,
          [](const auto& x, const auto& a, const auto& b) { return clamp(x, a, b); });
  binary(to, "less", Small{}, exact, [](const auto& a, const auto& b) { return a < b; });
  binary(to, "equal", Types<int8_t, int16_t, uint16_t, uint32_t, uint64_t, float8_e4m3fn, float8_e5m2>{}, exact,
         [](const auto& a, const auto& b) { return a == b; });
  binary(to, "bitwise_xor", Types<int8_t, uint16_t, uint64_t>{}, exact,
         [](const auto& a, const auto& b) { return a ^ b; });
  ternary_with<4, bool>(to, "where", Types<int8_t, uint32_t>{}, exact,
                        [](const auto& c, const auto& a, const auto& b) { return where(c, a, b); });
  binary(to, "gcd", Types<int16_t, uint32_t>{}, exact, [](const auto& a, const auto& b) { return gcd(a, b); });
  binary(to, "fmod", Types<int8_t, uint64_t>{}, exact, [](const auto& a, const auto& b) { return fmod(a, b); });
  binary(to, "left_shift", Types<int16_t, uint16_t>{}, exact,
         [](const auto& a, const auto& b) { return left_shift(a, b); });
  binary(to, "right_shift", Types<int8_t, uint32_t>{}, exact,
         [](const auto& a, const auto& b) { return right_shift(a, b); });
  unary(to, "invert", Small{}, exact, [](const auto& x) { return invert(x); });
}

void add_conversions(Registry& to) {
  const auto add = [](const auto& a, const auto& b) { return a + b; };
  binary_with<4, int8_t>(
      to, "add", Types<bool, std::uint8_t, int8_t, int16_t, std::int32_t, std::int64_t, half, float>{}, exact, add);
  binary_with<4, int16_t>(to, "add", Types<bool, std::uint8_t, int16_t, std::int32_t, bfloat16, double>{}, exact, add);
  binary_with<4, uint16_t>(to, "add", Types<uint16_t, half, float>{}, exact, add);
  binary_with<4, uint32_t>(to, "add", Types<uint32_t, float>{}, exact, add);
  binary_with<4, uint64_t>(to, "add", Types<uint64_t, double>{}, exact, add);
  binary(to, "divide", Types<int8_t, uint32_t>{}, exact, [](const auto& a, const auto& b) { return a / b; });
  unary(to, "add_integer", Small{}, exact,
        [](const auto& x, const std::vector<double>& n) { return x + static_cast<std::int64_t>(n[0]); });
  unary(to, "multiply_float", Types<int16_t, uint64_t>{}, exact,
        [](const auto& x, const std::vector<double>& n) { return x * n[0]; });
  unary(to, "to_float32", Types<int8_t, int16_t, uint16_t, uint32_t, uint64_t, float8_e4m3fn, float8_e5m2>{}, exact,
        [](const auto& x) { return twill::cast<float>(x); });
  unary(to, "to_float16", Types<uint16_t, float8_e4m3fn, float8_e5m2>{}, exact,
        [](const auto& x) { return twill::cast<half>(x); });
  unary(to, "to_int64", Types<int8_t, uint16_t>{}, exact, [](const auto& x) { return twill::cast<std::int64_t>(x); });
  unary(to, "to_bool", Types<int16_t, uint32_t>{}, exact, [](const auto& x) { return twill::cast<bool>(x); });
  unary(to, "to_int8", Types<std::int32_t, std::int64_t, float, uint16_t>{}, exact,
        [](const auto& x) { return twill::cast<int8_t>(x); });
  unary(to, "to_int16", Types<int8_t, double, uint64_t>{}, exact,
        [](const auto& x) { return twill::cast<int16_t>(x); });
  unary(to, "to_uint16", Types<int8_t, half, uint32_t>{}, exact,
        [](const auto& x) { return twill::cast<uint16_t>(x); });
  unary(to, "to_uint32", Types<std::int64_t, float>{}, exact, [](const auto& x) { return twill::cast<uint32_t>(x); });
  unary(to, "to_uint64", Types<int16_t, double>{}, exact, [](const auto& x) { return twill::cast<uint64_t>(x); });
  unary(to, "to_float8_e4m3fn", Types<float, double, half, bfloat16, float8_e5m2>{}, exact,
        [](const auto& x) { return twill::cast<float8_e4m3fn>(x); });
  unary(to, "to_float8_e5m2", Types<float, double, half, bfloat16, float8_e4m3fn>{}, exact,
        [](const auto& x) { return twill::cast<float8_e5m2>(x); });
}

void add_small_axes(Registry& to) {
  const Tolerance one{.single = 1};
  unary<3>(to, "sum<-1>k", Small{}, exact, [](const auto& x) { return twill::sum<-1>(x, twill::keepdims); });
  unary<3>(to, "prod<0>", Types<int8_t, uint32_t>{}, exact, [](const auto& x) { return twill::prod<0>(x); });
  unary<3>(to, "max<-1>k", Types<int8_t, uint32_t, uint64_t>{}, exact,
           [](const auto& x) { return twill::max<-1>(x, twill::keepdims); });
  unary<3>(to, "min<0>", Types<int16_t, uint16_t>{}, exact, [](const auto& x) { return twill::min<0>(x); });
  unary<3>(to, "mean<0>", Types<int8_t, uint16_t>{}, one, [](const auto& x) { return twill::mean<0>(x); });
  unary<3>(to, "argmax<1>", Types<int8_t, int16_t, uint64_t>{}, exact,
           [](const auto& x) { return twill::argmax<1>(x); });
  unary<3>(to, "any<-1>k", Types<int8_t, uint64_t>{}, exact,
           [](const auto& x) { return twill::any<-1>(x, twill::keepdims); });
  unary<3>(to, "ptp<0>", Types<int16_t, uint32_t>{}, exact, [](const auto& x) { return twill::ptp<0>(x); });
  unary<3>(to, "count_nonzero<0>", Types<int8_t, uint16_t>{}, exact,
           [](const auto& x) { return twill::count_nonzero<0>(x); });
  unary<3>(to, "cumsum<-1>", Types<int8_t, uint16_t>{}, exact, [](const auto& x) { return twill::cumsum<-1>(x); });
  unary<3>(to, "diff<0>", Types<int16_t, uint64_t>{}, exact, [](const auto& x) { return twill::diff<0>(x); });
  unary<3>(to, "transpose", Bytes{}, exact, [](const auto& x) { return x.transpose(); });
  unary<3>(to, "permute<2,0,1>", Small{}, exact, [](const auto& x) { return x.template permute<2, 0, 1>(); });
  unary<2>(to, "roll<1>", Types<int8_t, uint16_t>{}, exact, [](const auto& x, const std::vector<double>& n) {
    return twill::roll<1>(x, static_cast<std::int64_t>(n[0]));
  });
  binary<2>(to, "concatenate<0>", Types<int16_t, uint32_t, uint64_t>{}, exact,
            [](const auto& a, const auto& b) { return twill::concatenate<0>(a, b); });
  binary<2>(to, "matmul2", Types<int8_t, int16_t, uint32_t>{}, exact,
            [](const auto& a, const auto& b) { return matmul(a, b); });
  binary<1>(to, "outer", Types<int8_t, uint64_t>{}, exact, [](const auto& a, const auto& b) { return outer(a, b); });
#if defined(TWILL_ORACLE_ALGORITHMS)
  unary<3>(to, "algorithms.sort<0>", Small{}, exact, [](const auto& x) { return twill::sort<0>(x); });
  unary<2>(to, "algorithms.argsort<-1>", Types<int8_t, uint64_t>{}, exact,
           [](const auto& x) { return twill::argsort(x); });
  unary<2>(to, "algorithms.unique", Types<int16_t, uint16_t>{}, exact, [](const auto& x) { return twill::unique(x); });
#endif
}

} // namespace

void add_small_types(Registry& to) {
  add_small_elementwise(to);
  add_conversions(to);
  add_small_axes(to);
}

} // namespace oracle
