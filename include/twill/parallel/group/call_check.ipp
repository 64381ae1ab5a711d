#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/group/call_check.hpp.

#include <twill/parallel/group/call_check.hpp>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

TWILL_BODY Signature signature_of(const Call& call, int size) {
  Signature signature;
  signature.operation = call.operation;
  if (has_root(call.operation)) signature.root = call.peer;
  if (has_reduction(call.operation)) signature.reduction = call.reduction;
  switch (call.operation) {
  case Operation::barrier:
  case Operation::split:
    break;
  case Operation::all_to_all:
    signature.count = call.source.count / size;
    signature.dtype = call.source.dtype;
    break;
  case Operation::reduce_scatter:
  case Operation::scatter:
  case Operation::receive:
    signature.count = call.target.count;
    signature.dtype = call.target.dtype;
    break;
  default:
    signature.count = call.source.count;
    signature.dtype = call.source.dtype;
  }
  return signature;
}

TWILL_COLD TWILL_BODY std::string to_string(const Signature& signature) {
  if (signature.operation == Operation::barrier || signature.operation == Operation::split)
    return std::string(name(signature.operation));
  const bool reduces = has_reduction(signature.operation);
  std::string text = join_text({name(signature.operation), reduces ? "(" : "", reduces ? name(signature.reduction) : "",
                                reduces ? ")" : "", " of ", signature.count, " ", name(signature.dtype)});
  if (!has_root(signature.operation)) return text;
  const bool to_root = signature.operation == Operation::reduce || signature.operation == Operation::gather;
  return join_text({text, to_root ? " to rank " : " from rank ", signature.root});
}

TWILL_COLD TWILL_BODY std::string to_string(const Call& call, int size) {
  std::string text = to_string(signature_of(call, size));
  if (!is_point_to_point(call.operation)) return text;
  const std::string tag = call.tag != 0 ? join_text({" with tag ", call.tag}) : std::string{};
  return join_text({text, call.operation == Operation::send ? " to rank " : " from rank ", call.peer, tag});
}

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY bool overlap(ConstElements left, ConstElements right) {
  if (left.bytes() == 0 || right.bytes() == 0) return false;
  // as numbers, because pointers into different objects have no order
  const auto left_begin = reinterpret_cast<std::uintptr_t>(left.data);
  const auto right_begin = reinterpret_cast<std::uintptr_t>(right.data);
  return left_begin < right_begin + right.bytes() && right_begin < left_begin + left.bytes();
}

TWILL_BODY void require_parts(const Call& call, std::int64_t whole, std::int64_t part, int size,
                              const char* whole_name) {
  if (whole != part * size)
    throw ValueError(join_text(
        {name(call.operation), ": the ", whole_name, " holds ", size, " parts of ", part, " elements, got ", whole}));
}

TWILL_BODY void require_counts(const Call& call, int rank, int size) {
  const bool is_root = rank == call.peer;
  switch (call.operation) {
  case Operation::reduce:
    if (!is_root) return;
    [[fallthrough]];
  case Operation::all_reduce:
    if (call.source.count != call.target.count)
      throw ValueError(join_text({name(call.operation), ": source and target have equally many elements, got ",
                                  call.source.count, " and ", call.target.count}));
    return;
  case Operation::reduce_scatter:
    return require_parts(call, call.source.count, call.target.count, size, "source");
  case Operation::scatter:
    if (is_root) require_parts(call, call.source.count, call.target.count, size, "source");
    return;
  case Operation::all_gather:
    return require_parts(call, call.target.count, call.source.count, size, "target");
  case Operation::gather:
    if (is_root) require_parts(call, call.target.count, call.source.count, size, "target");
    return;
  case Operation::all_to_all:
    require_parts(call, call.source.count, call.source.count / size, size, "source");
    return require_parts(call, call.target.count, call.source.count / size, size, "target");
  default:
    return;
  }
}

TWILL_BODY bool may_share(const Call& call, int rank) {
  const auto* source = static_cast<const std::byte*>(call.source.data);
  const auto* target = static_cast<const std::byte*>(call.target.data);
  switch (call.operation) {
  case Operation::all_gather:
  case Operation::gather:
    return source == target + static_cast<std::size_t>(rank) * call.source.bytes();
  case Operation::reduce_scatter:
  case Operation::scatter:
    return target == source + static_cast<std::size_t>(rank) * call.target.bytes();
  case Operation::all_to_all:
    return false;
  default:
    return source == target;
  }
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

TWILL_BODY void check(const Call& call, int rank, int size) {
  const std::string_view where = name(call.operation);
  if (has_root(call.operation) || is_point_to_point(call.operation)) {
    if (call.peer < 0 || call.peer >= size)
      throw ValueError(join_text({where, ": a rank is in [0, ", size, "), got ", call.peer}));
    if (is_point_to_point(call.operation) && call.peer == rank)
      throw ValueError(join_text({where, ": rank ", rank, " names itself as its peer"}));
  }
  if (call.source.count < 0 || call.target.count < 0) throw ValueError(join_text({where, ": a count is at least 0"}));
  if (const DType dtype = signature_of(call, size).dtype; !is_model_type(dtype))
    throw ValueError(join_text({where, ": communicators carry the element types of models, bool to float64, got ",
                                name(dtype), "; convert the elements or send their bytes as uint8"}));
  if (has_reduction(call.operation) && call.reduction == Reduction::mean && !is_floating(call.source.dtype))
    throw ValueError(join_text(
        {where, ": a mean is one of floating-point elements, got ", name(call.source.dtype), "; reduce their sum"}));
  if (!reads_source(call, rank) || !writes_target(call, rank)) return; // nothing that could disagree
  detail::require_counts(call, rank, size);
  if (call.source.dtype != call.target.dtype)
    throw ValueError(join_text({where, ": source and target have one element type, got ", name(call.source.dtype),
                                " and ", name(call.target.dtype)}));
  if (detail::overlap(call.source, call.target) && !detail::may_share(call, rank))
    throw ValueError(join_text({where, ": source and target overlap"}));
}

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY Transfer transfer_of(const Call& call, int rank, int size) {
  const Signature shape = signature_of(call, size);
  const auto width = static_cast<std::int64_t>(size_of(shape.dtype));
  const std::int64_t part = shape.count * width;
  const std::int64_t own = share_of(shape.count, rank, size).count() * width;
  const std::int64_t others = size - 1;
  const bool is_root = rank == call.peer;
  Transfer copied{1, 0, 0};
  for (int other = 0; other < size; ++other) {
    if (other != rank && move_of(shape, rank, other)) copied.sent_bytes += part;
    if (other != rank && move_of(shape, other, rank)) copied.received_bytes += part;
  }
  switch (call.operation) {
  case Operation::all_reduce: // the others' shares go out and mine come in; then my result goes out and theirs come in
    return {1, part - own + own * others, own * others + part - own};
  case Operation::reduce:
    return {1, part - own + (is_root ? 0 : own), own * others + (is_root ? part - own : 0)};
  case Operation::reduce_scatter:
    return {1, part * others, part * others};
  case Operation::send:
    return {1, part, 0};
  case Operation::receive:
    return {1, 0, part};
  default:
    return copied;
  }
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
