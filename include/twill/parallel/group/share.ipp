#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/group/share.hpp.

#include <twill/parallel/group/share.hpp>

namespace twill::inline v0::parallel::detail::inline TWILL_ISA {

TWILL_BODY Transfer transfer_of(const Call& call, int rank, int size) {
  const Signature shape = signature_of(call, size);
  const auto width = static_cast<std::int64_t>(size_of(shape.dtype));
  const std::int64_t part = shape.count * width;
  const std::int64_t own = share_of(shape.count, rank, size).count() * width;
  const std::int64_t others = size - 1;
  const bool is_root = rank == call.peer;
  switch (call.operation) {
  case Operation::all_reduce: // the others' shares go out and mine come in; then my result goes out and theirs come in
    return {1, part - own + own * others, own * others + part - own};
  case Operation::reduce:
    return {1, part - own + (is_root ? 0 : own), own * others + (is_root ? part - own : 0)};
  case Operation::reduce_scatter:
  case Operation::all_gather:
  case Operation::all_to_all:
    return {1, part * others, part * others};
  case Operation::gather:
    return {1, is_root ? 0 : part, is_root ? part * others : 0};
  case Operation::broadcast:
  case Operation::scatter:
    return {1, is_root ? part * others : 0, is_root ? 0 : part};
  case Operation::send:
    return {1, part, 0};
  case Operation::receive:
    return {1, 0, part};
  default:
    return {1, 0, 0};
  }
}

} // namespace twill::inline v0::parallel::detail::inline TWILL_ISA
