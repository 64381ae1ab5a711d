#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Parts of reductions outside their loops: accumulators and lanes combined, chunks combined as a balanced tree, sums of
// columns kept in memory. They depend on the kind of reduction and the types alone, so all programs share them.
// Read next: kernel/stage.hpp.

#include <twill/kernel/apply_pack.hpp>
#include <twill/kernel/bytes.hpp>
#include <twill/kernel/pack.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace vector_detail {

template <class V> TWILL_INLINE V read(const std::byte* from) {
  V value;
  std::memcpy(static_cast<void*>(&value), from, sizeof(V));
  return value;
}
template <class V> TWILL_INLINE void write(std::byte* to, const V& value) {
  std::memcpy(to, static_cast<const void*>(&value), sizeof(V));
}

/// The scalar type of a vector's lanes.
template <class V> struct LaneOf { using type = bool; };
template <class T, int N> struct LaneOf<Pack<T, N>> { using type = T; };
template <class V> using lane_t = typename LaneOf<V>::type;

/// The type in which a column's sums are kept: bytes for truth values.
template <class T> using kept_t = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

/// The lanes of an accumulator combined, in the slot of its line.
template <Reduction R, class V> TWILL_INLINE void store_lanes(std::byte* slot, const V& accumulator) {
  *reinterpret_cast<lane_t<V>*>(slot) = combine_lanes<R>(accumulator);
}

template <Reduction R, class V, int Count>
[[gnu::noinline]] void finish_reduction(const std::byte* accumulators, int block_bytes, std::byte* slot) {
  V mine[Count];
  for (int k = 0; k < Count; ++k) mine[k] = read<V>(accumulators + k * block_bytes);
  for (int step = Count / 2; step > 0; step /= 2)
    for (int k = 0; k < step; ++k) mine[k] = combine<R>(mine[k], mine[k + step]);
  store_lanes<R>(slot, mine[0]);
}

template <Reduction R, class T>
[[gnu::noinline]] void combine_tree(std::byte* first, std::int64_t stride_bytes, std::int64_t count) {
  const auto at = [&](std::int64_t chunk) -> T& { return *reinterpret_cast<T*>(first + chunk * stride_bytes); };
  for (std::int64_t step = 1; step < count; step *= 2)
    for (std::int64_t chunk = 0; chunk + step < count; chunk += 2 * step)
      at(chunk) = kernel::combine<R>(at(chunk), at(chunk + step));
}

template <Reduction R, class T> [[gnu::noinline]] void clear_sums(std::byte* sums, std::int64_t columns) {
  auto* row = reinterpret_cast<kept_t<T>*>(sums);
  for (std::int64_t j = 0; j < columns; ++j) row[j] = static_cast<kept_t<T>>(identity<R, T>());
}

template <Reduction R, class T>
[[gnu::noinline]] void add_sums(std::byte* sums, const std::byte* more, std::int64_t columns) {
  auto* row = reinterpret_cast<kept_t<T>*>(sums);
  const auto* other = reinterpret_cast<const kept_t<T>*>(more);
  for (std::int64_t j = 0; j < columns; ++j)
    row[j] = static_cast<kept_t<T>>(kernel::combine<R>(static_cast<T>(row[j]), static_cast<T>(other[j])));
}

/// Adds one pack of columns to the sums, or makes it the sums.
template <Reduction R, class V> TWILL_INLINE void merge_sums(std::byte* sums, std::int64_t column, bool add, V mine) {
  auto* row = reinterpret_cast<kept_t<lane_t<V>>*>(sums) + column;
  if constexpr (is_mask<V>) {
    using Bytes = Pack<std::uint8_t, V::lanes>;
    if (add) {
      const auto before = load<std::uint8_t, V::lanes>(row) != Bytes{std::uint8_t{0}};
      mine = combine<R>(mine, resize<V::width>(before));
    }
    store(row, Bytes{(typename Bytes::Vector)(resize<1>(mine).v & 1)});
  } else {
    if (add) mine = combine<R>(load<typename V::Value, V::lanes>(row), mine);
    store(row, mine);
  }
}

/// Stores a value that a row shares, `count` times along it.
template <class T>
[[gnu::noinline]] void store_shared(const std::byte* slot, std::int64_t at, std::int64_t stride, std::int64_t count) {
  T* to = reinterpret_cast<T*>(at);
  const T value = static_cast<T>(*reinterpret_cast<const compute_t<T>*>(slot));
  for (std::int64_t j = 0; j < count; ++j) to[j * stride] = value;
}

template <class T>
[[gnu::noinline]] void store_sums(const std::byte* sums, std::int64_t at, std::int64_t stride, std::int64_t count) {
  T* to = reinterpret_cast<T*>(at);
  const auto* row = reinterpret_cast<const kept_t<compute_t<T>>*>(sums);
  if constexpr (std::is_same_v<T, kept_t<compute_t<T>>>)
    if (stride == 1) {
      copy_elements(reinterpret_cast<std::byte*>(to), 1, sums, 1, count, sizeof(T));
      return;
    }
  for (std::int64_t j = 0; j < count; ++j) to[j * stride] = static_cast<T>(row[j]);
}

}}}}} // namespace twill::v0::kernel::TWILL_ISA::vector_detail
