#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// How many bytes of elements leave a rank for its peers and come to it from them, by operation: headers, acknowledgements
// and copies within a rank do not count. Models that share or send parts as parallel/group/share.hpp cuts them move equally many,
// so a plan of the bytes holds for threads and for processes. Read next: parallel/group/communicator.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/group/operation.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace twill::inline v0::parallel::inline TWILL_ISA {

/// What one rank has sent and received, and in how many calls.
struct Transfer {
  std::int64_t calls = 0;          ///< how many
  std::int64_t sent_bytes = 0;     ///< by this rank
  std::int64_t received_bytes = 0; ///< by this rank

  constexpr Transfer& operator+=(const Transfer& other) {
    calls += other.calls;
    sent_bytes += other.sent_bytes;
    received_bytes += other.received_bytes;
    return *this;
  }
  friend constexpr bool operator==(const Transfer&, const Transfer&) = default;
};

/// The same for each operation.
class OperationTraffic {
public:
  [[nodiscard]] constexpr const Transfer& operator[](Operation operation) const {
    return transfers_[static_cast<std::size_t>(operation)];
  }
  /// Counts one more call of an operation.
  constexpr void add(Operation operation, const Transfer& transfer) {
    transfers_[static_cast<std::size_t>(operation)] += transfer;
  }

  /// Of all operations together.
  [[nodiscard]] constexpr Transfer total() const {
    Transfer sum;
    for (const Transfer& transfer : transfers_) sum += transfer;
    return sum;
  }
  friend constexpr bool operator==(const OperationTraffic&, const OperationTraffic&) = default;

private:
  std::array<Transfer, operation_count> transfers_{};
};

} // namespace twill::inline v0::parallel::inline TWILL_ISA
