// SPDX-License-Identifier: Apache-2.0
//
// Transforms of lines in memory against sums in long double: lengths of all kinds, strides, batches, in place, with many
// threads; errors grow as they should (Gentleman and Sande, 1966).

#include <twill/device/cpu/stream.hpp>
#include <twill/fft/lines.hpp>
#include <twill/fft/plan.hpp>
#include <twill/fft/transform.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

using namespace twill;
using namespace twill::fft::detail;

namespace {

template <class T> using Line = std::vector<std::complex<T>>;

template <class T> Line<T> normal_numbers(std::int64_t count, unsigned seed = 5) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> draw;
  Line<T> x(static_cast<std::size_t>(count));
  for (auto& value : x) {
    const auto re = static_cast<T>(draw(generator));
    value = {re, static_cast<T>(draw(generator))};
  }
  return x;
}

/// Coefficients k = first, first + step, ... of n numbers in long double.
template <class T> Line<long double> sums(const Line<T>& x, std::int64_t first, std::int64_t step, Sign sign) {
  const auto n = static_cast<std::int64_t>(x.size());
  const long double angle =
      (sign == Sign::forward ? -2 : 2) * std::numbers::pi_v<long double> / static_cast<long double>(n);
  Line<long double> roots;
  for (std::int64_t k = 0; k < n; ++k) roots.push_back(std::polar(1.0L, angle * static_cast<long double>(k)));
  Line<long double> result;
  for (std::int64_t k = first; k < n; k += step) {
    std::complex<long double> sum = 0;
    for (std::int64_t j = 0; j < n; ++j)
      sum += std::complex<long double>(x[static_cast<std::size_t>(j)]) * roots[static_cast<std::size_t>(j * k % n)];
    result.push_back(sum);
  }
  return result;
}

/// The error of coefficients by their root mean square, in units of the type's precision.
template <class T> double error_of(const std::complex<T>* found, std::int64_t step, const Line<long double>& wanted) {
  long double error = 0;
  long double size = 0;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    error += std::norm(std::complex<long double>(found[static_cast<std::int64_t>(k) * step]) - wanted[k]);
    size += std::norm(wanted[k]);
  }
  return static_cast<double>(std::sqrt(error / size)) / double{std::numeric_limits<T>::epsilon()};
}

template <class T> void run(const Job<T>& job) {
  std::vector<T> memory(static_cast<std::size_t>(working_elements(job)));
  launch(Cpu{0}, [&](const Team& team) { run_job(team, job, memory.empty() ? nullptr : memory.data()); });
}

template <class T> T* parts_of(Line<T>& x) { return reinterpret_cast<T*>(x.data()); }

/// Dense lines one after another.
template <class T> Job<T> dense(Line<T>& x, Line<T>& y, std::int64_t n) {
  const std::int64_t count = static_cast<std::int64_t>(x.size()) / n;
  return {.length = n,
          .given = n,
          .from = parts_of(x),
          .from_step = 2,
          .to = parts_of(y),
          .to_step = 2,
          .extents = Dims(count),
          .from_strides = Dims(2 * n),
          .to_strides = Dims(2 * n)};
}

} // namespace

TEMPLATE_TEST_CASE("lines of all kinds of lengths are transformed with the error of a few roundings", "[fft]", float,
                   double) {
  using T = TestType;
  for (const std::int64_t n :
       {1,  2,  3,  4,  5,  6,  7,  8,  9,   11,  13,  14,  15,  16,  17,  19,  25,   31,   32,
        49, 60, 61, 64, 65, 67, 91, 97, 100, 121, 128, 169, 243, 256, 360, 625, 1009, 1024, 1331})
    for (const std::int64_t count : {1, 3, 4, 9, 17}) {
      if (n > 100 && count % 4 != 1) continue;
      if (n > 300 && count > 1 && !(n == 1009 && count == 9)) continue;
      Line<T> x = normal_numbers<T>(n * count);
      Line<T> y(x.size());
      for (const Sign sign : {Sign::forward, Sign::inverse}) {
        Job<T> job = dense(x, y, n);
        job.sign = sign;
        run(job);
        CAPTURE(n, count, sign);
        for (const std::int64_t line : {std::int64_t{0}, count - 1})
          CHECK(error_of(y.data() + line * n, 1,
                         sums(Line<T>(x.begin() + line * n, x.begin() + (line + 1) * n), 0, 1, sign)) < 3);
      }
    }
}

TEMPLATE_TEST_CASE("errors grow with the root of the logarithm of the length", "[fft]", float, double) {
  using T = TestType;
  for (const std::int64_t n : {1 << 12, 1 << 20, 100003, 59049, 117649}) {
    Line<T> x = normal_numbers<T>(n);
    Line<T> y(x.size());
    run(dense(x, y, n));
    const std::int64_t step = n / 3;
    const double error = error_of(y.data() + 1, step, sums(x, 1, step, Sign::forward));
    const double growth = std::sqrt(std::log2(static_cast<double>(n)));
    CAPTURE(n, error);
    CHECK(error < (n == 100003 ? 1.5 : 0.6) * growth); // a convolution is two transforms of thrice the length
  }
}

TEST_CASE("lines with strides, cropped and padded, in place", "[fft]") {
  // axis 1 of (3, 10, 4) in memory of (4, 3, 10), every second element
  const std::int64_t given = 10;
  Line<double> memory = normal_numbers<double>(4 * 3 * 10 * 2);
  for (const std::int64_t n : {4, 10, 16, 67}) {
    Line<double> y(static_cast<std::size_t>(3 * n * 4));
    run(Job<double>{.length = n,
                    .given = std::min(n, given),
                    .from = parts_of(memory),
                    .from_step = 4,
                    .to = parts_of(y),
                    .to_step = 8,
                    .extents = Dims(3, 4),
                    .from_strides = Dims(40, 120),
                    .to_strides = Dims(8 * n, 2),
                    .scale = 0.5});
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t k = 0; k < 4; ++k) {
        Line<double> line(static_cast<std::size_t>(n));
        for (std::int64_t j = 0; j < std::min(n, given); ++j)
          line[static_cast<std::size_t>(j)] = 0.5 * memory[static_cast<std::size_t>(i * 20 + k * 60 + j * 2)];
        CAPTURE(n, i, k);
        CHECK(error_of(y.data() + i * n * 4 + k, 4, sums(line, 0, 1, Sign::forward)) < 3);
      }
  }
  for (const std::int64_t n : {8, 1009, 4096}) {
    Line<double> x = normal_numbers<double>(n * 5);
    Line<double> y(x.size());
    run(dense(x, y, n));
    run(dense(x, x, n));
    CHECK(x == y);
  }
}

TEST_CASE("the number of threads changes no bit", "[fft]") {
  for (const std::int64_t n : {60, 1009, 4096, 131072}) {
    Line<float> x = normal_numbers<float>(n * 9);
    Line<float> y(x.size());
    Line<float> z(x.size());
    const Job<float> job = dense(x, y, n);
    run(job);
    Job<float> serial = dense(x, z, n);
    std::vector<float> memory(static_cast<std::size_t>(working_elements(serial)));
    run_job(Team::serial(), serial, memory.empty() ? nullptr : memory.data());
    CAPTURE(n);
    CHECK(y == z);
  }
}

TEST_CASE("lengths are taken apart and made longer", "[fft]") {
  static_assert(has_small_factors(1) && has_small_factors(2 * 3 * 5 * 7 * 11 * 13) && !has_small_factors(34));
  static_assert(divisor_near_root(1024) == 32 && divisor_near_root(91) == 7 && divisor_near_root(97) == 1);
  for (std::int64_t n = 1; n < 3000; ++n) {
    std::int64_t least = n;
    const auto is_fast = [](std::int64_t m) {
      for (const std::int64_t factor : {2, 3, 5})
        while (m % factor == 0) m /= factor;
      return m == 1;
    };
    while (!is_fast(least)) ++least;
    if (fast_length(n) != least) FAIL("fast_length(" << n << ") is " << fast_length(n) << ", not " << least);
  }
}

TEST_CASE("roots of unity are rounded once", "[fft]") {
  for (const std::int64_t order : {1, 2, 3, 7, 360, 100003}) {
    const Roots roots(order);
    for (std::int64_t k = 0; k < order; k += 1 + order / 50) {
      const long double angle =
          -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(order);
      CHECK(std::abs(roots(k).re - std::cos(angle)) < 1e-18L);
      CHECK(std::abs(roots(k).im - std::sin(angle)) < 1e-18L);
    }
  }
}
