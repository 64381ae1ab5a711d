// SPDX-License-Identifier: Apache-2.0
//
// The vector functions keep the errors that tools/ulp measured over all inputs, and special values are right. Here every 4099th float, and those where something ends or begins.

#include "tools/ulp/functions.hpp"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace ulp;

namespace {

/// Where formulas change, numbers end, and results are special.
std::vector<float> corners() {
  std::vector<float> list;
  const auto add = [&](float x) {
    for (const float y : {x, std::nextafter(x, 0.0F), std::nextafter(x, 2 * x)}) {
      list.push_back(y);
      list.push_back(-y);
    }
  };
  for (const float x :
       {0.0F,        1.0F,        2.0F,     3.0F,     0.5F,      0.6F,        1 / 0.6F, 0.89F,   3.75F,      8.3F,
        9.02F,       10.0F,       10.3F,    88.0F,    88.72284F, 89.4159851F, 104.0F,   128.0F,  149.0F,     8192.0F,
        0.70710678F, 1.41421356F, 0x1p-12F, 0x1p-25F, 0x1p-126F, 0x1p-149F,   0x1p23F,  0x1p30F, 3.14159265F})
    add(x);
  using Limits = std::numeric_limits<float>;
  for (const float x : {Limits::infinity(), Limits::quiet_NaN(), Limits::max()}) {
    list.push_back(x);
    list.push_back(-x);
  }
  list.resize(static_cast<std::size_t>(block), 1.0F);
  return list;
}

} // namespace

TEST_CASE("functions of float32 are as accurate as was measured", "[kernel]") {
  for (const Unary& function : unary_functions) {
    const Finding found = sweep(0, std::uint64_t{1} << 32, 4099, function.evaluate, function.exact, nullptr);
    INFO(std::string(function.name) << " at " << found.where << ", wrong at " << found.where_wrong);
    CHECK(found.worst <= bound_of(function));
    CHECK(found.worst > 0);
    CHECK(found.wrong == 0);
  }
}

TEST_CASE("functions of float32 are right where something ends", "[kernel]") {
  const std::vector<float> x = corners();
  std::vector<float> y(x.size());
  for (const Unary& function : unary_functions) {
    function.evaluate(x.data(), y.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double error = error_of(y[i], function.exact(static_cast<double>(x[i])));
      INFO(std::string(function.name) << " at " << x[i] << ": " << y[i]);
      CHECK((error >= 0 && error <= bound_of(function)));
    }
  }
}

TEST_CASE("functions of two floats and of doubles are as accurate as was measured", "[kernel]") {
  const std::vector<float> x = corners();
  float a[block], b[block], y[block];
  for (const Binary& function : binary_functions) {
    for (std::size_t shift = 1; shift < 190; shift += 3) {
      for (std::size_t i = 0; i < block; ++i) {
        a[i] = x[i % 190];
        b[i] = x[(i + shift) % 190];
      }
      function.evaluate(a, b, y);
      for (std::size_t i = 0; i < 190; ++i) {
        const double error = error_of(y[i], function.exact(static_cast<double>(a[i]), static_cast<double>(b[i])));
        INFO(std::string(function.name) << " at " << a[i] << ", " << b[i] << ": " << y[i]);
        CHECK((error >= 0 && error <= function.bound));
      }
    }
  }
  double wide[block], found[block];
  for (const UnaryDouble& function : double_functions) {
    for (int i = 0; i < block; ++i)
      wide[i] = i < 190 ? static_cast<double>(x[static_cast<std::size_t>(i)]) : (i - 2000) * 0.0217;
    function.evaluate(wide, found);
    for (int i = 0; i < block; ++i) {
      const long double exact = function.exact(static_cast<long double>(wide[i]));
      const auto rounded = static_cast<double>(exact);
      INFO(std::string(function.name) << " at " << wide[i] << ": " << found[i] << " instead of " << rounded);
      if (std::isfinite(rounded) && rounded != 0)
        CHECK(std::abs(found[i] - rounded) <=
              function.bound * std::max(std::ldexp(1.0, std::ilogb(rounded) - 52), 0x1p-1074));
      else
        CHECK(((std::isnan(rounded) && std::isnan(found[i])) ||
               (rounded == found[i] && std::signbit(rounded) == std::signbit(found[i]))));
    }
  }
}

TEST_CASE("powers of doubles are as accurate as was measured, and special like C's", "[kernel]") {
  constexpr int lanes = kernel::vector_bytes / 8;
  std::mt19937_64 random{7};
  std::uniform_real_distribution<double> base{-700, 700}, exponent{-3, 3};
  double a[lanes], b[lanes], y[lanes];
  const std::vector<float> special = corners();
  const auto check = [&] {
    kernel::store(y, kernel::apply<Primitive::power>(kernel::load<double, lanes>(a), kernel::load<double, lanes>(b)));
    for (int i = 0; i < lanes; ++i) {
      const long double exact = std::pow(static_cast<long double>(a[i]), static_cast<long double>(b[i]));
      const auto rounded = static_cast<double>(exact);
      INFO(a[i] << " to the power of " << b[i] << ": " << y[i] << " instead of " << rounded);
      if (std::isfinite(rounded) && rounded != 0)
        CHECK(std::abs(y[i] - rounded) <= 1.6 * std::max(std::ldexp(1.0, std::ilogb(rounded) - 52), 0x1p-1074));
      else
        CHECK(((std::isnan(rounded) && std::isnan(y[i])) ||
               (rounded == y[i] && std::signbit(rounded) == std::signbit(y[i]))));
    }
  };
  for (int n = 0; n < 2000; ++n) {
    for (int i = 0; i < lanes; ++i) {
      a[i] = n % 2 == 0 ? std::exp(base(random)) : 1 + exponent(random) * 0x1p-12;
      b[i] = n % 2 == 0 ? exponent(random) : base(random) * 1000;
    }
    check();
  }
  for (int i = 0; i < 190; ++i) {
    for (int k = 0; k < 190; k += lanes) {
      for (int j = 0; j < lanes; ++j) {
        a[j] = static_cast<double>(special[static_cast<std::size_t>(i)]);
        b[j] = static_cast<double>(special[static_cast<std::size_t>((k + j) % 190)]);
      }
      check();
    }
  }
}
