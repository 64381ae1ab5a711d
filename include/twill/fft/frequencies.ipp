#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of fft/frequencies.hpp.

#include <twill/core/error.hpp>
#include <twill/fft/frequencies.hpp>

#include <string>

namespace twill { inline namespace v0 { namespace fft { namespace detail {

TWILL_BODY std::vector<double> frequencies(const char* function, std::int64_t n, double step, Coefficients wanted) {
  if (n < 1) throw ValueError(std::string(function) + ": n is " + std::to_string(n) + "; it is at least 1");
  const bool are_halved = wanted == Coefficients::half;
  const double unit = 1 / (static_cast<double>(n) * step);
  std::vector<double> values;
  for (std::int64_t k = 0; k < (are_halved ? n / 2 + 1 : n); ++k)
    values.push_back(static_cast<double>(are_halved || k < (n + 1) / 2 ? k : k - n) * unit);
  return values;
}

}}}} // namespace twill::v0::fft::detail
