#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What can be said about a call without any communication: whether its own numbers fit each other, what it looks like to the
// other ranks (its signature: ranks whose signatures differ have lost step), and how it reads in a message. Every model
// of `Communicator` checks its calls here, so all of them refuse the same mistakes with the same words.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/group/communicator.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace twill::inline v0::parallel::inline TWILL_ISA {

/// The part of a call that has to be equal on all ranks. `count` is that of one rank's part.
struct Signature {
  Operation operation = Operation::barrier;
  std::int64_t count = 0;
  DType dtype = DType::float32;
  int root = 0;
  Reduction reduction = Reduction::sum;

  friend bool operator==(const Signature&, const Signature&) = default;
};

[[nodiscard]] constexpr bool has_root(Operation operation) {
  return operation == Operation::reduce || operation == Operation::gather || operation == Operation::broadcast ||
         operation == Operation::scatter;
}

[[nodiscard]] constexpr bool has_reduction(Operation operation) {
  return operation == Operation::all_reduce || operation == Operation::reduce || operation == Operation::reduce_scatter;
}

[[nodiscard]] constexpr bool is_point_to_point(Operation operation) {
  return operation == Operation::send || operation == Operation::receive;
}

[[nodiscard]] Signature signature_of(const Call& call, int size);

/// "all_reduce(max) of 10 float32", "broadcast of 3 int64 from rank 0", "send of 5 float32 to rank 1".
[[nodiscard]] std::string to_string(const Signature& signature);

[[nodiscard]] std::string to_string(const Call& call, int size);

/// Whether this rank's source is read in a call.
[[nodiscard]] constexpr bool reads_source(const Call& call, int rank) {
  switch (call.operation) {
  case Operation::barrier:
  case Operation::split:
  case Operation::receive:
    return false;
  case Operation::scatter:
  case Operation::broadcast:
    return rank == call.peer;
  default:
    return true;
  }
}

/// Whether this rank's target is written in a call.
[[nodiscard]] constexpr bool writes_target(const Call& call, int rank) {
  switch (call.operation) {
  case Operation::barrier:
  case Operation::split:
  case Operation::send:
    return false;
  case Operation::reduce:
  case Operation::gather:
    return rank == call.peer;
  case Operation::broadcast:
    return rank != call.peer;
  default:
    return true;
  }
}

} // namespace twill::inline v0::parallel::inline TWILL_ISA

namespace twill::inline v0::parallel::detail::inline TWILL_ISA {

[[nodiscard]] bool overlap(ConstElements left, ConstElements right);

void require_parts(const Call& call, std::int64_t whole, std::int64_t part, int size, const char* whole_name);

void require_counts(const Call& call, int rank, int size);

/// Where source and target may be the same memory: see `Call`.
[[nodiscard]] bool may_share(const Call& call, int rank);

} // namespace twill::inline v0::parallel::detail::inline TWILL_ISA

namespace twill::inline v0::parallel::inline TWILL_ISA {

/// Refuses a call that is wrong by itself, before any other rank hears of it: the group stays usable.
/// throws: ValueError
void check(const Call& call, int rank, int size);

} // namespace twill::inline v0::parallel::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/group/call_check.ipp>
#endif
