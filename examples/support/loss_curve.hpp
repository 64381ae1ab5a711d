#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The losses of a run, drawn against epochs. A step's loss jumps with its batch, so a thin line of every step would hide the
// trend: each point is a mean over neighbouring steps. Not part of twill.

#include <twill/profile/svg_plot.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace examples {

class LossCurve {
public:
  void add(double loss) { losses_.push_back(loss); }

  /// Writes about two hundred points as SVG. throws: SystemError
  void save(const std::string& path, const std::string& title, std::int64_t steps_in_epoch) const {
    constexpr std::size_t points = 200;
    const std::size_t width = std::max<std::size_t>(losses_.size() / points, 1);
    std::vector<double> epochs, means;
    for (std::size_t first = 0; first + width <= losses_.size(); first += width) {
      const auto begin = losses_.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = begin + static_cast<std::ptrdiff_t>(width);
      means.push_back(std::accumulate(begin, end, 0.0) / static_cast<double>(width));
      epochs.push_back((static_cast<double>(first) + static_cast<double>(width) / 2) /
                       static_cast<double>(steps_in_epoch));
    }
    twill::profile::LinePlot({.title = title, .x_label = "epoch", .y_label = "cross entropy", .y_from_zero = true})
        .add("training", epochs, means)
        .save(path);
  }

private:
  std::vector<double> losses_{};
};

} // namespace examples
