#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Orders of the smallest elements of rows in compiled steps on a GPU. Short rows are sorted by a block each, longer
// ones together by passes over a stream's working memory. A row that does not fit there is sorted part by part: where
// all places are wanted, sorted parts are merged within the result by a network of exchanges (Batcher, "Sorting
// networks and their applications", 1968); where few are, each part is sorted beside the first places of those before
// it. Keys and places decide, so the order is the host's. Read next: kernel/gpu/sort.hpp for eager code.

#include <twill/core/bits.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/kernel/gpu/blocks.hpp>
#include <twill/kernel/gpu/order_key.hpp>
#include <twill/kernel/gpu/queue_sort.hpp>
#include <twill/kernel/places.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// Rows, which are `inner` apart, and the destination of their elements' places.
template <class T> struct OrderedRows {
  using Key = order_key_t<T>;
  const T* from = nullptr;
  std::int64_t* to = nullptr;
  PlaceRows rows{};

  [[nodiscard]] constexpr Key key(std::int64_t line, std::int64_t place) const {
    const T value = from[(line / rows.inner * rows.length + place) * rows.inner + line % rows.inner];
    return rows.is_descending ? order_key<true>(value) : order_key<false>(value);
  }
  [[nodiscard]] constexpr std::int64_t& result(std::int64_t line, std::int64_t position) const {
    return to[(line / rows.inner * rows.count + position) * rows.inner + line % rows.inner];
  }
};

/// A block sorts a row.
template <class T> struct OrderShortRow {
  using Key = order_key_t<T>;
  static constexpr int most_threads = tile_threads;
  static constexpr std::size_t shared_bytes = RadixTile<Key>::bytes;

  template <class Block> constexpr void operator()(const Block& block, const OrderedRows<T>& p) const {
    const std::int64_t line = block.block();
    const auto load = [&](int i, Key& key, std::uint32_t& value) {
      key = p.key(line, i);
      value = static_cast<std::uint32_t>(i);
    };
    sort_in_block<Key>(block, static_cast<int>(p.rows.length), order_key_bits<T>, load,
                       [&](int i, std::uint32_t value, Key) {
                         if (i < p.rows.count) p.result(line, i) = std::int64_t{value};
                       });
  }
};

/// A part of the rows in a stream's working memory.
template <class T> struct OrderedPart {
  OrderedRows<T> all{};
  std::int64_t first = 0; ///< line
  std::int64_t count = 0; ///< elements
  std::int64_t begin = 0; ///< one line: where the part begins
  std::int64_t kept = 0;  ///< one line: the places in order before it
  order_key_t<T>* keys = nullptr;
  std::uint32_t* values = nullptr;
};
/// Keys of whole lines, whose elements are numbered through.
template <class T> struct KeysOfLines {
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const OrderedPart<T>& p) const {
    each_below(block, p.count, [&](std::int64_t i) {
      const std::int64_t line = i / p.all.rows.length;
      p.keys[i] = p.all.key(p.first + line, i - line * p.all.rows.length);
      p.values[i] = static_cast<std::uint32_t>(i);
    });
  }
};
/// The lines, as keys.
template <class T> struct LinesOfValues {
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const OrderedPart<T>& p) const {
    each_below(block, p.count,
               [&](std::int64_t i) { p.keys[i] = static_cast<order_key_t<T>>(p.values[i] / p.all.rows.length); });
  }
};
template <class T> struct PlacesOfLines {
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const OrderedPart<T>& p) const {
    const std::int64_t length = p.all.rows.length;
    each_below(block, p.count / length * p.all.rows.count, [&](std::int64_t at) {
      const std::int64_t line = at / p.all.rows.count;
      const std::int64_t position = at - line * p.all.rows.count;
      p.all.result(p.first + line, position) = std::int64_t{p.values[line * length + position]} - line * length;
    });
  }
};
/// Keys of a part of one line, placed after those that are kept.
template <class T> struct KeysOfPart {
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const OrderedPart<T>& p) const {
    each_below(block, p.count, [&](std::int64_t i) {
      const std::int64_t place = i < p.kept ? p.all.result(p.first, i) : p.begin + i - p.kept;
      p.keys[i] = p.all.key(p.first, place);
      p.values[i] = static_cast<std::uint32_t>(place);
    });
  }
};
/// Writes the part's places; `kept` is now the index of the first.
template <class T> struct PlacesOfPart {
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const OrderedPart<T>& p) const {
    each_below(block, p.count, [&](std::int64_t i) { p.all.result(p.first, p.kept + i) = std::int64_t{p.values[i]}; });
  }
};

/// Exchanges of one step of a merge: `distance` apart, or, in its first step, mirrored within blocks of twice as many.
template <class T> struct MergeStep {
  OrderedRows<T> all{};
  std::int64_t line = 0;
  std::int64_t distance = 0;
  bool is_mirrored = false;
};
template <class T> struct ExchangePlaces {
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const MergeStep<T>& p) const {
    const std::int64_t length = p.all.rows.length;
    each_below(block, groups_of(2 * p.distance, length) * p.distance, [&](std::int64_t pair) {
      const std::int64_t start = pair / p.distance * 2 * p.distance;
      const std::int64_t own = pair % p.distance;
      const std::int64_t other = start + (p.is_mirrored ? 2 * p.distance - 1 - own : p.distance + own);
      if (other >= length) return; // as if a greater element than all were there
      std::int64_t& lower = p.all.result(p.line, start + own);
      std::int64_t& upper = p.all.result(p.line, other);
      const auto lower_key = p.all.key(p.line, lower);
      const auto upper_key = p.all.key(p.line, upper);
      if (lower_key < upper_key || (lower_key == upper_key && lower < upper)) return;
      const std::int64_t place = lower;
      lower = upper;
      upper = place;
    });
  }
};

/// Orders a row that does not fit into the working memory, of which at most `most` elements do.
template <class T, class Queue>
void order_longest_row(const Queue& queue, const OrderedRows<T>& all, std::int64_t line, std::int64_t most) {
  const std::int64_t length = all.rows.length;
  const bool merges = all.rows.count == length;
  const auto power = static_cast<std::int64_t>(power_of_two_within(static_cast<std::uint64_t>(most)));
  OrderedPart<T> part{.all = all, .first = line};
  for (std::int64_t begin = 0; begin < length;) {
    const std::int64_t kept = merges ? 0 : std::min(begin, all.rows.count);
    const std::int64_t fresh = std::min(merges ? power : most - kept, length - begin);
    QueueSort<order_key_t<T>> sorted{queue, kept + fresh};
    part.begin = begin;
    part.kept = kept;
    part.count = kept + fresh;
    part.keys = sorted.keys();
    part.values = sorted.values();
    enqueue(queue, KeysOfPart<T>{}, one_thread_each(part.count), part);
    sorted.sort(queue, order_key_bits<T>);
    part.values = sorted.values();
    part.kept = merges ? begin : 0;
    if (!merges) part.count = std::min(part.count, all.rows.count);
    enqueue(queue, PlacesOfPart<T>{}, one_thread_each(part.count), part);
    begin += fresh;
  }
  const auto exchange = [&](std::int64_t distance, bool is_mirrored) {
    enqueue(queue, ExchangePlaces<T>{}, one_thread_each(groups_of(2 * distance, length) * distance),
            MergeStep<T>{all, line, distance, is_mirrored});
  };
  for (std::int64_t sorted = power; merges && sorted < length; sorted *= 2) {
    exchange(sorted, true);
    for (std::int64_t distance = sorted / 2; distance > 0; distance /= 2) exchange(distance, false);
  }
}

/// Orders rows that fit into the working memory, several at once.
template <class T, class Queue>
void order_long_rows(const Queue& queue, const OrderedRows<T>& all, std::int64_t together) {
  const std::int64_t lines = all.rows.outer * all.rows.inner;
  for (std::int64_t first = 0; first < lines; first += together) {
    const std::int64_t here = std::min(together, lines - first);
    QueueSort<order_key_t<T>> sorted{queue, here * all.rows.length};
    OrderedPart<T> part{
        .all = all, .first = first, .count = here * all.rows.length, .keys = sorted.keys(), .values = sorted.values()};
    enqueue(queue, KeysOfLines<T>{}, one_thread_each(part.count), part);
    sorted.sort(queue, order_key_bits<T>);
    part.keys = sorted.keys();
    part.values = sorted.values();
    if (here > 1) {
      enqueue(queue, LinesOfValues<T>{}, one_thread_each(part.count), part);
      sorted.sort(queue, bits_needed(static_cast<std::uint64_t>(here - 1)));
      part.values = sorted.values();
    }
    enqueue(queue, PlacesOfLines<T>{}, one_thread_each(here * all.rows.count), part);
  }
}

}}}} // namespace twill::v0::kernel::gpu

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// requires: all places of rows longer than the working memory sorts at once, or fewer than fit there
/// throws: ValueError (rows of 2^32 elements or more)
template <class T, twill::gpu::Runtime R>
void order_places(const twill::gpu::Queue<R>& queue, const T* from, std::int64_t* to, const PlaceRows& rows) {
  constexpr std::int64_t longest = 0xffffffff;
  const std::int64_t lines = rows.outer * rows.inner;
  if (lines * rows.length == 0 || rows.count == 0) return;
  if (rows.length > longest)
    throw ValueError(join_text({"sort: a row has ", rows.length, " elements; on a GPU it has at most ", longest}));
  const gpu::OrderedRows<T> all{from, to, rows};
  if (rows.length <= gpu::radix_tile) {
    using Body = gpu::OrderShortRow<T>;
    const twill::gpu::LaunchShape shape{static_cast<unsigned>(lines), gpu::threads_to_sort(rows.length),
                                        Body::shared_bytes};
    return enqueue(queue, Body{}, shape, all);
  }
  const std::int64_t most = gpu::QueueSort<gpu::order_key_t<T>>::most(queue.allowance().bytes);
  if (rows.length <= most) return gpu::order_long_rows(queue, all, most / rows.length);
  for (std::int64_t line = 0; line < lines; ++line) gpu::order_longest_row(queue, all, line, most);
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
