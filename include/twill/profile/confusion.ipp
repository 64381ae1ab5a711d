#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/confusion.hpp.

#include <twill/profile/confusion.hpp>

namespace twill { inline namespace v0 { namespace profile {

TWILL_BODY std::int64_t ConfusionMatrix::count(std::int64_t actual, std::int64_t predicted) const {
  return counts_[place(actual, predicted)];
}

TWILL_BODY std::int64_t ConfusionMatrix::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
}

TWILL_BODY double ConfusionMatrix::accuracy() const {
  std::int64_t right = 0;
  for (std::int64_t c = 0; c < classes(); ++c) right += count(c, c);
  return ratio(right, total());
}

TWILL_BODY double ConfusionMatrix::precision(std::int64_t predicted) const {
  std::int64_t called = 0;
  for (std::int64_t actual = 0; actual < classes(); ++actual) called += count(actual, predicted);
  return ratio(count(predicted, predicted), called);
}

TWILL_BODY double ConfusionMatrix::recall(std::int64_t actual) const {
  std::int64_t present = 0;
  for (std::int64_t predicted = 0; predicted < classes(); ++predicted) present += count(actual, predicted);
  return ratio(count(actual, actual), present);
}

TWILL_BODY std::pair<std::int64_t, std::int64_t> ConfusionMatrix::present_and_called(std::int64_t of) const {
  std::int64_t present = 0, called = 0;
  for (std::int64_t c = 0; c < classes(); ++c) {
    present += count(of, c);
    called += count(c, of);
  }
  return {present, called};
}

TWILL_BODY double ConfusionMatrix::f1(std::int64_t of) const {
  const auto [present, called] = present_and_called(of);
  return ratio(2 * count(of, of), present + called);
}

TWILL_BODY double ConfusionMatrix::macro_f1() const {
  double total = 0;
  for (std::int64_t c = 0; c < classes(); ++c) total += f1(c);
  return classes() == 0 ? 0 : total / static_cast<double>(classes());
}

TWILL_BODY double ConfusionMatrix::iou(std::int64_t of) const {
  const auto [present, called] = present_and_called(of);
  return ratio(count(of, of), present + called - count(of, of));
}

TWILL_BODY double ConfusionMatrix::mean_iou() const {
  double total = 0;
  std::int64_t seen = 0;
  for (std::int64_t c = 0; c < classes(); ++c) {
    const auto [present, called] = present_and_called(c);
    if (present + called == 0) continue;
    total += iou(c);
    ++seen;
  }
  return seen == 0 ? 0 : total / static_cast<double>(seen);
}

TWILL_BODY std::size_t ConfusionMatrix::place(std::int64_t actual, std::int64_t predicted) const {
  for (const std::int64_t c : {actual, predicted})
    if (c < 0 || c >= classes())
      throw IndexError(join_text({"confusion: there are ", classes(), " classes, got class ", c}));
  return static_cast<std::size_t>(actual * classes() + predicted);
}

TWILL_BODY double ConfusionMatrix::ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}}} // namespace twill::v0::profile
