#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Goodness of fit of random numbers. A chi-square of k bins exceeds k - 1 + 5 sqrt(2 (k - 1)) with a probability below 1e-5.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace twill::test {

using Numbers = std::vector<double>;
inline double mean_of(const Numbers& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}
inline double variance_of(const Numbers& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size());
}

/// Whether counts agree with expected ones.
inline bool agrees(const Numbers& counts, const Numbers& expected) {
  double chi_square = 0;
  for (std::size_t k = 0; k < counts.size(); ++k)
    chi_square += (counts[k] - expected[k]) * (counts[k] - expected[k]) / expected[k];
  const double freedom = static_cast<double>(counts.size() - 1);
  return chi_square < freedom + 5 * std::sqrt(2 * freedom);
}

/// Whether a distribution function maps the values to equally likely bins.
template <class F> bool follows(const Numbers& values, F&& distribution) {
  constexpr std::size_t bins = 64;
  Numbers counts(bins, 0.0);
  for (const double value : values)
    ++counts[std::min(bins - 1, static_cast<std::size_t>(distribution(value) * static_cast<double>(bins)))];
  return agrees(counts, Numbers(bins, static_cast<double>(values.size()) / bins));
}

} // namespace twill::test
