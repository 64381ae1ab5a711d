#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/peaks.hpp.

#include <twill/profile/peaks.hpp>

namespace twill::inline v0::profile {

TWILL_BODY double Peaks::arithmetic(DType dtype) const {
  return dtype == DType::float64 ? double_flops_per_second : flops_per_second;
}

TWILL_BODY LimitShare limit_share(double bytes, double flops, DType dtype, double seconds, const Peaks& peaks) {
  const double arithmetic = peaks.arithmetic(dtype);
  const double for_bytes = peaks.bytes_per_second > 0 ? bytes / peaks.bytes_per_second : 0;
  const double for_flops = arithmetic > 0 ? flops / arithmetic : 0;
  if (seconds <= 0 || (for_bytes <= 0 && for_flops <= 0)) return {-1, false};
  return {std::max(for_bytes, for_flops) / seconds, for_flops > for_bytes};
}

} // namespace twill::inline v0::profile
