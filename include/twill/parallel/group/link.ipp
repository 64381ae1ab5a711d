#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/group/link.hpp.

#include <twill/parallel/group/link.hpp>

namespace twill::inline v0::parallel {

TWILL_BODY Link fit_link(const std::vector<TimedBytes>& messages) {
  double ones = 0, x = 0, xx = 0, y = 0, xy = 0; // sums, weighted by 1 / time^2
  bool differ = false;
  for (const TimedBytes& message : messages) {
    if (!(message.time_s > 0))
      throw ValueError(join_text({"fit_link: a message takes a positive time, one of ",
                                  static_cast<std::int64_t>(message.bytes), " bytes took none"}));
    differ = differ || message.bytes != messages.front().bytes;
    const double weight = 1 / (message.time_s * message.time_s);
    ones += weight;
    x += weight * message.bytes;
    xx += weight * message.bytes * message.bytes;
    y += weight * message.time_s;
    xy += weight * message.bytes * message.time_s;
  }
  if (!differ) throw ValueError("fit_link: messages of two sizes at least are needed");
  double per_byte = (ones * xy - x * y) / (ones * xx - x * x);
  double latency = (y - per_byte * x) / ones;
  if (latency < 0) latency = 0, per_byte = xy / xx;   // the best line through nothing
  if (per_byte < 0) per_byte = 0, latency = y / ones; // the best level
  return {per_byte > 0 ? 1 / per_byte : 0, latency};
}

} // namespace twill::inline v0::parallel
