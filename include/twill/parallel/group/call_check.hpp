#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Validation of calls without communication: whether a call's numbers are consistent, its signature (ranks whose
// signatures differ have lost step), its text in messages, and which rank moves which elements. Every communicator
// checks its calls here, so equal mistakes have equal messages. Read next: parallel/group/basic_communicator.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// The part of a call that must be equal on all ranks. `count` is that of one rank's part.
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

/// Refuses an invalid call before it reaches any other rank: the group stays usable.
/// throws: ValueError
void check(const Call& call, int rank, int size);

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// Elements [begin, end).
struct Portion {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] constexpr std::int64_t count() const { return end - begin; }
};

/// A rank's range of `count` elements of a reduction, which it reduces from all ranks' sources into all targets: every
/// element is reduced once, in equal shares. Ranges do not change results, only where they are computed. They end on
/// multiples of 64, so that no two ranks write to one cache line.
[[nodiscard]] constexpr Portion share_of(std::int64_t count, int rank, int size) {
  const std::int64_t blocks = (count + 63) / 64;
  return {blocks * rank / size * 64, rank + 1 == size ? count : blocks * (rank + 1) / size * 64};
}

/// A part of `signature.count` elements copied from one rank's source to another's target, with its place in both.
struct Move {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

/// The part that rank `from` sends to rank `to`, perhaps itself, in a call that only copies.
[[nodiscard]] constexpr std::optional<Move> move_of(const Signature& call, int from, int to) {
  const std::int64_t n = call.count;
  switch (call.operation) {
  case Operation::all_gather:
    return Move{0, from * n};
  case Operation::gather:
    return to == call.root ? std::optional<Move>{{0, from * n}} : std::nullopt;
  case Operation::broadcast:
    return from == call.root && to != from ? std::optional<Move>{Move{}} : std::nullopt;
  case Operation::scatter:
    return from == call.root ? std::optional<Move>{{to * n, 0}} : std::nullopt;
  case Operation::all_to_all:
    return Move{to * n, from * n};
  default:
    return std::nullopt;
  }
}

/// The bytes that a rank sends and receives in a call.
[[nodiscard]] Transfer transfer_of(const Call& call, int rank, int size);

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/group/call_check.ipp>
#endif
