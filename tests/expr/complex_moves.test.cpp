// SPDX-License-Identifier: Apache-2.0
//
// Slices, reads by index, sums, joins and moves of complex tensors beside PyTorch's: tests/golden/scripts/spectra_axes.py, which
// models are compared with as well.

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include "tests/support/golden.hpp"

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace twill;

namespace {

std::vector<complex128> pairs(const std::string& name) {
  const auto values = test::golden("spectra_axes/" + name).values;
  std::vector<complex128> result;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) result.push_back({values[i], values[i + 1]});
  return result;
}

template <class X> void check(const std::string& name, const X& own) {
  const std::vector<complex128> values = to_vector(own), wanted = pairs(name + "_y");
  REQUIRE(values.size() == wanted.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO(name << ", number " << i);
    CHECK(values[i].re == Approx(wanted[i].re).epsilon(1e-13).margin(1e-14));
    CHECK(values[i].im == Approx(wanted[i].im).epsilon(1e-13).margin(1e-14));
  }
}

} // namespace

TEST_CASE("reads, sums and moves of complex tensors are PyTorch's", "[expr]") {
  const auto a = from_values<Shape<2, 3>>(pairs("left")), b = from_values<Shape<2, 3>>(pairs("right"));
  const auto ab = eval(a * b);
  const auto index = from_values<Shape<4>>(std::vector<std::int64_t>{1, 0, 1, 2});
  const auto places = from_values<Shape<2, 3>>(std::vector<std::int64_t>{0, 1, 0, 1, 0, 1});
  check("slice", eval(a(all, slice{.step = 2}) * narrow<1>(b, 2, 1)));
  check("take", eval(take<1>(a, index) * take<1>(b, index)));
  check("take_along_axis", eval(take_along_axis<0>(a, places) * b));
  auto sums = eval(a * a);
  scatter_add<0>(sums, places, b);
  check("scatter_add", sums);
  auto rows = eval(a + 0.0);
  index_add<1>(rows, from_values<Shape<3>>(std::vector<std::int64_t>{2, 0, 2}), eval(b * b));
  check("index_add", rows);
  check("pad", pad(ab, {{0, 0}, {1, 2}}, {.value = 3}));
  check("cumsum", cumsum<1>(ab));
  check("concatenate", concatenate<1>(a, eval(b * b), a));
  check("stack", stack<1>(a, eval(b * a)));
  const auto mask = from_values<Shape<3>>(std::vector<std::uint8_t>{1, 0, 1});
  check("where", eval(where(mask != 0, a, b * a)));
  check("flip", flip<0, 1>(ab));
  check("roll", roll<1>(ab, -2));
}

TEST_CASE("complex tensors are read and written by masks and indices", "[expr]") {
  auto z = from_values<Shape<4>>(std::vector<complex128>{{1, 2}, {3, -1}, {0, 5}, {-2, 4}});
  const auto index = from_values<Shape<2>>(std::vector<std::int64_t>{3, 1});
  const Tensor chosen = z[index];
  CHECK(to_vector(chosen) == std::vector<complex128>{{-2, 4}, {3, -1}});
  const auto is_right = eval(real(z) > 0.5);
  const Tensor right = masked_select(z, is_right);
  CHECK(to_vector(right) == std::vector<complex128>{{1, 2}, {3, -1}});
  z[is_right] = complex128{7, 8};
  z[from_values<Shape<1>>(std::vector<std::int64_t>{2})] = complex128{9, -9};
  CHECK(to_vector(z) == std::vector<complex128>{{7, 8}, {7, 8}, {9, -9}, {-2, 4}});
}

TEST_CASE("running totals of complex64 add up in float64, and products are running ones", "[expr]") {
  const auto z = from_values<Shape<3>>(std::vector<complex64>{{1e8F, 0}, {1, 1}, {-1e8F, 2}});
  CHECK(to_vector(cumsum<0>(z)) == std::vector<complex64>{{1e8F, 0}, {1e8F, 1}, {1, 3}});
  const auto turns = from_values<Shape<4>>(std::vector<complex64>{{0, 1}, {0, 1}, {2, 0}, {0, -1}});
  CHECK(to_vector(cumprod(turns)) == std::vector<complex64>{{0, 1}, {-1, 0}, {-2, 0}, {0, 2}});
}
