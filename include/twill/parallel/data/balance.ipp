#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/data/balance.hpp.

#include <twill/parallel/data/balance.hpp>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

TWILL_BODY double Balance::imbalance_of_seconds() const {
  return imbalance([](const ReplicaShare& share) { return share.seconds; });
}

TWILL_BODY double Balance::imbalance_of_rows() const {
  return imbalance([](const ReplicaShare& share) { return static_cast<double>(share.rows); });
}

TWILL_BODY double Balance::imbalance_of_bytes() const {
  return imbalance([](const ReplicaShare& share) { return static_cast<double>(share.bytes); });
}

TWILL_BODY std::string to_string(const Balance& balance) {
  std::string text{};
  for (const ReplicaShare& share : balance.replicas)
    text += share.device + ": " + std::to_string(share.rows) + " rows, " + std::to_string(share.seconds * 1e3) +
            " ms, " + std::to_string(share.bytes) + " bytes\n";
  const auto percent = [](double ratio) { return std::to_string(std::lround(ratio * 100)) + "%"; };
  return text + "largest above mean: rows " + percent(balance.imbalance_of_rows()) + ", seconds " +
         percent(balance.imbalance_of_seconds()) + ", bytes " + percent(balance.imbalance_of_bytes()) + "\n";
}

}}}} // namespace twill::v0::parallel::TWILL_ISA
