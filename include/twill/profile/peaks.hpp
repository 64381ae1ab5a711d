#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What a device reaches at best, so that the time of a node can be held against it. Read next: profile/measured_peaks.hpp,
// which measures it, and profile/trace.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>

#include <algorithm>
#include <string>

namespace twill::inline v0::profile {

/// The limits of a device; zero where one is not known.
struct Peaks {
  std::string device{};               ///< "cpu:0"
  double bytes_per_second = 0;        ///< of memory, read and written
  double flops_per_second = 0;        ///< on float32
  double double_flops_per_second = 0; ///< on float64

  /// Operations of arithmetic a second on elements of this type; narrower ones than float32 are held against float32.
  [[nodiscard]] double arithmetic(DType dtype) const;
};

/// How much of a limit something used, and which of the two binds.
struct LimitShare {
  double share = 0;           ///< negative where it is not known; above one where data came from caches
  bool is_arithmetic = false; ///< whether arithmetic bounds it rather than memory
};

/// The time that the limits alone would take over the time that it took.
[[nodiscard]] LimitShare limit_share(double bytes, double flops, DType dtype, double seconds, const Peaks& peaks);

} // namespace twill::inline v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/peaks.ipp>
#endif
