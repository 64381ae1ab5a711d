// SPDX-License-Identifier: Apache-2.0
//
// Bessel functions, quantiles and incomplete gamma functions over their whole ranges, against SciPy's values. Read next:
// tests/golden/scripts/special_functions.py.

#include "tests/support/golden.hpp"
#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

using namespace twill;
using twill::test::golden;
using twill::test::numbers;

namespace {

/// Row `row` of golden values is near, relative to each or, where values pass through zero, to 1.
void check_row(const std::string& what, const std::vector<double>& got, const std::vector<double>& rows,
               std::size_t row, double bound, bool is_absolute = false) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double expected = rows[row * got.size() + i];
    if (expected == got[i] || (std::isnan(expected) && std::isnan(got[i]))) continue;
    INFO(what << ", number " << i << ": " << got[i] << ", not " << expected);
    CHECK(std::abs(got[i] - expected) <= bound * (is_absolute ? 1 : std::abs(expected)));
  }
}
Tensor<double, Cpu, Shape<dyn>> held(const std::vector<double>& values) {
  const Tensor<double, Cpu, Shape<dyn>> result(Cpu{0}, Dims(static_cast<std::int64_t>(values.size())));
  for (std::size_t i = 0; i < values.size(); ++i) result.data()[i] = values[i];
  return result;
}

} // namespace

TEST_CASE("Bessel functions are near SciPy's", "[expr]") {
  const auto x = held(golden("special_functions/bessel_x").values);
  const auto rows = golden("special_functions/bessel").values;
  check_row("i0e", numbers(eval(i0e(x))), rows, 0, 1e-14);
  check_row("i1e", numbers(eval(i1e(x))), rows, 1, 1e-14);
  check_row("bessel_j0", numbers(eval(bessel_j0(x))), rows, 2, 1e-14, true);
  check_row("bessel_j1", numbers(eval(bessel_j1(x))), rows, 3, 1e-14, true);
  const auto near = held({-20, -1, 0, 0.5, 40});
  CHECK(allclose(i0(near), exp(abs(near)) * i0e(near), {.rtol = 1e-14, .atol = 0}).item());
  CHECK(allclose(i1(near), exp(abs(near)) * i1e(near), {.rtol = 1e-14, .atol = 0}).item());
  const auto ends = held({HUGE_VAL, -HUGE_VAL, 800, NAN});
  CHECK(numbers(eval(i0(ends)))[2] == HUGE_VAL);
  CHECK(numbers(eval(i1(ends)))[1] == -HUGE_VAL);
  CHECK(std::isnan(numbers(eval(i0(ends)))[3]));
}

TEST_CASE("quantiles are near SciPy's", "[expr]") {
  const auto p = held(golden("special_functions/quantile_p").values);
  const auto rows = golden("special_functions/quantile").values;
  check_row("erfinv", numbers(eval(erfinv(p * 2.0 - 1.0))), rows, 0, 1e-14);
  check_row("ndtri", numbers(eval(ndtri(p))), rows, 1, 2e-14);
  const auto tails = held({1e-300, 1e-30, 0.3, 1 - 1e-12});
  CHECK(allclose(ndtr(ndtri(tails)), tails, {.rtol = 1e-12, .atol = 0}).item());
}

TEST_CASE("incomplete gamma functions are near SciPy's", "[expr]") {
  const auto a = held(golden("special_functions/gamma_a").values);
  const auto x = held(golden("special_functions/gamma_x").values);
  const auto rows = golden("special_functions/gamma").values;
  check_row("gammainc", numbers(eval(gammainc(a, x))), rows, 0, 1e-11);
  check_row("gammaincc", numbers(eval(gammaincc(a, x))), rows, 1, 1e-11);
}

TEST_CASE("incomplete beta functions are near SciPy's", "[expr]") {
  const auto arguments = golden("special_functions/beta_arguments").values;
  const auto third = static_cast<std::ptrdiff_t>(arguments.size() / 3);
  const auto part = [&](std::ptrdiff_t i) {
    return held({arguments.begin() + i * third, arguments.begin() + (i + 1) * third});
  };
  const auto wanted = golden("special_functions/beta").values;
  check_row("betainc", numbers(eval(betainc(part(0), part(1), part(2)))), wanted, 0, 1e-11);
  const Tensor<float, Cpu, Shape<2>> x = from_values<Shape<2>>(std::vector<float>{0.25F, 0.5F});
  CHECK(numbers(eval(betainc(2, 1, x))) == std::vector<double>{0.0625, 0.25}); // x^2, of a float32
  CHECK(numbers(eval(betainc(x * 4, 1, x * x)))[1] == 0.0625);
  CHECK(eval(betainc(x, x.unsqueeze<1>(), 0.5)).shape() == Dims(2, 2));
}

TEST_CASE("gamma and beta functions have all but the last digits", "[expr]") {
  constexpr double unit = 2.220446049250313e-16;
  const auto part = [](const std::vector<double>& all, std::ptrdiff_t i, std::size_t parts) {
    const auto size = static_cast<std::ptrdiff_t>(all.size() / parts);
    return held({all.begin() + i * size, all.begin() + (i + 1) * size});
  };
  const auto half = [&](const std::vector<double>& both, std::ptrdiff_t i) { return part(both, i, 2); };
  const auto of_digamma = golden("special_functions/digamma_arguments").values;
  check_row("digamma", numbers(eval(digamma(held(of_digamma)))), golden("special_functions/digamma").values, 0,
            16 * unit);
  const auto of_beta = golden("special_functions/accurate_beta_arguments").values;
  check_row("betainc", numbers(eval(betainc(part(of_beta, 0, 3), part(of_beta, 1, 3), part(of_beta, 2, 3)))),
            golden("special_functions/accurate_beta").values, 0, 32 * unit);
  const auto of_polygamma = golden("special_functions/polygamma_arguments").values;
  check_row("polygamma", numbers(eval(polygamma(half(of_polygamma, 0), half(of_polygamma, 1)))),
            golden("special_functions/polygamma").values, 0, 16 * unit);
  const auto of_gamma = golden("special_functions/upper_gamma_arguments").values;
  check_row("gammaincc", numbers(eval(gammaincc(half(of_gamma, 0), half(of_gamma, 1)))),
            golden("special_functions/upper_gamma").values, 0, 16 * unit);
}
