#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/metrics.hpp.

#include <twill/profile/metrics.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace twill { inline namespace v0 { namespace profile {

TWILL_BODY double RocAuc::value() const {
  auto sorted = samples_;
  for (const auto& [score, is_positive] : sorted)
    if (std::isnan(score)) throw ValueError("roc auc: a score is NaN; scores are numbers in an order");
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  // Pairs of a positive and a lower negative, and half of those of equal scores (Mann and Whitney, 1947).
  double pairs = 0, negatives = 0, positives = 0;
  for (std::size_t begin = 0; begin < sorted.size();) {
    double equal_positives = 0, equal_negatives = 0;
    std::size_t end = begin;
    for (; end < sorted.size() && sorted[end].first == sorted[begin].first; ++end)
      (sorted[end].second ? equal_positives : equal_negatives) += 1;
    pairs += equal_positives * (negatives + equal_negatives / 2);
    positives += equal_positives;
    negatives += equal_negatives;
    begin = end;
  }
  if (positives == 0 || negatives == 0) return std::numeric_limits<double>::quiet_NaN();
  return pairs / (positives * negatives);
}

}}} // namespace twill::v0::profile
