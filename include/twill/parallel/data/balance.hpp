#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Balance of replicas in a step: rows, seconds and bytes of each. Read next: parallel/data/data_parallel_step.hpp.

#include <twill/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// One replica's share of a step.
struct ReplicaShare {
  std::string device{};   ///< its name in messages
  std::int64_t rows = 0;  ///< of the batch
  double seconds = 0;     ///< of forward, loss and backward
  std::int64_t bytes = 0; ///< of the device's pool in use after the step
};

/// The shares of all replicas.
struct Balance {
  std::vector<ReplicaShare> replicas{}; ///< one for each device

  /// The extra time of the slowest replica relative to the mean: 0 if all take equal time.
  [[nodiscard]] double imbalance_of_seconds() const;
  /// The extra rows of the largest replica relative to the mean.
  [[nodiscard]] double imbalance_of_rows() const;
  /// The extra bytes of the largest replica relative to the mean.
  [[nodiscard]] double imbalance_of_bytes() const;

private:
  template <class F> [[nodiscard]] double imbalance(const F& figure) const {
    double sum = 0;
    double largest = 0;
    for (const ReplicaShare& share : replicas) {
      sum += figure(share);
      largest = std::max(largest, figure(share));
    }
    return sum > 0 ? largest * static_cast<double>(replicas.size()) / sum - 1 : 0;
  }
};

/// A line for each replica, and the imbalances.
[[nodiscard]] std::string to_string(const Balance& balance);

}}}} // namespace twill::v0::parallel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/data/balance.ipp>
#endif
