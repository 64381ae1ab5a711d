#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Corrections of counted times by timed steps: how much longer than counted the gradients and the update of a model
// took on one device. Counting ignores caches and the quality of kernels, which depend on the number of rows most, so
// the factor of a program is that of timed steps of about as many rows. Not in twill.hpp. Read next:
// parallel/fit/estimate.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/fit/options.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace fit {

/// Factors of counted times.
struct Correction {
  double gradient = 1; ///< of programs that compute values or gradients of rows
  double update = 1;   ///< of updates
};

/// Factors by the number of rows: between timed steps in proportion to the logarithm of the rows, outside the nearest.
class Calibration {
public:
  /// No correction.
  Calibration() = default;
  /// `counted_gradient_s(rows)` is what counting says of the gradients of as many rows.
  /// throws: ValueError for a timed step of no rows or no time
  Calibration(std::vector<TimedStep> timed, const std::function<double(std::int64_t)>& counted_gradient_s,
              double counted_update_s);

  /// The factors for programs of this number of rows.
  [[nodiscard]] Correction at(std::int64_t rows) const;

private:
  struct Point {
    std::int64_t rows = 0;
    double gradient = 1;
  };

  std::vector<Point> points_{}; ///< by rows
  double update_ = 1;
};

}}}} // namespace twill::v0::parallel::fit

#if TWILL_HEADER_ONLY
#include <twill/parallel/fit/calibration.ipp>
#endif
