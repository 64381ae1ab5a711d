#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Bytes of ring attention on each rank, before anything is compiled: what it sends, keeps for the backward pass and
// takes while it works. Memory does not depend on the number of ranks, only on the rows of one of them; traffic of a
// rank does not depend on how many rows there are in all, only on those of the other ranks. The bytes of a whole step
// are known to the byte by `step.memory(...)`. Not in twill.hpp. Read next: ops/ring_attention.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/ops/ring_attention.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// One call of ring attention, with as many queries as keys.
struct RingAttentionShape {
  std::int64_t batch = 1;       ///< the product of all leading axes, heads among them
  std::int64_t rows = 0;        ///< of one rank
  std::int64_t width = 0;       ///< of queries and keys
  std::int64_t value_width = 0; ///< of values
  std::int64_t ranks = 1;       ///< round the ring
  DType dtype = DType::float32; ///< of queries, keys and values
  bool is_causal = false;       ///< as in the call's options
  graph::SequenceDivision division = graph::SequenceDivision::contiguous; ///< as in the call's options
};

/// Bytes of one rank.
struct RingAttentionBytes {
  std::int64_t sent_forward = 0;  ///< by the forward pass; as many are received
  std::int64_t sent_backward = 0; ///< by the backward pass; as many are received
  std::int64_t kept = 0;          ///< from the forward to the backward pass: queries, keys, values, result, logsumexp
  /// At most, in the forward pass on a host, beside queries, keys, values and result.
  std::int64_t working_forward = 0;
  /// At most, in the backward pass on a host, beside what is kept and the result's gradient; the three gradients, which
  /// it makes, are among them.
  std::int64_t working_backward = 0;
};

/// The bytes that one rank sends, keeps and takes. Keys and values travel ranks - 1 times in each pass in their own
/// type; their gradients travel `ranks` times in the type of the computation, float32 for types of 16 bits.
[[nodiscard]] constexpr RingAttentionBytes ring_attention_bytes(const RingAttentionShape& shape) {
  const auto size = static_cast<std::int64_t>(size_of(shape.dtype));
  const std::int64_t computed_size = computed_bytes(shape.dtype);
  const std::int64_t row = shape.batch * shape.rows;
  const std::int64_t keys = row * (shape.width + shape.value_width) * size; // with their values
  const std::int64_t queries = row * shape.width * size;
  const std::int64_t wide_keys = keys / size * computed_size; // in the type of the computation
  const std::int64_t wide_queries = queries / size * computed_size;
  const std::int64_t result = row * shape.value_width * computed_size;
  const std::int64_t numbers = row * computed_size; // one for each row
  const std::int64_t casts = size == computed_size ? 0 : wide_queries + wide_keys;
  RingAttentionBytes bytes{};
  bytes.kept = queries + keys + result + numbers;
  if (shape.ranks == 1) {
    bytes.working_forward = numbers + casts;
    bytes.working_backward = wide_queries + wide_keys + numbers + casts;
    return bytes;
  }
  bytes.sent_forward = (shape.ranks - 1) * keys;
  bytes.sent_backward = (shape.ranks - 1) * keys + shape.ranks * wide_keys;
  if (!shape.is_causal || shape.division == graph::SequenceDivision::contiguous) {
    // Results before, of the block, and together; keys and values of the block.
    bytes.working_forward = 3 * result + keys + 4 * numbers + casts;
    // Gradients by queries before, of the block, and together; those by keys and values before and of the block.
    bytes.working_backward = 3 * wide_queries + 2 * wide_keys + keys + 2 * numbers + casts;
    return bytes;
  }
  // Halves apart, and one more half of queries, keys and values, which is chosen from two.
  const std::int64_t chosen = (queries + keys) / 2;
  bytes.working_forward = queries + keys + chosen + 2 * result + 5 * numbers + casts;
  bytes.working_backward =
      queries + result + keys + chosen + result / 2 + 2 * (wide_queries + wide_keys) + 3 * numbers + casts;
  return bytes;
}

}}}} // namespace twill::v0::parallel::TWILL_ISA
