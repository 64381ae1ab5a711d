#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Data movement along one axis: strided copies of runs, gathers of runs by a tensor of indices, and scatters that add
// runs at such indices. Arrays are row-major and seen as (outer, middle, inner) around the axis. An index outside the
// axis reads zeros and adds nothing, like a label outside its classes; a negative one counts from the end. Read next:
// kernel/gpu/blocks.hpp, kernel/gpu/index_sums.hpp.

#include <twill/core/config.hpp>
#include <twill/core/promotion.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/kernel/walk.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace twill { inline namespace v0 { namespace kernel {

/// Runs of `run` elements in `outer` groups of `count`, with the distances between them in elements.
struct Blocks {
  std::int64_t outer = 1;
  std::int64_t count = 1;
  std::int64_t run = 1;
  std::int64_t from_outer = 0;
  std::int64_t from_count = 0;
  std::int64_t to_outer = 0;
  std::int64_t to_count = 0;
};

/// A number of elements of one value.
template <class T> struct Filling {
  std::int64_t count = 0;
  T value{};
};

/// How (outer, places, inner) elements match (outer, extent, inner) ones along the axis. The position of index (o, j,
/// i) is the sum of its steps.
struct IndexedBlocks {
  std::int64_t outer = 1;
  std::int64_t places = 0;
  std::int64_t extent = 0;
  std::int64_t inner = 1;
  std::int64_t index_outer = 0;
  std::int64_t index_place = 1;
  std::int64_t index_inner = 0;
};

/// The index counted from the front, or -1 where it is outside.
[[nodiscard]] constexpr std::int64_t place_of(std::int64_t index, std::int64_t extent) {
  if (index < 0) index += extent;
  return index >= 0 && index < extent ? index : -1;
}

inline constexpr std::int64_t worth_sharing_bytes = 65536;

inline namespace TWILL_ISA {

/// Calls f(begin, end) on parts of `count` items, on all threads where there are several and the bytes are worth it.
template <class F> void share_out(const Team& team, std::int64_t count, std::int64_t bytes, const F& f) {
  if (bytes < worth_sharing_bytes || count == 1 || team.size() == 1) return f(std::int64_t{0}, count);
  team.parallel([&](int rank, int size) {
    const Share mine = share_of(count, 1, rank, size);
    f(mine.begin, mine.end);
  });
}

/// Runs of one element of `Size` bytes, in rows.
template <std::size_t Size>
void move_single(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
                 std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j) std::memcpy(to + j * to_step, from + j * from_step, Size);
}

/// Moves blocks of elements of `size` bytes.
void move_bytes(const Team& team, const std::byte* from, std::byte* to, Blocks b, std::int64_t size);

template <class T> void move_blocks(const Team& team, const T* from, T* to, const Blocks& blocks) {
  move_bytes(team, reinterpret_cast<const std::byte*>(from), reinterpret_cast<std::byte*>(to), blocks,
             static_cast<std::int64_t>(sizeof(T)));
}

template <class T> void fill_elements(const Team& team, T* to, const Filling<T>& filling) {
  share_out(team, filling.count, filling.count * static_cast<std::int64_t>(sizeof(T)),
            [&](std::int64_t begin, std::int64_t end) { std::fill(to + begin, to + end, filling.value); });
}

/// to[o, j, i] = from[o, index[o, j, i], i]
template <class T>
void gather_blocks(const Team& team, const T* from, const std::int64_t* index, T* to, const IndexedBlocks& b) {
  const std::int64_t rows = b.outer * b.places;
  if (rows * b.inner == 0) return;
  share_out(team, rows, rows * b.inner * static_cast<std::int64_t>(sizeof(T)),
            [&](std::int64_t begin, std::int64_t end) {
              for (std::int64_t r = begin; r < end; ++r) {
                const std::int64_t o = r / b.places;
                const std::int64_t* const here = index + o * b.index_outer + r % b.places * b.index_place;
                const T* const source = from + o * b.extent * b.inner;
                T* const target = to + r * b.inner;
                if (b.index_inner == 0) {
                  const std::int64_t place = place_of(*here, b.extent);
                  if (place < 0)
                    std::fill(target, target + b.inner, T{});
                  else
                    std::copy(source + place * b.inner, source + (place + 1) * b.inner, target);
                  continue;
                }
                for (std::int64_t i = 0; i < b.inner; ++i) {
                  const std::int64_t place = place_of(here[i * b.index_inner], b.extent);
                  target[i] = place < 0 ? T{} : source[place * b.inner + i];
                }
              }
            });
}

/// to[o, index[o, j, i], i] is the sum of from[o, j, i] in the order of j, whatever the number of threads; 0 elsewhere.
template <class T>
void scatter_sums(const Team& team, const T* from, const std::int64_t* index, T* to, const IndexedBlocks& b) {
  fill_elements(team, to, Filling<T>{b.outer * b.extent * b.inner, T{}});
  const std::int64_t moved = b.outer * b.places * b.inner;
  if (moved == 0 || b.extent == 0) return;
  const auto columns = [&](std::int64_t o, std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = 0; j < b.places; ++j) {
      const std::int64_t* const here = index + o * b.index_outer + j * b.index_place;
      const T* const source = from + (o * b.places + j) * b.inner;
      T* const target = to + o * b.extent * b.inner;
      if (b.index_inner == 0) {
        const std::int64_t place = place_of(*here, b.extent);
        if (place >= 0)
          for (std::int64_t i = begin; i < end; ++i)
            target[place * b.inner + i] = target[place * b.inner + i] + source[i];
        continue;
      }
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t place = place_of(here[i * b.index_inner], b.extent);
        if (place >= 0) target[place * b.inner + i] = target[place * b.inner + i] + source[i];
      }
    }
  };
  const std::int64_t bytes = moved * static_cast<std::int64_t>(sizeof(T));
  if (b.outer >= team.size())
    return share_out(team, b.outer, bytes, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t o = begin; o < end; ++o) columns(o, 0, b.inner);
    });
  for (std::int64_t o = 0; o < b.outer; ++o)
    share_out(team, b.inner, b.inner < 64 ? 0 : bytes,
              [&](std::int64_t begin, std::int64_t end) { columns(o, begin, end); });
}

} // namespace TWILL_ISA
}}} // namespace twill::v0::kernel

#if TWILL_HEADER_ONLY
#include <twill/kernel/blocks.ipp>
#endif
