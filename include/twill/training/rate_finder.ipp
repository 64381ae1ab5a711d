#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of training/rate_finder.hpp.

#include <twill/training/rate_finder.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

namespace twill { inline namespace v0 { namespace training { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY void require_allowed(const RateSweepOptions& options) {
  const auto refuse = [](const char* what, double got) {
    throw ValueError("sweep_rates: " + std::string{what} + ", got " + number_text(got));
  };
  if (!(options.least > 0)) refuse("the least rate must be above 0", options.least);
  if (!(options.most > options.least && std::isfinite(options.most)))
    refuse("the last rate must be above the first", options.most);
  if (options.steps < 3) refuse("steps must be at least 3", static_cast<double>(options.steps));
  if (!(options.smoothing >= 0 && options.smoothing < 1)) refuse("smoothing must lie in [0, 1)", options.smoothing);
  if (!(options.divergence > 1)) refuse("divergence must be above 1", options.divergence);
}

TWILL_BODY double swept_rate(const RateSweepOptions& options, std::int64_t step) {
  const double done = static_cast<double>(step) / static_cast<double>(options.steps - 1);
  return options.least * std::pow(options.most / options.least, done);
}

TWILL_BODY bool note_loss(RateSweep& sweep, const RateSweepOptions& options, double rate, double loss) {
  sweep.has_diverged = !std::isfinite(loss);
  if (sweep.has_diverged) return false;
  // mean = b mean + (1 - b) loss,    smoothed = mean / (1 - b^t)
  const double b = options.smoothing;
  const auto t = static_cast<double>(sweep.losses.size() + 1);
  const double mean = sweep.smoothed.empty() ? 0 : sweep.smoothed.back() * (1 - std::pow(b, t - 1));
  const double smoothed = (b * mean + (1 - b) * loss) / (1 - std::pow(b, t));
  sweep.rates.push_back(rate);
  sweep.losses.push_back(loss);
  sweep.smoothed.push_back(smoothed);
  const double least = *std::min_element(sweep.smoothed.begin(), sweep.smoothed.end());
  // A loss that may be negative diverges as far above its least.
  sweep.has_diverged = smoothed > least + (options.divergence - 1) * std::abs(least);
  return !sweep.has_diverged;
}

}}}}} // namespace twill::v0::training::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {

TWILL_BODY double RateSweep::suggestion(std::int64_t skipped_first, std::int64_t skipped_last) const {
  const auto count = static_cast<std::int64_t>(smoothed.size());
  const std::int64_t first = std::max<std::int64_t>(skipped_first, 0);
  const std::int64_t end = count - std::max<std::int64_t>(skipped_last, 0);
  if (end - first < 3)
    throw ValueError("suggestion: " + std::to_string(count) + " rates without the first " + std::to_string(first) +
                     " and the last " + std::to_string(count - end) + " are less than 3; sweep in more steps");
  std::size_t steepest = 0;
  double least = 0;
  for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(end); ++i) {
    const std::size_t before = i == static_cast<std::size_t>(first) ? i : i - 1;
    const std::size_t after = i + 1 == static_cast<std::size_t>(end) ? i : i + 1;
    const double slope = (smoothed[after] - smoothed[before]) / std::log(rates[after] / rates[before]);
    if (slope < least) {
      least = slope;
      steepest = i;
    }
  }
  if (least == 0)
    throw ValueError("suggestion: the loss falls at none of the rates from " + number_text(rates.front()) + " to " +
                     number_text(rates.back()) + "; begin with a smaller rate, or sweep in more steps");
  return rates[steepest];
}

}}}} // namespace twill::v0::training::TWILL_ISA
