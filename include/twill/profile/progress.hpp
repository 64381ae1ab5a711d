#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Progress of long work: a bar that is redrawn in place on a terminal, and a plain line now and then elsewhere (a file, a
// log), with loss, rate, time passed and time left. The loss may be a lazy scalar: it is read, and with it the device waited
// for, only when something is about to be shown. Costs a clock reading for each update. Read next: profile/svg_plot.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/text.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <limits>
#include <ostream>
#include <string>
#include <utility>

#include <unistd.h>

namespace twill::inline v0::profile {

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
[[nodiscard]] inline std::string clock_text(double seconds) {
  if (!(seconds < 360'000)) return "-:--"; // also for not-a-number
  const auto whole = static_cast<int>(std::lround(seconds));
  char text[32];
  if (whole >= 3600)
    std::snprintf(text, sizeof text, "%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60);
  else
    std::snprintf(text, sizeof text, "%d:%02d", whole / 60, whole % 60);
  return text;
}

/// "81,234", or with two digits below ten: "3.1".
[[nodiscard]] inline std::string rate_text(double rate) {
  if (!std::isfinite(rate)) return "-";
  char text[32];
  std::snprintf(text, sizeof text, rate < 10 ? "%.1f" : "%.0f", rate);
  std::string digits = text;
  if (rate >= 10)
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
      digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

} // namespace detail

/// The progress of `total` units of work.
class Progress {
public:
  /// Counts to `total` and draws on the way.
  explicit Progress(std::int64_t total, ProgressOptions options = {})
      : total_{std::max<std::int64_t>(total, 0)}, options_{std::move(options)} {
    if (options_.style == ProgressStyle::automatic) {
      const bool is_terminal = options_.output == nullptr && isatty(STDERR_FILENO) == 1;
      options_.style = is_terminal ? ProgressStyle::bar : ProgressStyle::lines;
    }
    if (options_.output == nullptr) options_.output = &std::cerr;
    started_ = shown_ = now();
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Leaves an unfinished bar on its line.
  ~Progress() {
    if (needs_newline_) *options_.output << std::endl;
  }

  /// Counts `units` more as done.
  void update(std::int64_t units) {
    advance(units, [] {});
  }

  /// The same, with the loss of these units.
  template <ProgressValue L> void update(std::int64_t units, const L& loss) {
    advance(units, [&] {
      if constexpr (std::convertible_to<const L&, double>)
        loss_ = static_cast<double>(loss);
      else
        loss_ = static_cast<double>(loss.item());
    });
  }

  /// Shows the final state, whatever was shown before. An update that reaches the total does so by itself.
  void finish() {
    if (!is_finished_) show(now(), true);
  }

  /// How much is done.
  [[nodiscard]] std::int64_t done() const { return done_; }
  /// Since it was made, in seconds.
  [[nodiscard]] double elapsed_seconds() const { return now() - started_; }
  /// The mean speed so far.
  [[nodiscard]] double units_per_second() const {
    const double elapsed = elapsed_seconds();
    return elapsed > 0 ? static_cast<double>(done_) / elapsed : std::numeric_limits<double>::infinity();
  }

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

  void show(double time, bool is_last) {
    shown_ = time;
    is_finished_ = is_finished_ || is_last;
    if (options_.style == ProgressStyle::silent) return;
    if (options_.style == ProgressStyle::bar) {
      *options_.output << '\r' << line(time) << "\x1b[K"; // clears what a longer line left behind
      needs_newline_ = !is_last;
      if (is_last) *options_.output << '\n';
    } else {
      *options_.output << line(time) << '\n';
    }
    options_.output->flush();
  }

  [[nodiscard]] std::string line(double time) const {
    const double share = total_ > 0 ? std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_)) : 1.0;
    const double elapsed = time - started_;
    std::string text = join_text({options_.title, options_.title.empty() ? "" : "  "});
    if (options_.style == ProgressStyle::bar) text += bar(share) + " ";
    char percent[16];
    std::snprintf(percent, sizeof percent, "%3d%%", static_cast<int>(100 * share));
    text += percent;
    if (!std::isnan(loss_)) {
      char loss[40];
      std::snprintf(loss, sizeof loss, "  loss %.4f", loss_);
      text += loss;
    }
    const double rate = elapsed > 0 ? static_cast<double>(done_) / elapsed : std::numeric_limits<double>::infinity();
    text += join_text({"  ", detail::rate_text(rate), " ", options_.unit, "/s  ", detail::clock_text(elapsed)});
    const double left = done_ > 0 ? elapsed * (1 - share) / share : std::numeric_limits<double>::quiet_NaN();
    if (!is_finished_) text += join_text({" passed, ", detail::clock_text(left), " left"});
    return text;
  }

  [[nodiscard]] std::string bar(double share) const {
    const int full = static_cast<int>(share * options_.bar_width);
    std::string text;
    for (int place = 0; place < options_.bar_width; ++place) text += place < full ? "━" : place == full ? "╸" : "─";
    return text;
  }

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

} // namespace twill::inline v0::profile
