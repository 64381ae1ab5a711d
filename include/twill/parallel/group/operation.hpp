#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Operations and reductions of a group by name, and the bytes of elements that an operation moves. `split` is an
// operation because ranks have to make it in step like any collective call; `send` and `receive` are the two sides of a
// message. The mean is computed in the pass of the sum: divided by the number of ranks, in the type of partial results,
// and rounded once. Read next: parallel/group/communicator.hpp.

#include <twill/core/config.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Reductions; `mean` is for floating-point elements.
enum class Reduction : std::uint8_t { sum, product, max, min, any, all, mean };

/// The name of a reduction in messages.
[[nodiscard]] constexpr std::string_view name(Reduction reduction) {
  constexpr std::string_view names[] = {"sum", "product", "max", "min", "any", "all", "mean"};
  return names[static_cast<int>(reduction)];
}

/// The kinds of calls of a communicator.
enum class Operation : std::uint8_t {
  all_reduce,
  reduce,
  reduce_scatter,
  all_gather,
  gather,
  broadcast,
  scatter,
  all_to_all,
  barrier,
  split,
  send,
  receive,
};

/// The number of kinds of operation.
inline constexpr std::size_t operation_count = 12;

/// The name of an operation in messages.
[[nodiscard]] constexpr std::string_view name(Operation operation) {
  constexpr std::string_view names[] = {"all_reduce", "reduce",    "reduce_scatter", "all_gather",
                                        "gather",     "broadcast", "scatter",        "all_to_all",
                                        "barrier",    "split",     "send",           "receive"};
  return names[static_cast<int>(operation)];
}

/// The bytes that one rank has sent and received, and the number of calls.
struct Transfer {
  std::int64_t calls = 0;          ///< their number
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

/// Transfers by operation.
class OperationTraffic {
public:
  [[nodiscard]] constexpr const Transfer& operator[](Operation operation) const {
    return transfers_[static_cast<std::size_t>(operation)];
  }
  /// Counts one more call of an operation.
  constexpr void add(Operation operation, const Transfer& transfer) {
    transfers_[static_cast<std::size_t>(operation)] += transfer;
  }
  /// Counts one more call of an operation, beside other threads that do the same.
  void add_shared(Operation operation, const Transfer& transfer) {
    Transfer& own = transfers_[static_cast<std::size_t>(operation)];
    std::atomic_ref{own.calls}.fetch_add(transfer.calls, std::memory_order_relaxed);
    std::atomic_ref{own.sent_bytes}.fetch_add(transfer.sent_bytes, std::memory_order_relaxed);
    std::atomic_ref{own.received_bytes}.fetch_add(transfer.received_bytes, std::memory_order_relaxed);
  }

  /// The sum over all operations.
  [[nodiscard]] constexpr Transfer total() const {
    Transfer sum;
    for (const Transfer& transfer : transfers_) sum += transfer;
    return sum;
  }
  friend constexpr bool operator==(const OperationTraffic&, const OperationTraffic&) = default;

private:
  std::array<Transfer, operation_count> transfers_{};
};

}}}} // namespace twill::v0::parallel::TWILL_ISA
