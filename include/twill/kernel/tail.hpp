#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// One stage of a program over any number of elements. The last few, which do not fill a pack, are copied to a small buffer,
// go through the very same loop there, and are copied back: no second body, and nothing outside the row is touched.
// Read next: kernel/rows.hpp.

#include <twill/kernel/pack.hpp>
#include <twill/kernel/table.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace twill::inline v0::kernel::inline TWILL_ISA {

namespace vector_detail {

inline constexpr int pack_room = vector_bytes * 8; ///< bytes that hold a pack of any type: at most 64 lanes of 8 bytes

inline void copy_elements(std::byte* to, std::int64_t to_stride, const std::byte* from, std::int64_t from_stride,
                          std::int64_t elements, std::int64_t size) {
  if (to_stride == 1 && from_stride == 1) [[likely]] {
    std::memcpy(to, from, static_cast<std::size_t>(elements * size));
    return;
  }
  for (std::int64_t i = 0; i < elements; ++i)
    std::memcpy(to + i * to_stride * size, from + i * from_stride * size, static_cast<std::size_t>(size));
}

/// The first entries of a cursor.
TWILL_INLINE void copy_cursor(Cursor& to, const Cursor& from, int operands) {
  for (int o = 0; o < operands; ++o) {
    to.at[o] = from.at[o];
    to.stride[o] = from.stride[o];
    to.mode[o] = from.mode[o];
  }
}

/// A register of bytes: all that is copied here is a multiple of it, or fits in one.
using RegisterBytes = Pack<signed char, vector_bytes>;
TWILL_INLINE signed char* byte_address(std::byte* at) { return reinterpret_cast<signed char*>(at); }

inline void clear_bytes(std::byte* to, std::int64_t bytes) {
  for (std::int64_t b = 0; b < bytes; b += vector_bytes) store(byte_address(to + b), RegisterBytes{0});
}
inline void copy_bytes(std::byte* to, std::byte* from, std::int64_t bytes) {
  for (std::int64_t b = 0; b < bytes; b += vector_bytes)
    store(byte_address(to + b), load<signed char, vector_bytes>(byte_address(from + b)));
}
/// Keeps the bytes [first, last) of a vector and restores the others.
inline void restore_bytes(std::byte* vector, std::byte* before, std::int64_t bytes, std::int64_t first,
                          std::int64_t last) {
  const RegisterBytes numbers = lane_numbers<signed char, vector_bytes>();
  const auto clamped = [](std::int64_t x) {
    return RegisterBytes{static_cast<signed char>(x < 0 ? 0 : x > vector_bytes ? vector_bytes : x)};
  };
  for (std::int64_t b = 0; b < bytes; b += vector_bytes) {
    const auto keeps = (numbers >= clamped(first - b)) & (numbers < clamped(last - b));
    // a vector narrower than a register is followed by other vectors: of those, every byte beyond `bytes` is kept
    const auto beyond = numbers >= clamped(bytes - b);
    store(byte_address(vector + b), select(keeps | beyond, load<signed char, vector_bytes>(byte_address(vector + b)),
                                           load<signed char, vector_bytes>(byte_address(before + b))));
  }
}

/// A register's first bytes, the others zero, when the instruction set can and all fits: one whole store, which the loop's
/// load can take its value from at once. Returns whether it was done.
TWILL_INLINE bool load_first([[maybe_unused]] std::byte* to, [[maybe_unused]] const std::byte* from,
                             [[maybe_unused]] std::int64_t bytes, [[maybe_unused]] std::int64_t room) {
#if defined(__AVX512BW__) && !TWILL_NVCC
  if (room > 64) return false;
  typedef char Vector __attribute__((vector_size(64)));
  const unsigned long long mask = bytes >= 64 ? ~0ULL : (1ULL << bytes) - 1;
#if defined(__clang__)
  const auto* address = reinterpret_cast<const Vector*>(from);
#else
  const auto* address = reinterpret_cast<const char*>(from);
#endif
  *reinterpret_cast<Vector*>(to) = (Vector)__builtin_ia32_loaddquqi512_mask(address, Vector{}, mask);
  return true;
#else
  return false;
#endif
}

/// How a stage walks an input or output.
[[nodiscard]] inline std::int64_t stride_of(const OperandInfo& info, const Cursor& where, int operand) {
  if (info.role == OperandInfo::Role::output)
    return where.mode[operand] == StoreMode::scatter ? where.stride[operand] : 1;
  return info.contiguous ? 1 : where.stride[operand];
}

/// The last `rest` elements before `end`.
[[gnu::noinline]] inline void run_tail(const ProgramTable& program, int stage, const Cursor& where,
                                       const std::byte* shared, std::byte* partial, const ScratchRows& scratch,
                                       std::int64_t begin, std::int64_t end, std::int64_t rest) {
  using Role = OperandInfo::Role;
  alignas(64) std::byte buffer[max_operands][pack_room];
  const int lanes = program.lanes;
  // the last pack of a longer row can be read where it lies, over elements that are done
  const bool is_short = end - begin < lanes;
  const std::int64_t j = is_short ? begin : end - lanes;
  const std::int64_t live = end - rest - j;
  Cursor at;
  copy_cursor(at, where, program.operands);
  for (int o = 0; o < program.operands; ++o) {
    const OperandInfo& info = program.operand[o];
    const bool is_output = info.role == Role::output;
    if (((info.stages >> stage) & 1U) == 0 || !(is_output || (is_short && info.role == Role::input))) continue;
    at.at[o] = reinterpret_cast<std::int64_t>(buffer[o]) - j * info.bytes;
    at.stride[o] = 1;
    at.mode[o] = StoreMode::plain;
    if (is_output) continue;
    const std::int64_t stride = stride_of(info, where, o);
    auto* from = reinterpret_cast<std::byte*>(where.at[o] + j * stride * info.bytes);
    if (stride == 1 && load_first(buffer[o], from, rest * info.bytes, lanes * info.bytes)) continue;
    clear_bytes(buffer[o], std::int64_t{lanes} * info.bytes);
    copy_elements(buffer[o], 1, from, stride, rest, info.bytes);
  }
  if (!program.reduces) {
    program.stage[stage](at, shared, partial, scratch, j, j + lanes, false);
  } else {
    alignas(64) std::byte before[max_accumulator_bytes + vector_bytes];
    copy_bytes(before, partial, program.block_bytes[stage]);
    program.stage[stage](at, shared, partial, scratch, j, j + lanes, true);
    // undoes what the lanes outside of the tail added
    for (int r = 0; r < program.reductions; ++r) {
      const ReductionInfo& info = program.reduction[r];
      if (info.stage != stage) continue;
      restore_bytes(partial + info.offset, before + info.offset, std::int64_t{lanes} * info.lane_bytes,
                    live * info.lane_bytes, (live + rest) * info.lane_bytes);
    }
  }
  for (int o = 0; o < program.operands; ++o) {
    const OperandInfo& info = program.operand[o];
    if (((info.stages >> stage) & 1U) == 0 || info.role != Role::output) continue;
    const std::int64_t stride = stride_of(info, where, o);
    copy_elements(reinterpret_cast<std::byte*>(where.at[o] + (end - rest) * stride * info.bytes), stride,
                  buffer[o] + live * info.bytes, 1, rest, info.bytes);
  }
}

/// Notes how many elements of each operand a stage touches.
inline void count_stage(const ProgramTable& program, int stage, std::int64_t elements) {
  if (program.count == nullptr) return;
  for (int o = 0; o < program.operands; ++o) {
    const OperandInfo& info = program.operand[o];
    const bool is_output = info.role == OperandInfo::Role::output;
    if (((info.stages >> stage) & 1U) != 0 && (is_output || info.role == OperandInfo::Role::input))
      program.count(o, is_output, elements);
  }
}

} // namespace vector_detail

/// A stage without reductions over the elements [begin, end) of a row.
inline void run_map(const ProgramTable& program, const Cursor& where, const std::byte* shared, std::int64_t begin,
                    std::int64_t end) {
  vector_detail::count_stage(program, 0, end - begin);
  const std::int64_t rest = (end - begin) % program.lanes;
  if (begin + program.lanes <= end) program.stage[0](where, shared, nullptr, {}, begin, end - rest, false);
  if (rest != 0) vector_detail::run_tail(program, 0, where, shared, nullptr, {}, begin, end, rest);
}

/// A stage over the elements [begin, end) of a row; leaves its reductions among the values that the row shares.
inline void run_stage(const ProgramTable& program, int stage, const Cursor& where, const std::byte* shared,
                      std::byte* result, const ScratchRows& scratch, std::int64_t begin, std::int64_t end) {
  vector_detail::count_stage(program, stage, end - begin);
  alignas(64) std::byte partial[max_accumulator_bytes + vector_bytes];
  const std::int64_t rest = (end - begin) % program.lanes;
  program.stage[stage](where, shared, partial, scratch, begin, end - rest, false);
  if (rest != 0) vector_detail::run_tail(program, stage, where, shared, partial, scratch, begin, end, rest);
  for (int r = 0; r < program.reductions; ++r) {
    const ReductionInfo& info = program.reduction[r];
    if (info.stage == stage)
      info.finish(partial + info.offset, program.block_bytes[stage], result + info.line * shared_slot_bytes);
  }
}

} // namespace twill::inline v0::kernel::inline TWILL_ISA
