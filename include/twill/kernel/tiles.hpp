#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Square tiles of elements, transposed in registers: the rows are loaded, shuffled, and stored as the rows of the other
// side. A copy between an order of elements and its transposed order then reads and writes whole lines of memory, where
// one element at a time would touch a line for each. Read next: kernel/transpose.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>

#include <cstdint>
#include <utility>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace vector_detail {

/// The rows and columns of a tile of elements of a size: a register's, and no more than there are registers for.
[[nodiscard]] constexpr int tile_lanes(int bytes) { return vector_bytes / bytes < 16 ? vector_bytes / bytes : 16; }

/// The lower (0) or upper (1) half of the interleaved lanes of two packs. Indices are written out: nvcc loses packs
/// that a builtin expands.
template <int Half, class T, int N>
[[nodiscard]] TWILL_INLINE Pack<T, N> interleave(const Pack<T, N>& a, const Pack<T, N>& b) {
  static_assert(N == 2 || N == 4 || N == 8 || N == 16);
  if constexpr (N == 2 && Half == 0)
    return Pack<T, N>{__builtin_shufflevector(a.v, b.v, 0, 2)};
  else if constexpr (N == 2)
    return Pack<T, N>{__builtin_shufflevector(a.v, b.v, 1, 3)};
  else if constexpr (N == 4 && Half == 0)
    return Pack<T, N>{__builtin_shufflevector(a.v, b.v, 0, 4, 1, 5)};
  else if constexpr (N == 4)
    return Pack<T, N>{__builtin_shufflevector(a.v, b.v, 2, 6, 3, 7)};
  else if constexpr (N == 8 && Half == 0)
    return Pack<T, N>{__builtin_shufflevector(a.v, b.v, 0, 8, 1, 9, 2, 10, 3, 11)};
  else if constexpr (N == 8)
    return Pack<T, N>{__builtin_shufflevector(a.v, b.v, 4, 12, 5, 13, 6, 14, 7, 15)};
  else if constexpr (Half == 0)
    return Pack<T, N>{__builtin_shufflevector(a.v, b.v, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)};
  else
    return Pack<T, N>{__builtin_shufflevector(a.v, b.v, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)};
}

/// The rows of a tile, transposed: row i and row i + N/2 interleaved into rows 2i and 2i + 1, log2(N) times (the
/// perfect shuffle of Stone, 1971).
template <int Left, class T, int N, int... I>
TWILL_INLINE void shuffle_rows(Pack<T, N> (&rows)[N], std::integer_sequence<int, I...> halves) {
  if constexpr (Left > 1) {
    Pack<T, N> next[N];
    ((next[2 * I] = interleave<0>(rows[I], rows[I + N / 2]), next[2 * I + 1] = interleave<1>(rows[I], rows[I + N / 2])),
     ...);
    shuffle_rows<Left / 2>(next, halves);
    ((rows[2 * I] = next[2 * I], rows[2 * I + 1] = next[2 * I + 1]), ...);
  }
}

/// to[j][i] = from[i][j] for a tile with contiguous rows; strides from row to row, in elements.
template <class Word, int... I>
TWILL_INLINE void copy_tile(Word* to, std::int64_t to_stride, const Word* from, std::int64_t from_stride, bool streams,
                            std::integer_sequence<int, I...>) {
  constexpr int N = sizeof...(I);
  Pack<Word, N> rows[N];
  ((rows[I] = load<Word, N>(from + I * from_stride)), ...);
  shuffle_rows<N>(rows, std::make_integer_sequence<int, N / 2>{});
  if (streams)
    ((stream(to + I * to_stride, rows[I])), ...);
  else
    ((store(to + I * to_stride, rows[I])), ...);
}

/// to[j][i] = from[i][j] for i < height, j < width, both at least a tile's: a remainder that does not fill a tile is
/// copied by one that overlaps its neighbour. `streams`: past the caches, where the address allows it.
template <class Word>
void copy_tiles(Word* to, std::int64_t to_stride, const Word* from, std::int64_t from_stride, std::int64_t height,
                std::int64_t width, bool streams) {
  constexpr int N = tile_lanes(sizeof(Word));
  constexpr bool is_whole = N * static_cast<int>(sizeof(Word)) == vector_bytes;
  for (std::int64_t column = 0; column < width; column += N) {
    const std::int64_t j = column + N <= width ? column : width - N;
    for (std::int64_t row = 0; row < height; row += N) {
      const std::int64_t i = row + N <= height ? row : height - N;
      Word* const at = to + j * to_stride + i;
      const bool is_aligned = reinterpret_cast<std::uintptr_t>(at) % vector_bytes == 0;
      copy_tile(at, to_stride, from + i * from_stride + j, from_stride, is_whole && streams && is_aligned,
                std::make_integer_sequence<int, N>{});
    }
  }
}

}}}}} // namespace twill::v0::kernel::TWILL_ISA::vector_detail
