#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stable orders of the elements of rows on a GPU. A row that fits into a block's shared memory is sorted there by one
// block; longer ones by passes over memory, all rows together. The result is the order: elements are moved once, at the
// end. Rows have fewer than 2^32 elements. Read next: kernel/gpu/order_key.hpp, kernel/gpu/radix.hpp.

#include <twill/core/bits.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/kernel/gpu/order_key.hpp>
#include <twill/kernel/gpu/radix.hpp>
#include <twill/memory/buffer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

template <class T> struct SortParameters {
  const T* from = nullptr;
  std::uint32_t* order = nullptr;
  std::int64_t rows = 0;
  std::int64_t length = 0;
  int bits = order_key_bits<T>; ///< how many lower bits of the keys differ
};

/// Body in which a block sorts a row.
template <class T, bool IsDescending> struct SortRow {
  using Key = order_key_t<T>;
  static constexpr int most_threads = tile_threads;
  static constexpr std::size_t shared_bytes = RadixTile<Key>::bytes;

  template <class Block> constexpr void operator()(const Block& block, const SortParameters<T>& p) const {
    const std::int64_t start = block.block() * p.length;
    const auto load = [&](int i, Key& key, std::uint32_t& value) {
      key = order_key<IsDescending>(p.from[start + i]);
      value = static_cast<std::uint32_t>(i);
    };
    sort_in_block<Key>(block, static_cast<int>(p.length), p.bits, load,
                       [&](int i, std::uint32_t value, Key) { p.order[start + i] = value; });
  }
};

template <class T, class Key> struct KeyParameters {
  const T* from = nullptr;
  Key* keys = nullptr;
  std::uint32_t* values = nullptr;
  std::int64_t count = 0;
  std::int64_t length = 0; ///< of a row; 0: rows do not matter
};

/// The keys of elements, below the number of their row, and their places in the row, or among all.
template <class T, class Key, bool IsDescending> struct MakeKeys {
  static constexpr int most_threads = tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const KeyParameters<T, Key>& p) const {
    each_below(block, p.count, [&](std::int64_t i) {
      const Key key = order_key<IsDescending>(p.from[i]);
      const std::int64_t row = p.length > 0 ? i / p.length : 0;
      if constexpr (sizeof(T) < sizeof(Key))
        p.keys[i] = static_cast<Key>(row) << order_key_bits<T> | key;
      else
        p.keys[i] = key;
      p.values[i] = static_cast<std::uint32_t>(i - row * p.length);
    });
  }
};

/// The rows of places among all elements; or, without keys, the places in their rows.
struct RowOfPlace {
  static constexpr int most_threads = tile_threads;

  template <class Block>
  constexpr void operator()(const Block& block, const KeyParameters<std::uint32_t, std::uint32_t>& p) const {
    each_below(block, p.count, [&](std::int64_t i) {
      if (p.keys != nullptr)
        p.keys[i] = static_cast<std::uint32_t>(p.values[i] / p.length);
      else
        p.values[i] = static_cast<std::uint32_t>(p.values[i] % p.length);
    });
  }
};

namespace detail {

/// Keys and their values, in two buffers each; the first values are the caller's.
template <class Key, class D> class RadixMemory {
public:
  RadixMemory(const D& device, std::int64_t count, std::uint32_t* order)
      : memory_(device, static_cast<std::size_t>(count) * (2 * sizeof(Key) + sizeof(std::uint32_t))) {
    Key* const keys = static_cast<Key*>(memory_.data());
    buffers = {{keys, keys + count}, {order, reinterpret_cast<std::uint32_t*>(keys + 2 * count)}};
  }
  RadixBuffers<Key> buffers{};

private:
  memory::Buffer<D> memory_;
};

/// Sorts from buffer `first_for_sort(bits)` into the first.
template <class Key, class D>
void sort_into_first(const D& device, const RadixBuffers<Key>& buffers, std::int64_t count, int bits) {
  if (radix_sort(device, buffers, count, bits, first_for_sort(bits)) == 0) return;
  copy_bytes(device, buffers.values[0], device, buffers.values[1], static_cast<std::size_t>(count) * 4);
}

template <bool IsDescending, class Key, class T, class D>
void order_by_key(const D& device, const SortParameters<T>& p, std::int64_t length, int bits) {
  const std::int64_t count = p.rows * p.length;
  const RadixMemory<Key, D> memory(device, count, p.order);
  const int first = first_for_sort(bits);
  const KeyParameters<T, Key> keys{p.from, memory.buffers.keys[first], memory.buffers.values[first], count, length};
  launch(device,
         [&](const auto& queue) { enqueue(queue, MakeKeys<T, Key, IsDescending>{}, one_thread_each(count), keys); });
  sort_into_first(device, memory.buffers, count, bits);
}

/// Sorts places, which are in the order of their elements, by row.
template <class D> void order_by_row(const D& device, std::uint32_t* order, std::int64_t rows, std::int64_t length) {
  const std::int64_t count = rows * length;
  const RadixMemory<std::uint32_t, D> memory(device, count, order);
  const int bits = bits_needed(static_cast<std::uint64_t>(rows - 1));
  const int first = first_for_sort(bits);
  if (first == 1) copy_bytes(device, memory.buffers.values[1], device, order, static_cast<std::size_t>(count) * 4);
  KeyParameters<std::uint32_t, std::uint32_t> p{nullptr, memory.buffers.keys[first], memory.buffers.values[first],
                                                count, length};
  launch(device, [&](const auto& queue) { enqueue(queue, RowOfPlace{}, one_thread_each(count), p); });
  sort_into_first(device, memory.buffers, count, bits);
  p.keys = nullptr;
  p.values = order;
  launch(device, [&](const auto& queue) { enqueue(queue, RowOfPlace{}, one_thread_each(count), p); });
}

template <bool IsDescending, class T, class D> void order_long_rows(const D& device, const SortParameters<T>& p) {
  constexpr int bits = order_key_bits<T>;
  if constexpr (bits == 64) {
    order_by_key<IsDescending, std::uint64_t>(device, p, 0, p.bits);
    if (p.rows > 1) order_by_row(device, p.order, p.rows, p.length);
  } else if (p.rows == 1) {
    order_by_key<IsDescending, std::uint32_t>(device, p, p.length, bits);
  } else {
    order_by_key<IsDescending, std::uint64_t>(device, p, p.length,
                                              bits + bits_needed(static_cast<std::uint64_t>(p.rows - 1)));
  }
}

} // namespace detail

/// The order of the elements of each row, ascending or descending.
/// throws: ValueError (rows of 2^32 elements or more), OutOfMemoryError
template <bool IsDescending, class T, class D> void order_rows(const D& device, const SortParameters<T>& all) {
  constexpr std::int64_t most = 0xffffffff;
  if (all.rows * all.length == 0) return;
  if (all.length > most)
    throw ValueError(join_text({"sort: a row has ", all.length, " elements; on a GPU it has at most ", most}));
  const bool is_short = all.length <= radix_tile;
  const std::int64_t together = is_short ? std::int64_t{1} << 30 : std::max<std::int64_t>(1, most / all.length);
  for (std::int64_t row = 0; row < all.rows; row += together) {
    const SortParameters<T> p{all.from + row * all.length, all.order + row * all.length,
                              std::min(together, all.rows - row), all.length, all.bits};
    if (!is_short) {
      detail::order_long_rows<IsDescending>(device, p);
      continue;
    }
    using Body = SortRow<T, IsDescending>;
    const twill::gpu::LaunchShape shape{static_cast<unsigned>(p.rows), threads_to_sort(p.length), Body::shared_bytes};
    launch(device, [&](const auto& queue) { enqueue(queue, Body{}, shape, p); });
  }
}

template <class T> struct TakeParameters {
  const T* from = nullptr;
  const std::uint32_t* order = nullptr;
  T* values = nullptr;             ///< null: not wanted
  std::int64_t* indices = nullptr; ///< null: not wanted
  std::int64_t count = 0;
  std::int64_t length = 0;
};

/// Takes the elements of rows in an order, and the order itself.
template <class T> struct TakeOrdered {
  static constexpr int most_threads = tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const TakeParameters<T>& p) const {
    each_below(block, p.count, [&](std::int64_t i) {
      const std::int64_t at = p.order[i];
      if (p.values != nullptr) p.values[i] = p.from[i / p.length * p.length + at];
      if (p.indices != nullptr) p.indices[i] = at;
    });
  }
};

/// Sorts rows into others and writes each element's index in its row; either may be null. Sorted rows must not overlap
/// the source. throws: ValueError, OutOfMemoryError
template <bool IsDescending, class T, class D>
void sort_rows(const D& device, const T* from, std::int64_t rows, std::int64_t length, T* values,
               std::int64_t* indices) {
  const std::int64_t count = rows * length;
  if (count == 0) return;
  const memory::Buffer<D> memory(device, static_cast<std::size_t>(count) * sizeof(std::uint32_t));
  auto* const order = static_cast<std::uint32_t*>(memory.data());
  order_rows<IsDescending>(device, SortParameters<T>{from, order, rows, length});
  const TakeParameters<T> p{from, order, values, indices, count, length};
  launch(device, [&](const auto& queue) { enqueue(queue, TakeOrdered<T>{}, one_thread_each(count), p); });
}

}}}} // namespace twill::v0::kernel::gpu
