#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Position of a row, and loads and stores of its elements. A row may begin anywhere: vectors are counted from the
// aligned address before the first element of a leading operand, so that they are aligned for every operand with its
// misalignment; the vectors at the ends, and operands that are misaligned otherwise or have gaps, move element by
// element, row by row and operand by operand. Read next: kernel/gpu/rows_tile.hpp.

#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/gpu/leaves.hpp>
#include <twill/kernel/gpu/parameters.hpp>
#include <twill/kernel/gpu/rows_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// One operand of a launch. Its address is a pointer, so that the compiler knows that it is global memory.
struct RowOperand {
  std::byte* data = nullptr;          ///< the element at index 0
  std::uint64_t number = 0;           ///< bits of an immediate; first number of an iota
  std::int64_t along = 0;             ///< elements from one to the next along the row
  std::int64_t down = 0;              ///< bytes (of an iota: its units) along the first dimension
  std::int64_t outer[max_rank - 2]{}; ///< along those between, the innermost first
};

/// The parameters that are equal for all blocks.
struct RowJob {
  std::uint32_t first_row = 0; ///< of this launch
  std::uint32_t rows = 0;      ///< of all launches
  std::int64_t length = 0;     ///< of a row
  std::int64_t chunk_elements = 0;
  std::int64_t shared_elements = 0;
  Divisor extents[max_rank - 2]{}; ///< of the dimensions between the first and the row, the innermost first
  Divisor chunks{};
  int between = 0;                   ///< how many they are
  int leader = -1;                   ///< the operand that decides where vectors begin
  int width = 32;                    ///< threads that own a row
  int teams = 1;                     ///< rows that a block has at once
  int width_bits = 31;               ///< a thread's number shifted by these is that of its team
  int lane_mask = ~0;                ///< and masked by these the number within its team
  int stage = 0;                     ///< of a launch over chunks
  std::uint64_t* partials = nullptr; ///< of chunks: for each row of the launch, reduction of the stage and chunk
  std::uint64_t* results = nullptr;  ///< of rows: for each row of the launch and line
  unsigned* counters = nullptr;      ///< one for each row of the launch
};

/// The parameters of a kernel with `Count` operands.
template <int Count> struct RowParameters {
  RowJob job{};
  RowOperand operands[Count == 0 ? 1 : Count]{};
};

/// The elements of an operand along a thread's row, or chunk of one.
struct RowElements {
  std::byte* at = nullptr; ///< the first
  std::uint64_t number = 0;
  std::int64_t along = 0;
  bool by_vector = false; ///< vectors within the row move in one access
};

/// The position of a thread's row.
template <int Count> struct RowPlace {
  RowElements operands[Count == 0 ? 1 : Count]{};
  std::int32_t shift = 0; ///< elements between an aligned address and the first
  std::int32_t length = 0;
  bool is_live = false; ///< there is such a row
};

/// Element `lane` of words in registers; `lane` is known once loops are unrolled.
template <class T, int V> [[nodiscard]] TWILL_INLINE constexpr T get(const Words<T, V>& from, int lane) {
  if constexpr (sizeof(T) == 8)
    return element_of_bits<T>(from.words[2 * lane] | (std::uint64_t{from.words[2 * lane + 1]} << 32));
  else if constexpr (sizeof(T) == 4)
    return element_of_bits<T>(from.words[lane]);
  else if constexpr (sizeof(T) == 2)
    return element_of_bits<T>(from.words[lane / 2] >> (16 * (lane % 2)));
  else
    return element_of_bits<T>(from.words[lane / 4] >> (8 * (lane % 4)));
}

/// Sets element `lane` of words, which has to be zero.
template <class T, int V> TWILL_INLINE constexpr void set(Words<T, V>& to, int lane, T value) {
  if constexpr (sizeof(T) == 8) {
    std::uint64_t bits = 0; // not const: nvcc's front end fails when it tries to fold the cast
    bits = __builtin_bit_cast(std::uint64_t, value);
    to.words[2 * lane] = static_cast<std::uint32_t>(bits);
    to.words[2 * lane + 1] = static_cast<std::uint32_t>(bits >> 32);
  } else if constexpr (sizeof(T) == 4) {
    to.words[lane] = __builtin_bit_cast(std::uint32_t, value);
  } else if constexpr (sizeof(T) == 2) {
    to.words[lane / 2] |= static_cast<std::uint32_t>(value.bits) << (16 * (lane % 2));
  } else {
    to.words[lane / 4] |= static_cast<std::uint32_t>(value) << (8 * (lane % 4));
  }
}

/// A vector from an aligned address.
template <class T, int V> TWILL_INLINE constexpr void load_vector(Words<T, V>& to, const std::byte* from) {
  constexpr int bytes = Words<T, V>::unit_bytes;
  constexpr int words = bytes / 4;
  TWILL_UNROLL
  for (int unit = 0; unit < Words<T, V>::units; ++unit) {
    const Unit<bytes> read = reinterpret_cast<const Unit<bytes>*>(from)[unit];
    if constexpr (words == 0) {
      to.words[0] |= static_cast<std::uint32_t>(read.words[0]) << (8 * bytes * unit);
    } else {
      TWILL_UNROLL
      for (int word = 0; word < words; ++word) to.words[unit * words + word] = read.words[word];
    }
  }
}
template <class T, int V> TWILL_INLINE constexpr void store_vector(const Words<T, V>& from, std::byte* to) {
  constexpr int bytes = Words<T, V>::unit_bytes;
  constexpr int words = bytes / 4;
  TWILL_UNROLL
  for (int unit = 0; unit < Words<T, V>::units; ++unit) {
    Unit<bytes> written;
    if constexpr (words == 0) {
      using Word = std::remove_reference_t<decltype(written.words[0])>;
      written.words[0] = static_cast<Word>(from.words[0] >> (8 * bytes * unit));
    } else {
      TWILL_UNROLL
      for (int word = 0; word < words; ++word) written.words[word] = from.words[unit * words + word];
    }
    reinterpret_cast<Unit<bytes>*>(to)[unit] = written;
  }
}

/// An element. Truth values are bytes: any nonzero byte is true.
template <class T> [[nodiscard]] TWILL_INLINE constexpr T read_element(const std::byte* from) {
  if constexpr (std::is_same_v<T, bool>)
    return *reinterpret_cast<const std::uint8_t*>(from) != 0;
  else
    return *reinterpret_cast<const T*>(from);
}

/// Whether element `first + lane` is one of the row's.
[[nodiscard]] TWILL_INLINE constexpr bool is_inside(std::int32_t first, int lane, std::int32_t length) {
  return static_cast<std::uint32_t>(first + lane) < static_cast<std::uint32_t>(length);
}
template <int V> [[nodiscard]] TWILL_INLINE constexpr bool is_full(std::int32_t first, std::int32_t length) {
  return first >= 0 && first + V <= length;
}
/// Element `index` of an operand; with `Contiguous` the next one follows it. A program's own access kind does not
/// decide that: a leaf that it calls contiguous may have gaps.
template <class T, bool Contiguous>
[[nodiscard]] TWILL_INLINE constexpr std::byte* element_at(const RowElements& operand, std::int64_t index) {
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
  return operand.at + (Contiguous ? index * bytes : index * operand.along * bytes);
}

/// Loads the elements from `first` on, zeros outside of the row.
template <class T, int V>
TWILL_INLINE constexpr void load_part(Words<T, V>& to, const RowElements& operand, std::int32_t first,
                                      std::int32_t length) {
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
  to = Words<T, V>{};
  if (operand.by_vector && is_full<V>(first, length)) {
    load_vector(to, element_at<T, true>(operand, first));
  } else {
    const std::byte* from = element_at<T, false>(operand, first);
    TWILL_UNROLL
    for (int lane = 0; lane < V; ++lane) {
      if (is_inside(first, lane, length)) set(to, lane, read_element<T>(from));
      from += operand.along * bytes;
    }
  }
}

template <class T, int V>
TWILL_INLINE constexpr void store_part(const Words<T, V>& from, const RowElements& operand, std::int32_t first,
                                       std::int32_t length) {
  if (operand.by_vector && is_full<V>(first, length)) {
    store_vector(from, element_at<T, true>(operand, first));
  } else {
    std::byte* to = element_at<T, false>(operand, first);
    TWILL_UNROLL
    for (int lane = 0; lane < V; ++lane) {
      if (is_inside(first, lane, length)) *reinterpret_cast<T*>(to) = get(from, lane);
      to += operand.along * static_cast<std::int64_t>(sizeof(T));
    }
  }
}

}}}} // namespace twill::v0::kernel::gpu
