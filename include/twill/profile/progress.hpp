#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Progress bars: a bar that is redrawn in place on a terminal, and a plain line now and then elsewhere (a file, a log),
// with loss, rate, time passed and time left. The loss may be a lazy scalar: it is read, which waits for the device,
// only when something is about to be shown. An update costs one reading of the clock. Read next: profile/svg_plot.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/profile/format.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <iostream>
#include <limits>
#include <ostream>
#include <string>
#include <utility>

#include <unistd.h>

namespace twill { inline namespace v0 { namespace profile {

/// Where and how progress is shown.
enum class ProgressStyle {
  automatic, ///< A bar if the standard error stream is a terminal and nothing else was asked for, else lines.
  bar,
  lines,
  silent,
};

/// Texts and pace of a progress bar.
struct ProgressOptions {
  std::string title = {};                         ///< in front
  std::string unit = "samples";                   ///< what is counted
  ProgressStyle style = ProgressStyle::automatic; ///< a bar that is drawn again, or lines, as a terminal allows
  std::ostream* output = nullptr;                 ///< Null: the standard error stream.
  double bar_interval_seconds = 0.1;              ///< between two drawings of a bar, at least
  double line_interval_seconds = 10;              ///< between two lines, at least
  int bar_width = 30;                             ///< characters
  std::function<double()> clock = {};             ///< Seconds from any origin; empty: the steady clock. For tests.
};

/// A number that is there, or can be fetched with item().
template <class L>
concept ProgressValue = std::convertible_to<const L&, double> || requires(const L& loss) {
  { loss.item() } -> std::convertible_to<double>;
};

namespace detail {

/// "0:07", "12:34", "1:02:03".
[[nodiscard]] std::string clock_text(double seconds);

/// "81,234", or with two digits below ten: "3.1".
[[nodiscard]] std::string rate_text(double rate);

} // namespace detail

/// The progress of `total` units of work.
class Progress {
public:
  /// Counts to `total` and draws on the way.
  explicit Progress(std::int64_t total, ProgressOptions options = {});
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Leaves an unfinished bar on its line.
  ~Progress();

  /// Counts `units` more as done.
  void update(std::int64_t units);

  /// Counts `units` more as done, and notes their loss.
  template <ProgressValue L> void update(std::int64_t units, const L& loss) {
    advance(units, [&] {
      if constexpr (std::convertible_to<const L&, double>)
        loss_ = static_cast<double>(loss);
      else
        loss_ = static_cast<double>(loss.item());
    });
  }

  /// Shows the final state, whatever was shown before. An update that reaches the total does so by itself.
  void finish();

  /// How much is done.
  [[nodiscard]] std::int64_t done() const { return done_; }
  /// Since it was made, in seconds.
  [[nodiscard]] double elapsed_seconds() const { return now() - started_; }
  /// The mean speed so far.
  [[nodiscard]] double units_per_second() const;

private:
  template <class ReadLoss> void advance(std::int64_t units, ReadLoss read_loss) {
    done_ += units;
    const bool is_last = done_ >= total_ && !is_finished_;
    if (options_.style == ProgressStyle::silent && !is_last) return;
    const double time = now();
    const double interval =
        options_.style == ProgressStyle::bar ? options_.bar_interval_seconds : options_.line_interval_seconds;
    if (!is_last && time - shown_ < interval) return;
    read_loss();
    show(time, is_last);
  }

  void show(double time, bool is_last);

  [[nodiscard]] std::string line(double time) const;

  [[nodiscard]] std::string bar(double share) const;

  [[nodiscard]] double now() const { return options_.clock ? options_.clock() : steady_seconds(); }

  std::int64_t total_;
  ProgressOptions options_;
  std::int64_t done_ = 0;
  double started_ = 0;
  double shown_ = 0;
  double loss_ = std::numeric_limits<double>::quiet_NaN();
  bool is_finished_ = false;
  bool needs_newline_ = false;
};

}}} // namespace twill::v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/progress.ipp>
#endif
