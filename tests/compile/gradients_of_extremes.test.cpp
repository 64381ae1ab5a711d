// SPDX-License-Identifier: Apache-2.0
//
// Extremes, products and variances of the table of derivatives, compiled.

#include "tests/support/compiled_rows.hpp"

#include <twill/compile/function.hpp>
#include <twill/tensor.hpp>

#include <array>

using namespace twill::test;

TEST_CASE(
    "compiled extremes, products and variances and their first and second derivatives agree with finite differences",
    "[compile][gradient]") {
  check_rows<reduction_rows, 8, std::tuple_size_v<decltype(reduction_rows)>>();
}

TEST_CASE("a product with zeros among its factors has first and second derivatives", "[compile][gradient]") {
  using twill::Shape;
  const auto product = [](auto x) { return prod(x); };
  // The gradient along (1, 10, 100, 1000), whose own gradient is the Hessian times that.
  const auto along = [](auto x, auto direction) {
    return sum(twill::grad([](auto factors) { return prod(factors); })(x) * direction);
  };
  const auto direction = twill::tensor({1.0, 10.0, 100.0, 1000.0});
  const auto check = [&](std::array<double, 4> factors) {
    const auto x = twill::tensor({factors[0], factors[1], factors[2], factors[3]});
    const auto first = twill::grad(product)(x);
    const auto [value, second, by_direction] = twill::value_and_grad(along)(x, direction);
    for (std::size_t i = 0; i < 4; ++i) {
      double others = 1;
      double hessian_row = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        if (k == i) continue;
        others *= factors[k];
        double rest = 1;
        for (std::size_t j = 0; j < 4; ++j)
          if (j != i && j != k) rest *= factors[j];
        hessian_row += rest * direction(static_cast<std::int64_t>(k)).item();
      }
      CHECK(first(static_cast<std::int64_t>(i)).item() == Approx(others).margin(1e-12));
      CHECK(second(static_cast<std::int64_t>(i)).item() == Approx(hessian_row).margin(1e-9));
    }
  };
  check({2, 3, -1.5, 0.5});
  check({2, 0, -1.5, 0.5});
  check({0, 3, 0, 0.5});
  check({0, 3, 0, 0});
}
