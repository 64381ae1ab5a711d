// SPDX-License-Identifier: Apache-2.0
//
// Functions of complex tensors beside NumPy's in long double (tests/golden/scripts/complex_functions.py): points of all sizes and
// beside the branch points, both sides of the cuts, infinities and NaN. Others: tests/expr/complex.test.cpp.

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include "tests/support/golden.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace twill;

namespace {

/// Pairs of a golden file as complex numbers.
std::vector<complex128> complex_pairs_of(const std::string& name) {
  const auto values = test::golden("complex_functions/" + name).values;
  std::vector<complex128> result;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) result.push_back({values[i], values[i + 1]});
  return result;
}

/// Whether a part is another one within a tolerance for a size, or the same limit; a zero has its sign.
bool is_part(double found, double wanted, double size, double tolerance) {
  if (std::isnan(wanted)) return std::isnan(found);
  if (std::isinf(wanted)) return found == wanted;
  if (wanted == 0 && tolerance == 0) return found == 0 && std::signbit(found) == std::signbit(wanted);
  return std::fabs(found - wanted) <= tolerance * size;
}

enum class Relative : bool { to_parts, to_size };

/// Results of several functions at the points of a file, beside those of another file.
template <class T> class ComplexCases {
public:
  ComplexCases(const std::string& points, const std::string& results)
      : points_{complex_pairs_of(points)}, wanted_{complex_pairs_of(results)} {}

  [[nodiscard]] auto z() const { return from_values(points_).template to<T>(); }

  template <class X> void check(const char* name, Relative relative, double tolerance, const X& own) {
    const auto found = to_vector(own);
    REQUIRE(found.size() == points_.size());
    REQUIRE(next_ + found.size() <= wanted_.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const complex128 wanted = wanted_[next_ + i], at = points_[i], value = found[i];
      if constexpr (sizeof(T) == sizeof(complex64)) { // what float32 neither overflows nor loses
        const double smallest = std::min(std::fabs(at.re), std::fabs(at.im));
        const double largest = std::max(std::fabs(at.re), std::fabs(at.im));
        if (smallest < 1e-30 || largest > 1e30 || std::hypot(wanted.re, wanted.im) > 1e30) continue;
      }
      const double size =
          std::hypot(std::isfinite(wanted.re) ? wanted.re : 0, std::isfinite(wanted.im) ? wanted.im : 0);
      const auto of = [&](double part) {
        const double least = std::numeric_limits<double>::denorm_min() * 4 / std::max(tolerance, 1e-300);
        return std::max(relative == Relative::to_size ? size : std::fabs(part), least);
      };
      INFO(name << " of " << at.re << " " << at.im << ": " << value.re << " " << value.im << ", NumPy " << wanted.re
                << " " << wanted.im);
      CHECK(is_part(value.re, wanted.re, of(wanted.re), tolerance));
      CHECK(is_part(value.im, wanted.im, of(wanted.im), tolerance));
    }
    next_ += found.size();
  }
  void check_inverses(Relative relative, double tolerance) {
    const auto at = z();
    check("asin", relative, tolerance, eval(asin(at)));
    check("acos", relative, tolerance, eval(acos(at)));
    check("atan", relative, tolerance, eval(atan(at)));
    check("asinh", relative, tolerance, eval(asinh(at)));
    check("acosh", relative, tolerance, eval(acosh(at)));
    check("atanh", relative, tolerance, eval(atanh(at)));
  }
  void check_others(double tolerance) {
    const auto at = z();
    check("expm1", Relative::to_size, tolerance, eval(expm1(at)));
    check("log1p", Relative::to_size, tolerance, eval(log1p(at)));
    check("exp2", Relative::to_size, 10 * tolerance, eval(exp2(at))); // the angle is a rounded product
    check("log2", Relative::to_size, tolerance, eval(log2(at)));
    check("log10", Relative::to_size, tolerance, eval(log10(at)));
    check("sign", Relative::to_parts, tolerance, eval(sign(at)));
    check("sigmoid", Relative::to_size, 10 * tolerance, eval(sigmoid(at)));
    check("rsqrt", Relative::to_size, tolerance, eval(rsqrt(at)));
  }
  [[nodiscard]] bool is_done() const { return next_ == wanted_.size(); }

private:
  std::vector<complex128> points_;
  std::vector<complex128> wanted_;
  std::size_t next_ = 0;
};

} // namespace

TEST_CASE("inverse functions of complex numbers have precise parts, of all sizes and beside branch points", "[expr]") {
  ComplexCases<complex128> wide{"points", "points_results"};
  wide.check_inverses(Relative::to_parts, 2e-15);
  REQUIRE(wide.is_done());
}

TEST_CASE("functions of complex numbers have NumPy's values", "[expr]") {
  ComplexCases<complex128> wide{"moderate", "moderate_results"};
  wide.check_others(1e-15);
  REQUIRE(wide.is_done());
  ComplexCases<complex128> roots{"points", "roots_results"};
  roots.check("sqrt", Relative::to_parts, 1e-15, eval(sqrt(roots.z())));
  roots.check("log", Relative::to_size, 1e-15, eval(log(roots.z())));
}

TEST_CASE("the sides of branch cuts are told by the sign of zero", "[expr]") {
  ComplexCases<complex128> cuts{"cuts", "cuts_results"};
  cuts.check_inverses(Relative::to_size, 1e-15);
  REQUIRE(cuts.is_done());
}

TEST_CASE("functions of infinities, NaN and zeros have C's limits", "[expr]") {
  ComplexCases<complex128> odd{"odd", "odd_results"};
  odd.check_inverses(Relative::to_size, 1e-15);
  odd.check("log1p", Relative::to_size, 1e-15, eval(log1p(odd.z())));
  odd.check("sign", Relative::to_size, 1e-15, eval(sign(odd.z())));
  REQUIRE(odd.is_done());
  const auto signs_of = [](const auto& z) {
    std::vector<bool> result;
    for (const complex128 value : to_vector(z)) {
      result.push_back(std::signbit(value.re));
      result.push_back(std::signbit(value.im));
    }
    return result;
  };
  const auto zeros = from_values(std::vector<complex128>{{0.0, 0.0}, {-0.0, 0.0}, {0.0, -0.0}, {-0.0, -0.0}});
  const auto expected = signs_of(zeros);
  CHECK(signs_of(eval(asin(zeros))) == expected);
  CHECK(signs_of(eval(asinh(zeros))) == expected);
  CHECK(signs_of(eval(atan(zeros))) == expected);
  CHECK(signs_of(eval(atanh(zeros))) == expected);
  CHECK(signs_of(eval(expm1(zeros))) == expected);
}

TEST_CASE("functions of complex64 compute in float32", "[expr]") {
  ComplexCases<complex64> narrow{"moderate", "moderate_results"};
  narrow.check_others(2e-6);
  const auto z = narrow.z();
  const auto wide = z.to<complex128>();
  const auto near = [](const auto& own, const auto& exact) {
    const auto found = to_vector(own);
    const auto wanted = to_vector(exact);
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(is_part(found[i].re, wanted[i].re, std::fabs(wanted[i].re), 2e-6));
      CHECK(is_part(found[i].im, wanted[i].im, std::fabs(wanted[i].im), 2e-6));
    }
  };
  near(eval(asin(z)), eval(asin(wide)));
  near(eval(acos(z)), eval(acos(wide)));
  near(eval(atan(z)), eval(atan(wide)));
  near(eval(asinh(z)), eval(asinh(wide)));
  near(eval(acosh(z)), eval(acosh(wide)));
  near(eval(atanh(z)), eval(atanh(wide)));
}

TEST_CASE("functions of complex views and of no elements, and variances", "[expr]") {
  auto z = zeros<complex128, Shape<7, 5>>();
  const auto steps = arange<double>(35.0).reshape<Shape<7, 5>>();
  real(z) = sin(steps);
  imag(z) = cos(steps * 0.7);
  const Tensor turned = asin(sin(z.transpose()(all, slice{.step = 2}))); // in the strip where asin is the inverse
  REQUIRE(allclose(turned, z.transpose()(all, slice{.step = 2})).item());
  REQUIRE(eval(acosh(zeros<complex64, Shape<0>>())).elements() == 0);
  REQUIRE(eval(atanh(full<complex64, Shape<>>(complex64{0.5F, 0}))).item().re == Approx(std::atanh(0.5F)));

  const Tensor distance = abs(z - mean<0>(z));
  const Tensor squares = sum<0>(distance * distance);
  const Tensor spread = var<0>(z, correction<1>);
  STATIC_REQUIRE(std::is_same_v<decltype(spread)::value_type, double>);
  REQUIRE(allclose(spread, squares / 6.0).item());
  REQUIRE(allclose(stddev<0>(z, keepdims), sqrt(squares / 7.0)).item());
  REQUIRE(stddev<0>(z, keepdims).shape() == Dims(1, 5));
  REQUIRE(var(z.to<complex64>()).item() == Approx(var(z).item()));
}
