#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Copies of a few bytes at the ends of rows, in pieces of fixed sizes and zero-padded registers: the calls, branches
// and stalls of a general copy would cost more than the computation. Read next: kernel/tail.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/pack.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace vector_detail {

/// Copies fewer than twice `Most` bytes in pieces of fixed sizes: a general copy costs more than a small kernel.
template <int Most> TWILL_INLINE void copy_few(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if constexpr (Most > 0) {
    if ((bytes & Most) != 0) {
      std::memcpy(to, from, Most);
      to += Most;
      from += Most;
    }
    copy_few<Most / 2>(to, from, bytes);
  }
}

TWILL_INLINE void copy_elements(std::byte* to, std::int64_t to_stride, const std::byte* from, std::int64_t from_stride,
                                std::int64_t elements, std::int64_t size) {
  if (to_stride == 1 && from_stride == 1) [[likely]] {
    const std::int64_t bytes = elements * size;
    if (bytes < 2 * vector_bytes) [[likely]]
      copy_few<vector_bytes>(to, from, bytes);
    else
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  for (std::int64_t i = 0; i < elements; ++i)
    std::memcpy(to + i * to_stride * size, from + i * from_stride * size, static_cast<std::size_t>(size));
}

/// A register of bytes: all copies here are multiples of it, or fit in one.
using RegisterBytes = Pack<signed char, vector_bytes>;
TWILL_INLINE signed char* byte_address(std::byte* at) { return reinterpret_cast<signed char*>(at); }
TWILL_INLINE const signed char* byte_address(const std::byte* at) { return reinterpret_cast<const signed char*>(at); }

void clear_bytes(std::byte* to, std::int64_t bytes);
void copy_bytes(std::byte* to, std::byte* from, std::int64_t bytes);
/// Keeps the bytes [first, last) of a vector and restores the others.
void restore_bytes(std::byte* vector, std::byte* before, std::int64_t bytes, std::int64_t first, std::int64_t last);

/// Fills a whole register's bytes in memory: `bytes` from elsewhere, the others zero. One whole store, from which the
/// loop's load can take its value at once; a load of half or a quarter of a register can be forwarded from a store of
/// that size, a masked load cannot. requires: 0 < bytes < vector_bytes
TWILL_INLINE void fill_register(std::byte* to, const std::byte* from, std::int64_t bytes) {
#if defined(__AVX512BW__) && !TWILL_NVCC
  typedef char Whole __attribute__((vector_size(64)));
  typedef char Half __attribute__((vector_size(32), aligned(1), may_alias));
  Whole value;
  if (bytes == 32) {
    const Half half = *reinterpret_cast<const Half*>(from);
    value =
        __builtin_shufflevector(half, Half{}, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                                21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42,
                                43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63);
  } else {
    const unsigned long long mask = (1ULL << bytes) - 1;
#if defined(__clang__)
    const auto* address = reinterpret_cast<const Whole*>(from);
#else
    const auto* address = reinterpret_cast<const char*>(from);
#endif
    value = (Whole)__builtin_ia32_loaddquqi512_mask(address, Whole{}, mask);
  }
  *reinterpret_cast<Whole*>(to) = value;
#else
  alignas(vector_bytes) std::byte value[vector_bytes] = {};
  copy_few<vector_bytes / 2>(value, from, bytes);
  std::memcpy(to, value, vector_bytes);
#endif
}

/// Copies bytes from elsewhere, then zeros: `room` bytes in all, whole registers or less than one.
TWILL_INLINE void fill_pack(std::byte* to, const std::byte* from, std::int64_t bytes, std::int64_t room) {
  for (std::int64_t b = 0; b < room; b += vector_bytes) {
    const std::int64_t rest = bytes - b;
    if (rest >= vector_bytes)
      store(byte_address(to + b), load<signed char, vector_bytes>(byte_address(from + b)));
    else if (rest > 0)
      fill_register(to + b, from + b, rest);
    else
      store(byte_address(to + b), RegisterBytes{0});
  }
}

/// Makes copies of a row, one after another; up to a register's bytes after them may change. requires: bytes > 0
void repeat(std::byte* to, const std::byte* row, std::int64_t bytes, std::int64_t times);

}}}}} // namespace twill::v0::kernel::TWILL_ISA::vector_detail

#if TWILL_HEADER_ONLY
#include <twill/kernel/bytes.ipp>
#endif
