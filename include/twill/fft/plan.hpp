#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Plans of complex Fourier transforms, one for each length: factors and twiddle factors. A length with no prime factor
// above 13 is computed by passes, and a single long line as a matrix (Bailey, 1990), first down its columns, then along
// its rows, so that a line fills vectors and caches as a batch does. Any other length is a convolution of a longer one
// with such factors (Bluestein, 1970). A thread keeps its latest plans. Read next: fft/transform.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cpu/recent_plans.hpp>
#include <twill/fft/passes.hpp>
#include <twill/fft/roots.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace twill { inline namespace v0 { namespace fft { namespace detail {

inline constexpr std::int64_t most_in_strips = 2048; ///< longer lines of a batch are computed one by one
inline constexpr std::int64_t least_as_matrix = 64;  ///< shorter lines never are

/// Whether no prime factor is greater than the greatest radix.
[[nodiscard]] constexpr bool has_small_factors(std::int64_t n) {
  for (const std::int64_t factor : {2, 3, 5, 7, 11, greatest_radix})
    while (n % factor == 0) n /= factor;
  return n == 1;
}

/// The least number of at least n whose prime factors are 2, 3 and 5.
[[nodiscard]] constexpr std::int64_t fast_length(std::int64_t n) {
  std::int64_t best = 1;
  while (best < n) best *= 2;
  for (std::int64_t fives = 1; fives < best; fives *= 5)
    for (std::int64_t threes = fives; threes < best; threes *= 3) {
      std::int64_t length = threes;
      while (length < n) length *= 2;
      best = length < best ? length : best;
    }
  return best;
}

/// The greatest divisor whose square is at most n.
[[nodiscard]] constexpr std::int64_t divisor_near_root(std::int64_t n) {
  std::int64_t found = 1;
  for (std::int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) found = d;
  return found;
}

inline namespace TWILL_ISA {

/// What a transform of one length needs.
template <class T> struct Plan {
  explicit Plan(std::int64_t n);
  [[nodiscard]] bool is_for(std::int64_t n) const { return n == length; }

  /// The places that a line takes while it is transformed.
  [[nodiscard]] std::int64_t room() const { return padded ? padded->length : length; }
  /// How many lines to compute at once, of `count`: `strip_lines<T>` interleaved ones, or 1.
  [[nodiscard]] std::int64_t lines_at_once(std::int64_t count) const {
    const Plan& inner = padded ? *padded : *this;
    if (inner.rows == 0) return strip_lines<T>;
    return !inner.passes.empty() && 2 * count >= strip_lines<T> ? strip_lines<T> : 1;
  }

  std::int64_t length = 1;
  std::vector<Pass<T>> passes{}; ///< of interleaved lines

  // A line as a matrix: element j is in row j / columns.
  std::int64_t rows = 0; ///< 0: never
  std::int64_t columns = 0;
  std::vector<Pass<T>> down{};   ///< transforms of columns
  std::vector<Pass<T>> across{}; ///< transforms of rows
  RootTable<T> turns{1, 0};      ///< w^(k j) for row k of the transformed columns, rows padded to whole strips

  // Bluestein's algorithm: X_k = c_k sum_j (c_j x_j) conj(c_(k-j)), c_k = exp(-pi i k^2 / n)
  std::unique_ptr<const Plan> padded{};
  RootTable<T> chirp{1, 0};
  RootTable<T> filter{1, 0}; ///< the transform of conj(c), over the padded length
};

/// Passes for a length with small factors.
template <class T> [[nodiscard]] std::vector<Pass<T>> passes_of(std::int64_t n) {
  std::vector<Pass<T>> passes;
  for (const int radix : {4, 2, 3, 5, 7, 11, greatest_radix})
    while (n % radix == 0) {
      const Roots roots(n);
      Pass<T> pass{.radix = radix, .rest = n / radix};
      for (std::int64_t p = 0; p < pass.rest; ++p) {
        for (int j = 1; j < radix; ++j) pass.turns.push_back(static_cast<T>(roots(p * j).re));
        for (int j = 1; j < radix; ++j) pass.turns.push_back(static_cast<T>(roots(p * j).im));
      }
      const Roots units(radix);
      for (int j = 0; j < radix; ++j) pass.units.push_back(static_cast<T>(units(j).re));
      for (int j = 0; j < radix; ++j) pass.units.push_back(static_cast<T>(-units(j).im));
      n = pass.rest;
      passes.push_back(std::move(pass));
    }
  return passes;
}

/// The calling thread's plan of a length.
template <class T> [[nodiscard]] const Plan<T>& plan_of(std::int64_t n) {
  static constexpr std::size_t most_plans = 16;
  thread_local cpu::RecentPlans<Plan<T>, most_plans> plans;
  return plans.find(n);
}

/// The calling thread's table of the first roots of an order.
template <class T> [[nodiscard]] const RootTable<T>& roots_of(std::int64_t order, std::int64_t count) {
  static constexpr std::size_t most_tables = 16;
  thread_local cpu::RecentPlans<RootTable<T>, most_tables> tables;
  return tables.find(order, count);
}

} // namespace TWILL_ISA
}}}} // namespace twill::v0::fft::detail
