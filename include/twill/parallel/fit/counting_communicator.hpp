#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Communicator that counts what a rank would send: its calls end at once and move nothing, and their traffic is that
// which real communicators count. Not in twill.hpp. Read next: parallel/fit/layer_traffic.hpp,
// parallel/fit/pipeline_replay.hpp.

#include <twill/core/config.hpp>
#include <twill/device/meta/meta.hpp>
#include <twill/parallel/group/call_check.hpp>
#include <twill/parallel/group/communicator.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

/// A rank of a group whose messages arrive at once and nowhere.
class CountingCommunicator {
public:
  using Device = Meta;

  /// A finished call.
  struct Handle {
    void wait() {}
    [[nodiscard]] bool is_done() const { return true; }
  };

  CountingCommunicator(int rank, int size) : rank_{rank}, size_{size}, sent_to_(static_cast<std::size_t>(size), 0) {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] Meta device() const { return Meta{}; }
  [[nodiscard]] std::int64_t timeout_ms() const { return 0; }
  [[nodiscard]] const OperationTraffic& traffic() const { return traffic_; }
  /// The bytes of messages to each rank.
  [[nodiscard]] const std::vector<std::int64_t>& sent_to() const { return sent_to_; }
  void run(const Call& call) { static_cast<void>(start(call)); }
  Handle start(const Call& call) {
    const Transfer transfer = parallel::detail::transfer_of(call, rank_, size_);
    traffic_.add(call.operation, transfer);
    if (call.operation == Operation::send) sent_to_[static_cast<std::size_t>(call.peer)] += transfer.sent_bytes;
    return {};
  }
  [[nodiscard]] CountingCommunicator split(int, int) const { return *this; }
  void fail(const std::exception_ptr&) {}

private:
  int rank_;
  int size_;
  OperationTraffic traffic_{};
  std::vector<std::int64_t> sent_to_;
};
static_assert(Communicator<CountingCommunicator>);

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA
