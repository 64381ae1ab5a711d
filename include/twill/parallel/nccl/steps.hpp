#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Translation of calls to NCCL: its numbers for element types and reductions, and the NCCL calls of one rank. NCCL has
// no gather, scatter, all_to_all with parts or barrier of this interface: they are sends and receives in one group, and
// a sum of one element. Plain values, tested on the host. Not in the umbrella. Read next: parallel/nccl/group.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/group/call_check.hpp>
#include <twill/parallel/group/communicator.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace nccl { inline namespace TWILL_ISA {

/// The results used here, with NCCL's numbers.
inline constexpr int success = 0;
inline constexpr int invalid_argument = 4;
inline constexpr int in_progress = 7;

/// The ncclDataType_t of an element type.
[[nodiscard]] constexpr int number_of(DType dtype) {
  constexpr int numbers[] = {1, 1, 2, 4, 6, 9, 7, 8}; // the types that `check` passes
  return numbers[static_cast<int>(dtype)];
}

/// ncclRedOp_t. Truth values are bytes there: their sum is a maximum, or it would be neither true nor false.
/// throws: ValueError for `any` and `all` of numbers, which NCCL does not have
[[nodiscard]] inline int number_of(Reduction reduction, DType dtype) {
  constexpr int sum = 0;
  constexpr int product = 1;
  constexpr int max = 2;
  constexpr int min = 3;
  constexpr int mean = 4;
  if (dtype == DType::boolean)
    return reduction == Reduction::sum || reduction == Reduction::max || reduction == Reduction::any ? max : min;
  switch (reduction) {
  case Reduction::sum:
    return sum;
  case Reduction::product:
    return product;
  case Reduction::max:
    return max;
  case Reduction::min:
    return min;
  case Reduction::mean:
    return mean;
  default:
    throw ValueError(join_text(
        {"nccl: ", name(reduction), " of ", name(dtype), " has no counterpart in NCCL; reduce truth values instead"}));
  }
}

enum class StepKind : std::uint8_t { all_reduce, reduce, reduce_scatter, all_gather, broadcast, send, receive };

/// One call of NCCL. `count` is that call's argument: elements of a part for reduce_scatter and all_gather.
struct Step {
  StepKind kind = StepKind::all_reduce;
  const void* source = nullptr;
  void* target = nullptr;
  std::int64_t count = 0;
  DType dtype = DType::float32;
  int operation = 0; ///< number_of(reduction)
  int peer = 0;      ///< root, destination or source
};

/// The steps that rank `rank` of `size` gives to NCCL for a call that `check` has passed. Several steps are one group.
/// `scratch` is a byte of device memory that is never read.
[[nodiscard]] inline std::vector<Step> steps_of(const Call& call, int rank, int size, void* scratch) {
  const Signature signature = signature_of(call, size);
  const std::int64_t count = signature.count;
  const DType dtype = signature.dtype;
  std::vector<Step> steps;
  const auto address = [&](const void* data, std::int64_t offset) {
    return const_cast<std::byte*>(static_cast<const std::byte*>(data)) +
           static_cast<std::size_t>(offset) * size_of(dtype);
  };
  const auto exchange = [&](StepKind kind, const void* data, std::int64_t offset, int peer) {
    void* const at = address(data, offset);
    steps.push_back({kind, at, at, count, dtype, 0, peer});
  };
  if (call.operation == Operation::barrier) {
    steps.push_back({StepKind::all_reduce, scratch, scratch, 1, DType::uint8, 0, 0});
    return steps;
  }
  if (count == 0) return steps;
  const int reduction = has_reduction(call.operation) ? number_of(call.reduction, dtype) : 0;
  const auto collective = [&](StepKind kind) {
    steps.push_back({kind, call.source.data, call.target.data, count, dtype, reduction, call.peer});
  };
  switch (call.operation) {
  case Operation::all_reduce:
    collective(StepKind::all_reduce);
    break;
  case Operation::reduce:
    collective(StepKind::reduce);
    break;
  case Operation::reduce_scatter:
    collective(StepKind::reduce_scatter);
    break;
  case Operation::all_gather:
    collective(StepKind::all_gather);
    break;
  case Operation::broadcast:
    collective(StepKind::broadcast);
    break;
  case Operation::gather:
  case Operation::scatter:
  case Operation::all_to_all: {
    const auto own = detail::move_of(signature, rank, rank);
    const bool stays = own && address(call.source.data, own->from) == address(call.target.data, own->to);
    for (int other = 0; other < size; ++other)
      if (const auto move = detail::move_of(signature, other, rank); move && !(stays && other == rank))
        exchange(StepKind::receive, call.target.data, move->to, other);
    for (int other = 0; other < size; ++other)
      if (const auto move = detail::move_of(signature, rank, other); move && !(stays && other == rank))
        exchange(StepKind::send, call.source.data, move->from, other);
    break;
  }
  case Operation::send:
    exchange(StepKind::send, call.source.data, 0, call.peer);
    break;
  case Operation::receive:
    exchange(StepKind::receive, call.target.data, 0, call.peer);
    break;
  default:
    break;
  }
  return steps;
}

}}}}} // namespace twill::v0::parallel::nccl::TWILL_ISA
