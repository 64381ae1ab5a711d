// SPDX-License-Identifier: Apache-2.0
//
// The functions of the other files in complex64 and complex128, as far as PyTorch has them: complex numbers have no order.
// Units in the last place are those of the number's absolute value.

#include "tests/oracle/registry.hpp"

#include <cstdint>

namespace oracle {
namespace {

using twill::complex128;
using twill::complex64;
using Complexes = Types<complex64, complex128>;

void add_complex_elementwise(Registry& to) {
  constexpr Tolerance product{.single = 2, .wide = 2, .zeros_are_equal = true};
  constexpr Tolerance tight{.single = 6, .wide = 6, .zeros_are_equal = true};
  unary(to, "negative", Complexes{}, exact, [](const auto& x) { return -x; });
  unary(to, "positive", Types<complex128>{}, exact, [](const auto& x) { return +x; });
  unary(to, "absolute", Complexes{}, tight, [](const auto& x) { return abs(x); });
  unary(to, "square", Complexes{}, product, [](const auto& x) { return square(x); });
  unary(to, "isnan", Complexes{}, exact, [](const auto& x) { return isnan(x); });
  unary(to, "angle", Complexes{}, tight, [](const auto& x) { return angle(x); });
  unary(to, "conj", Complexes{}, exact, [](const auto& x) { return conj(x); });
  unary(to, "reciprocal", Types<complex64>{}, tight, [](const auto& x) { return reciprocal(x); });
  unary(to, "sqrt", Complexes{}, tight, [](const auto& x) { return sqrt(x); });
  unary(to, "exp", Complexes{}, tight, [](const auto& x) { return exp(x); });
  unary(to, "log", Complexes{}, tight, [](const auto& x) { return log(x); });
  unary(to, "sin", Types<complex64>{}, tight, [](const auto& x) { return sin(x); });
  unary(to, "cos", Types<complex128>{}, tight, [](const auto& x) { return cos(x); });
  unary(to, "tan", Types<complex64>{}, tight, [](const auto& x) { return tan(x); });
  unary(to, "sinh", Types<complex128>{}, tight, [](const auto& x) { return sinh(x); });
  unary(to, "cosh", Types<complex64>{}, tight, [](const auto& x) { return cosh(x); });
  unary(to, "tanh", Types<complex128>{}, tight, [](const auto& x) { return tanh(x); });
  binary(to, "subtract", Complexes{}, exact, [](const auto& a, const auto& b) { return a - b; });
  binary(to, "multiply", Complexes{}, product, [](const auto& a, const auto& b) { return a * b; });
  binary(to, "divide", Complexes{}, tight, [](const auto& a, const auto& b) { return a / b; });
  binary(to, "power", Complexes{}, Tolerance{.single = 64, .wide = 64},
         [](const auto& a, const auto& b) { return power(a, b); });
  binary(to, "equal", Complexes{}, exact, [](const auto& a, const auto& b) { return a == b; });
  binary(to, "not_equal", Types<complex64>{}, exact, [](const auto& a, const auto& b) { return a != b; });
  ternary_with<4, bool>(to, "where", Complexes{}, exact,
                        [](const auto& c, const auto& a, const auto& b) { return where(c, a, b); });
  binary(to, "isclose", Types<complex128>{}, exact, [](const auto& a, const auto& b) { return isclose(a, b); });
  const auto add = [](const auto& a, const auto& b) { return a + b; };
  binary_with<4, complex64>(
      to, "add", Types<bool, std::int8_t, std::int64_t, half, float, double, complex64, complex128>{}, exact, add);
  binary_with<4, double>(to, "add", Types<complex64, complex128>{}, exact, add);
  unary(to, "multiply_float", Complexes{}, product,
        [](const auto& x, const std::vector<double>& n) { return x * n[0]; });
}

void add_complex_axes(Registry& to) {
  unary<3>(to, "sum<-1>k", Complexes{}, zeros_equal, [](const auto& x) { return twill::sum<-1>(x, twill::keepdims); });
  unary<3>(to, "sum<0>", Complexes{}, zeros_equal, [](const auto& x) { return twill::sum<0>(x); });
  unary<3>(to, "prod<0>", Complexes{}, zeros_equal, [](const auto& x) { return twill::prod<0>(x); });
  unary<3>(to, "mean<0>", Complexes{}, Tolerance{.single = 2, .wide = 2, .zeros_are_equal = true},
           [](const auto& x) { return twill::mean<0>(x); });
  unary<3>(to, "cumsum<-1>", Complexes{}, zeros_equal, [](const auto& x) { return twill::cumsum<-1>(x); });
  unary<3>(to, "cumprod<0>", Types<complex128>{}, zeros_equal, [](const auto& x) { return twill::cumprod<0>(x); });
  unary<3>(to, "transpose", Complexes{}, exact, [](const auto& x) { return x.transpose(); });
  unary<3>(to, "flip", Types<complex128>{}, exact, [](const auto& x) { return twill::flip(x); });
  unary<2>(to, "roll<1>", Types<complex64>{}, exact, [](const auto& x, const std::vector<double>& n) {
    return twill::roll<1>(x, static_cast<std::int64_t>(n[0]));
  });
  binary<2>(to, "concatenate<0>", Complexes{}, exact,
            [](const auto& a, const auto& b) { return twill::concatenate<0>(a, b); });
  binary<2>(to, "matmul2", Complexes{}, zeros_equal, [](const auto& a, const auto& b) { return matmul(a, b); });
  binary<1>(to, "outer", Complexes{}, zeros_equal, [](const auto& a, const auto& b) { return outer(a, b); });
  binary<3>(to, "einsum_bij_bjk", Complexes{}, zeros_equal,
            [](const auto& a, const auto& b) { return twill::einsum<"bij,bjk->bik">(a, b); });
}

} // namespace

void add_complex_types(Registry& to) {
  add_complex_elementwise(to);
  add_complex_axes(to);
}

} // namespace oracle
