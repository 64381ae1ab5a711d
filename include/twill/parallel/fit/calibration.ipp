#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/fit/calibration.hpp.

#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/fit/calibration.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace twill { inline namespace v0 { namespace parallel { namespace fit {

TWILL_BODY Calibration::Calibration(std::vector<TimedStep> timed,
                                    const std::function<double(std::int64_t)>& counted_gradient_s,
                                    double counted_update_s) {
  std::sort(timed.begin(), timed.end(),
            [](const TimedStep& left, const TimedStep& right) { return left.rows < right.rows; });
  double update_s = 0;
  for (const TimedStep& step : timed) {
    if (step.rows < 1 || !(step.gradient_s > 0) || !(step.update_s >= 0))
      throw ValueError(join_text({"fit: a timed step has at least one row, and its gradients take some time, got ",
                                  step.rows, " rows and ", number_text(step.gradient_s), " s"}));
    const double counted = counted_gradient_s(step.rows);
    points_.push_back({step.rows, counted > 0 ? step.gradient_s / counted : 1});
    update_s += step.update_s / static_cast<double>(timed.size());
  }
  if (update_s > 0 && counted_update_s > 0) update_ = update_s / counted_update_s;
}

TWILL_BODY Correction Calibration::at(std::int64_t rows) const {
  if (points_.empty()) return {};
  std::size_t above = 0;
  while (above < points_.size() && points_[above].rows < rows) ++above;
  if (above == 0) return {points_.front().gradient, update_};
  if (above == points_.size()) return {points_.back().gradient, update_};
  const Point& low = points_[above - 1];
  const Point& high = points_[above];
  const auto log_of = [](std::int64_t number) { return std::log(static_cast<double>(number)); };
  const double part = (log_of(rows) - log_of(low.rows)) / (log_of(high.rows) - log_of(low.rows));
  return {low.gradient + part * (high.gradient - low.gradient), update_};
}

}}}} // namespace twill::v0::parallel::fit
