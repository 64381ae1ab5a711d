#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/progress.hpp.

#include <twill/profile/progress.hpp>

namespace twill { inline namespace v0 { namespace profile {
namespace detail {

TWILL_BODY std::string clock_text(double seconds) {
  if (!(seconds < 360'000)) return "-:--"; // also for not-a-number
  const auto whole = std::lround(seconds);
  const auto two_digits = [](long value) { return join_text({value < 10 ? "0" : "", value}); };
  if (whole < 3600) return join_text({whole / 60, ":", two_digits(whole % 60)});
  return join_text({whole / 3600, ":", two_digits(whole / 60 % 60), ":", two_digits(whole % 60)});
}

TWILL_BODY std::string rate_text(double rate) {
  if (!std::isfinite(rate)) return "-";
  std::string digits = fixed(rate, rate < 10 ? 1 : 0);
  if (rate >= 10)
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
      digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

} // namespace detail

TWILL_BODY Progress::Progress(std::int64_t total, ProgressOptions options)
    : total_{std::max<std::int64_t>(total, 0)}, options_{std::move(options)} {
  if (options_.style == ProgressStyle::automatic) {
    const bool is_terminal = options_.output == nullptr && isatty(STDERR_FILENO) == 1;
    options_.style = is_terminal ? ProgressStyle::bar : ProgressStyle::lines;
  }
  if (options_.output == nullptr) options_.output = &std::cerr;
  started_ = shown_ = now();
}

TWILL_BODY Progress::~Progress() {
  if (needs_newline_) *options_.output << std::endl;
}

TWILL_BODY void Progress::update(std::int64_t units) {
  advance(units, [] {});
}

TWILL_BODY void Progress::finish() {
  if (!is_finished_) show(now(), true);
}

TWILL_BODY double Progress::units_per_second() const {
  const double elapsed = elapsed_seconds();
  return elapsed > 0 ? static_cast<double>(done_) / elapsed : std::numeric_limits<double>::infinity();
}

TWILL_BODY void Progress::show(double time, bool is_last) {
  shown_ = time;
  is_finished_ = is_finished_ || is_last;
  if (options_.style == ProgressStyle::silent) return;
  if (options_.style == ProgressStyle::bar) {
    *options_.output << '\r' << line(time) << "\x1b[K"; // clears the rest of a longer line
    needs_newline_ = !is_last;
    if (is_last) *options_.output << '\n';
  } else {
    *options_.output << line(time) << '\n';
  }
  options_.output->flush();
}

TWILL_BODY std::string Progress::line(double time) const {
  const double share = total_ > 0 ? std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_)) : 1.0;
  const double elapsed = time - started_;
  std::string text = join_text({options_.title, options_.title.empty() ? "" : "  "});
  if (options_.style == ProgressStyle::bar) text += bar(share) + " ";
  const std::string percent = join_text({static_cast<int>(100 * share), "%"});
  text += std::string(4 - percent.size(), ' ') + percent;
  if (!std::isnan(loss_)) text += "  loss " + fixed(loss_, 4);
  const double rate = elapsed > 0 ? static_cast<double>(done_) / elapsed : std::numeric_limits<double>::infinity();
  text += join_text({"  ", detail::rate_text(rate), " ", options_.unit, "/s  ", detail::clock_text(elapsed)});
  const double left = done_ > 0 ? elapsed * (1 - share) / share : std::numeric_limits<double>::quiet_NaN();
  if (!is_finished_) text += join_text({" passed, ", detail::clock_text(left), " left"});
  return text;
}

TWILL_BODY std::string Progress::bar(double share) const {
  const int full = static_cast<int>(share * options_.bar_width);
  std::string text;
  for (int place = 0; place < options_.bar_width; ++place) text += place < full ? "━" : place == full ? "╸" : "─";
  return text;
}

}}} // namespace twill::v0::profile
