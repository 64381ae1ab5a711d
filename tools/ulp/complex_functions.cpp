// SPDX-License-Identifier: Apache-2.0
//
// Functions of complex tensors at given points, for tools/ulp/complex_functions.py: `complex_functions NAME 32|64` reads lines
// of two parts and prints those of the results, in hexadecimal.

#include <twill/compile/function.hpp>
#include <twill/expr.hpp>
#include <twill/ops/complex_value.hpp>
#include <twill/tensor.hpp>

#include <cstdio>
#include <string_view>
#include <vector>

using namespace twill;

namespace {

template <class Z> using Function = std::vector<Z> (*)(const std::vector<Z>&);

template <class Z> struct Entry {
  std::string_view name;
  Function<Z> evaluate;
};

template <class F, class Z> std::vector<Z> values(const std::vector<Z>& points) {
  return to_vector(eval(F{}(from_values(points))));
}
/// Of pairs of traced values.
template <class Z> std::vector<Z> logarithms_in_models(const std::vector<Z>& points) {
  constexpr auto function = [](graph::Value pairs) { return view_as_real(log(graph::view_as_complex(pairs))); };
  return to_vector(view_as_complex(compiled(function)(view_as_real(from_values(points)))));
}
template <class Z, class F> constexpr Entry<Z> entry(std::string_view name, F) { return {name, &values<F, Z>}; }

template <class Z> int run(std::string_view name) {
  using R = typename Z::value_type;
  const Entry<Z> entries[] = {
      entry<Z>("exp", [](const auto& z) { return exp(z); }),
      entry<Z>("exp2", [](const auto& z) { return exp2(z); }),
      entry<Z>("expm1", [](const auto& z) { return expm1(z); }),
      entry<Z>("log", [](const auto& z) { return log(z); }),
      {"log_in_models", &logarithms_in_models<Z>},
      entry<Z>("log2", [](const auto& z) { return log2(z); }),
      entry<Z>("log10", [](const auto& z) { return log10(z); }),
      entry<Z>("log1p", [](const auto& z) { return log1p(z); }),
      entry<Z>("sqrt", [](const auto& z) { return sqrt(z); }),
      entry<Z>("rsqrt", [](const auto& z) { return rsqrt(z); }),
      entry<Z>("sign", [](const auto& z) { return sign(z); }),
      entry<Z>("sigmoid", [](const auto& z) { return sigmoid(z); }),
      entry<Z>("sin", [](const auto& z) { return sin(z); }),
      entry<Z>("cos", [](const auto& z) { return cos(z); }),
      entry<Z>("tan", [](const auto& z) { return tan(z); }),
      entry<Z>("sinh", [](const auto& z) { return sinh(z); }),
      entry<Z>("cosh", [](const auto& z) { return cosh(z); }),
      entry<Z>("tanh", [](const auto& z) { return tanh(z); }),
      entry<Z>("asin", [](const auto& z) { return asin(z); }),
      entry<Z>("acos", [](const auto& z) { return acos(z); }),
      entry<Z>("atan", [](const auto& z) { return atan(z); }),
      entry<Z>("asinh", [](const auto& z) { return asinh(z); }),
      entry<Z>("acosh", [](const auto& z) { return acosh(z); }),
      entry<Z>("atanh", [](const auto& z) { return atanh(z); }),
  };
  std::vector<Z> points{};
  double re = 0, im = 0;
  while (std::scanf("%la %la", &re, &im) == 2) points.push_back({static_cast<R>(re), static_cast<R>(im)});
  for (const Entry<Z>& each : entries) {
    if (each.name != name) continue;
    for (const Z& value : each.evaluate(points)) std::printf("%a %a\n", double{value.re}, double{value.im});
    return 0;
  }
  return 1;
}

} // namespace

int main(int count, char** arguments) {
  if (count != 3) return 1;
  return std::string_view{arguments[2]} == "32" ? run<complex64>(arguments[1]) : run<complex128>(arguments[1]);
}
