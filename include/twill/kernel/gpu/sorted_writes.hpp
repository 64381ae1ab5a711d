#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Writes to sorted places on a GPU: entries for one place are adjacent, in their first order, and form a run. The last
// of a run is written, or all are added in order, so the bits are those of a loop on a host. A thread adds a short run;
// for a long one a block loads values into shared memory together and adds them there, one after the other, since
// waiting for memory takes longer than adding. Read next: kernel/gpu/scatter.hpp, kernel/gpu/index_sums.hpp.

#include <twill/kernel/apply.hpp>
#include <twill/kernel/gpu/axes.hpp>
#include <twill/kernel/gpu/divisor.hpp>
#include <twill/kernel/gpu/search.hpp>
#include <twill/kernel/gpu/tile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// The place of an entry, as a number.
using Target = std::uint64_t;

/// Entries in the order of their keys. Each is `repeats` slices of `slice` elements.
template <class T> struct SortedWrites {
  const T* from = nullptr;
  T* to = nullptr;
  const Target* keys = nullptr; ///< sorted
  const std::uint32_t* order = nullptr;
  std::int64_t entries = 0;
  std::int64_t slice = 1;
  std::int64_t repeats = 1;
  std::int64_t key_step = 1;    ///< elements between places
  std::int64_t from_repeat = 0; ///< elements between slices of an entry, and of a place
  std::int64_t to_repeat = 0;
  Target outside = ~Target{}; ///< the key of entries without a place
  Axes from_entry{};
  Axes from_slice{};
  Axes to_slice{};

  /// Elements of all entries: (repeats, entries, slice).
  [[nodiscard]] constexpr std::int64_t elements() const { return repeats * entries * slice; }
  [[nodiscard]] constexpr bool begins_run(std::int64_t entry) const {
    return keys[entry] != outside && (entry == 0 || keys[entry - 1] != keys[entry]);
  }
  [[nodiscard]] constexpr bool is_in_run(std::int64_t entry, Target key) const {
    return entry < entries && keys[entry] == key;
  }
  [[nodiscard]] constexpr const T* source(std::int64_t repeat, std::int64_t at) const {
    return from + repeat * from_repeat + from_slice.offset(at);
  }
  [[nodiscard]] constexpr T& target(Target key, std::int64_t repeat, std::int64_t at) const {
    return to[static_cast<std::int64_t>(key) * key_step + repeat * to_repeat + to_slice.offset(at)];
  }
};

/// The shortest run that a block adds.
inline constexpr std::int64_t long_run = 64;

/// Parameters of `WriteRuns`.
template <class T> struct RunParameters {
  SortedWrites<T> writes{};
  IndexDivisor slice{};
  IndexDivisor entries{};
};

/// Body in which a thread writes an element of a run, or adds those of a short one.
template <class T, bool Adds> struct WriteRuns {
  using C = compute_t<T>;
  static constexpr int most_threads = tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const RunParameters<T>& p) const {
    const SortedWrites<T>& w = p.writes;
    each_below(block, w.elements(), [&](std::int64_t number) {
      const IndexDivisor::Parts in_slice = p.slice.parts(number);
      const IndexDivisor::Parts in_entries = p.entries.parts(in_slice.quotient);
      const std::int64_t entry = in_entries.rest;
      const Target key = w.keys[entry];
      if constexpr (Adds) {
        if (!w.begins_run(entry) || w.is_in_run(entry + long_run - 1, key)) return;
        std::int64_t end = entry + 1;
        while (w.is_in_run(end, key)) ++end;
        const T* const from = w.source(in_entries.quotient, in_slice.rest);
        T& to = w.target(key, in_entries.quotient, in_slice.rest);
        C sum = static_cast<C>(to);
        for (std::int64_t e = entry; e < end; ++e)
          sum = apply<Primitive::add>(sum, static_cast<C>(from[w.from_entry.offset(w.order[e])]));
        to = static_cast<T>(sum);
      } else {
        if (key == w.outside || w.is_in_run(entry + 1, key)) return;
        w.target(key, in_entries.quotient, in_slice.rest) =
            w.source(in_entries.quotient, in_slice.rest)[w.from_entry.offset(w.order[entry])];
      }
    });
  }
};

/// Parameters of `AddLongRuns`: blocks are (repeats, candidates, tiles). A candidate is an entry whose number is a
/// multiple of `long_run`, so that each long run has one or more; the first adds it.
template <class T> struct LongRunParameters {
  SortedWrites<T> writes{};
  std::int64_t candidates = 0;
  std::int64_t tiles = 0; ///< of a slice: `lanes` elements
  int lanes = 1;
  IndexDivisor by_tiles{};
  IndexDivisor by_candidates{};

  constexpr explicit LongRunParameters(const SortedWrites<T>& all) : writes{all} {
    while (lanes < 32 && lanes < all.slice) lanes *= 2;
    tiles = groups_of(lanes, all.slice);
    candidates = groups_of(long_run, all.entries);
    by_tiles = IndexDivisor(tiles, blocks());
    by_candidates = IndexDivisor(candidates, blocks());
  }
  [[nodiscard]] constexpr std::int64_t blocks() const { return writes.repeats * candidates * tiles; }
};

/// Body in which a block adds the long run of its candidate, if any: all threads load values, one for each lane adds.
template <class T> struct AddLongRuns {
  using C = compute_t<T>;
  static constexpr int most_threads = tile_threads;
  static constexpr int least_blocks = 1; ///< eight places at once take registers
  static constexpr int items = 8;        ///< that a thread loads before it waits for the others
  static constexpr std::size_t shared_bytes = tile_threads * items * sizeof(C);

  template <class Block> constexpr void operator()(const Block& block, const LongRunParameters<T>& p) const {
    const SortedWrites<T>& w = p.writes;
    const IndexDivisor::Parts in_tiles = p.by_tiles.parts(block.block());
    const IndexDivisor::Parts in_candidates = p.by_candidates.parts(in_tiles.quotient);
    const std::int64_t candidate = in_candidates.rest * long_run;
    const Target key = w.keys[candidate];
    const std::int64_t before = candidate - long_run;
    if (key == w.outside || (before >= 0 && w.keys[before] == key)) return;
    const std::int64_t lowest = before < 0 ? 0 : before + 1;
    const std::int64_t begin =
        lowest + partition_point(candidate - lowest, [&](std::int64_t i) { return w.keys[lowest + i] < key; });
    if (!w.is_in_run(begin + long_run - 1, key)) return;
    const std::int64_t end = candidate + partition_point(w.entries - candidate,
                                                         [&](std::int64_t i) { return w.keys[candidate + i] == key; });
    add(block, p, in_candidates.quotient, in_tiles.rest * p.lanes, begin, end);
  }

private:
  template <class Block>
  static constexpr void add(const Block& block, const LongRunParameters<T>& p, std::int64_t repeat, std::int64_t first,
                            std::int64_t begin, std::int64_t end) {
    const SortedWrites<T>& w = p.writes;
    C* const values = block.template shared<C>();
    const Target key = w.keys[begin];
    const int rows = tile_threads / p.lanes;
    typename Block::template Local<C> sums;
    block.each([&](int thread) {
      const std::int64_t at = first + thread % p.lanes;
      sums[thread] = thread < p.lanes && at < w.slice ? static_cast<C>(w.target(key, repeat, at)) : C{};
    });
    for (; begin < end; begin += rows * items) {
      const int here = static_cast<int>(std::min<std::int64_t>(rows * items, end - begin));
      block.each([&](int thread) {
        const std::int64_t at = first + thread % p.lanes;
        if (at >= w.slice) return;
        const T* const from = w.source(repeat, at);
        for (int item = 0; item < items; ++item) {
          const int row = thread / p.lanes + item * rows;
          if (row < here)
            values[row * p.lanes + thread % p.lanes] = static_cast<C>(from[w.from_entry.offset(w.order[begin + row])]);
        }
      });
      block.barrier();
      block.each([&](int thread) {
        if (thread >= p.lanes || first + thread >= w.slice) return;
        for (int row = 0; row < here; ++row)
          sums[thread] = apply<Primitive::add>(sums[thread], values[row * p.lanes + thread]);
      });
      block.barrier();
    }
    block.each([&](int thread) {
      if (thread < p.lanes && first + thread < w.slice)
        w.target(key, repeat, first + thread) = static_cast<T>(sums[thread]);
    });
  }
};

/// Writes all entries, or adds them: a second launch is for long runs, where enough entries may form one.
/// requires: entries
template <bool Adds, class T, class Queue> void enqueue_writes(const Queue& queue, const SortedWrites<T>& writes) {
  const std::int64_t elements = writes.elements();
  enqueue(queue, WriteRuns<T, Adds>{}, one_thread_each(elements),
          RunParameters<T>{writes, {writes.slice, elements}, {writes.entries, elements}});
  if constexpr (Adds) {
    if (writes.entries < long_run) return;
    const LongRunParameters<T> long_runs{writes};
    enqueue(
        queue, AddLongRuns<T>{},
        twill::gpu::LaunchShape{static_cast<unsigned>(long_runs.blocks()), tile_threads, AddLongRuns<T>::shared_bytes},
        long_runs);
  }
}

}}}} // namespace twill::v0::kernel::gpu
