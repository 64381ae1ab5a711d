#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Blocks of values in the memory format of interpreted programs, and loops over their packs for block functions.
// Not in the umbrella. Read next: kernel/block_functions.hpp.

#include <twill/core/dtype.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/apply_pack.hpp>
#include <twill/kernel/body.hpp>
#include <twill/kernel/pack.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// The bytes of a shared argument: a pack of the type with the most lanes, or two registers.
inline constexpr int shared_pack_bytes = 2 * vector_bytes;

/// An argument of a block function.
struct BlockArgument {
  const std::byte* at = nullptr;
  bool moves = true; ///< along the block; otherwise `at` holds `shared_pack_bytes` that all elements share
};

namespace vector_detail {

/// The type in which a block holds values of T.
template <class T> using block_t = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, compute_t<T>>;

/// The bytes of a value in a block.
[[nodiscard]] constexpr int block_bytes(DType type) {
  return type == DType::float16 || type == DType::bfloat16 ? 4 : static_cast<int>(size_of(type));
}

/// Whether a block holds elements of a type in their memory format.
[[nodiscard]] constexpr bool is_held_as_it_lies(DType type) {
  return type != DType::float16 && type != DType::bfloat16 && type != DType::boolean;
}

/// One register of values.
template <class T> inline constexpr int natural_lanes = vector_bytes / static_cast<int>(sizeof(block_t<T>));

/// One pack of a block, in the form used by computations.
template <class T, int N> TWILL_INLINE auto from_block(const std::byte* at) {
  const auto pack = load<block_t<T>, N>(reinterpret_cast<const block_t<T>*>(at));
  if constexpr (std::is_same_v<T, bool>)
    return pack != Pack<std::uint8_t, N>{std::uint8_t{0}};
  else
    return pack;
}

template <class V> TWILL_INLINE void to_block(std::byte* to, const V& value) {
  if constexpr (is_mask<V>) {
    using Bytes = Pack<std::uint8_t, V::lanes>;
    store(reinterpret_cast<std::uint8_t*>(to), Bytes{(typename Bytes::Vector)(resize<1>(value).v & 1)});
  } else {
    store(reinterpret_cast<typename V::Value*>(to), value);
  }
}

/// The bytes that a value takes in a block.
template <class V> inline constexpr int bytes_in_block = 1;
template <class T, int N> inline constexpr int bytes_in_block<Pack<T, N>> = static_cast<int>(sizeof(T));

/// Calls `f` for each pack of the arguments in order, `Unroll` in a round; the last few values use a buffer.
template <int N, int Unroll, class... T, class F, std::size_t... A>
TWILL_INLINE void for_packs(std::byte* to, const BlockArgument* from, std::int64_t count, F f,
                            std::index_sequence<A...>) {
  using V = decltype(f(from_block<T, N>(to)...));
  constexpr int bytes = bytes_in_block<V>;
  const std::byte* at[] = {from[A].at...};
  const std::int64_t step[] = {(from[A].moves ? N * static_cast<std::int64_t>(sizeof(block_t<T>)) : 0)...};
  if constexpr (Unroll > 1) {
    const auto round = [&]<int... K>(std::integer_sequence<int, K...>) TWILL_ALWAYS_INLINE {
      const auto one = [&](std::int64_t k) TWILL_ALWAYS_INLINE {
        to_block(to + k * (N * bytes), f(from_block<T, N>(at[A] + k * step[A])...));
      };
      (one(K), ...);
    };
    for (; count >= Unroll * N; count -= Unroll * N) {
      round(std::make_integer_sequence<int, Unroll>{});
      to += Unroll * N * bytes;
      ((at[A] += Unroll * step[A]), ...);
    }
  }
  alignas(64) std::byte rest[sizeof...(T)][N * 8];
  alignas(64) std::byte last[N * 8];
  for (; count > 0; count -= N) {
    std::byte* out = to;
    if (count < N) [[unlikely]] {
      const auto copy = [&](std::size_t a, int size) {
        if (!from[a].moves) return;
        std::memset(rest[a], 0, sizeof(rest[a]));
        std::memcpy(rest[a], at[a], static_cast<std::size_t>(count * size));
        at[a] = rest[a];
      };
      (copy(A, static_cast<int>(sizeof(block_t<T>))), ...);
      out = last;
    }
    to_block(out, f(from_block<T, N>(at[A])...));
    if (count < N) [[unlikely]]
      std::memcpy(to, last, static_cast<std::size_t>(count * bytes));
    to += N * bytes;
    ((at[A] += step[A]), ...);
  }
}
template <int N, int Unroll, class... T, class F>
TWILL_INLINE void for_packs(std::byte* to, const BlockArgument* from, std::int64_t count, F f) {
  for_packs<N, Unroll, T...>(to, from, count, f, std::index_sequence_for<T...>{});
}

/// The index of a type's computing type among those of the block functions.
[[nodiscard]] constexpr int computing_index(DType type) {
  switch (type) {
  case DType::boolean:
    return 0;
  case DType::uint8:
    return 1;
  case DType::int32:
    return 2;
  case DType::int64:
    return 3;
  case DType::float64:
    return 5;
  default:
    return 4;
  }
}
inline constexpr DType computing_types[] = {DType::boolean, DType::uint8,   DType::int32,
                                            DType::int64,   DType::float32, DType::float64};
inline constexpr int computing_count = 6;
inline constexpr int element_count = static_cast<int>(DType::float64) + 1;

} // namespace vector_detail

}}}} // namespace twill::v0::kernel::TWILL_ISA
