#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores of a thread's chunk: lanes are words in registers, moved by vector accesses of up to 16 bytes where
// the operand allows it, otherwise one by one; an operand that is misaligned, broadcast or strided slows down no other.
// Template parameters unroll all loops, so that words stay in registers. Read next: kernel/gpu/lines.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/kernel/gpu/parameters.hpp>
#include <twill/kernel/program.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// One memory access of `Bytes` bytes.
template <int Bytes> struct alignas(Bytes) [[gnu::may_alias]] Unit { std::uint32_t words[Bytes / 4]; };
template <> struct alignas(2) [[gnu::may_alias]] Unit<2> { std::uint16_t words[1]; };
template <> struct alignas(1) [[gnu::may_alias]] Unit<1> { std::uint8_t words[1]; };

/// The elements of a chunk in registers, packed in their memory format.
template <class T, int Lanes> struct Words {
  static constexpr int bytes = Lanes * static_cast<int>(sizeof(T));
  /// Bytes of one access: at most 16, and of one-byte types 4, because wider ones have been miscompiled.
  static constexpr int unit_bytes = sizeof(T) == 1 ? (bytes < 4 ? bytes : 4) : bytes < 16 ? bytes : 16;
  static constexpr int units = bytes / unit_bytes;
  std::uint32_t words[(bytes + 3) / 4]{};
};

/// An element from its bits, low bytes first.
template <class T> [[nodiscard]] constexpr T element_of_bits(std::uint64_t bits) {
  if constexpr (sizeof(T) == 8)
    return __builtin_bit_cast(T, bits);
  else if constexpr (sizeof(T) == 4)
    return __builtin_bit_cast(T, static_cast<std::uint32_t>(bits));
  else if constexpr (ShortFloat<T>)
    return T::from_bits(static_cast<decltype(T::bits)>(bits));
  else
    return static_cast<T>(sizeof(T) == 2 ? bits & 0xffffU : bits & 0xffU);
}

/// The element of a lane. The lane has to be a constant once loops are unrolled, here and below.
template <class T, int Lanes> [[nodiscard]] constexpr T element(const Words<T, Lanes>& from, int lane) {
  constexpr int size = static_cast<int>(sizeof(T));
  if constexpr (size == 8)
    return element_of_bits<T>(from.words[2 * lane] | (std::uint64_t{from.words[2 * lane + 1]} << 32));
  else
    return element_of_bits<T>(from.words[lane * size / 4] >> (8 * (lane * size % 4)));
}

/// Sets a lane, which has to be zero.
template <class T, int Lanes> constexpr void set_element(Words<T, Lanes>& to, int lane, T value) {
  constexpr int size = static_cast<int>(sizeof(T));
  if constexpr (size == 8) {
    std::uint64_t bits = 0; // not const: nvcc's front end fails when it tries to fold the cast
    bits = __builtin_bit_cast(std::uint64_t, value);
    to.words[2 * lane] = static_cast<std::uint32_t>(bits);
    to.words[2 * lane + 1] = static_cast<std::uint32_t>(bits >> 32);
  } else if constexpr (size == 4) {
    to.words[lane] = __builtin_bit_cast(std::uint32_t, value);
  } else {
    constexpr int lanes = 4 / size; // of a word
    std::uint32_t bits = 0;
    if constexpr (ShortFloat<T>)
      bits = value.bits;
    else if constexpr (size == 2)
      bits = static_cast<std::uint16_t>(value);
    else
      bits = static_cast<std::uint8_t>(value);
    to.words[lane / lanes] |= bits << (8 * size * (lane % lanes));
  }
}

/// The position of a thread's chunk in its row.
struct Place {
  std::int32_t first = 0;     ///< element of lane 0; in a flattened grid its number
  std::int32_t remaining = 0; ///< elements of the row from there on; none: the chunk is past the end
  bool is_full = false;       ///< all lanes have elements
};

/// Whether a lane has an element.
[[nodiscard]] constexpr bool is_alive(const Walk& walk, const Place& place, int lane) {
  return place.is_full || lane * walk.spacing < place.remaining;
}

/// The address of each operand's element for lane 0; the number of an iota there.
template <int Count> struct ChunkCursor {
  std::byte* at[Count == 0 ? 1 : Count]{};
  std::int64_t number[Count == 0 ? 1 : Count]{};
};

/// The distance of an indexed operand's element from its first: the grid was flattened, and `number` counts through it.
[[nodiscard]] constexpr std::int32_t indexed_offset(const OperandParameters& operand, const Walk& walk,
                                                    std::int32_t number) {
  auto rest = static_cast<std::uint32_t>(number);
  std::int32_t offset = 0;
  TWILL_NO_UNROLL
  for (int d = 0; d + 1 < walk.index_rank; ++d) {
    const std::uint32_t next = walk.index_extents[d].quotient(rest);
    offset += static_cast<std::int32_t>(rest - next * walk.index_extents[d].value) * operand.strides[d];
    rest = next;
  }
  return offset + static_cast<std::int32_t>(rest) * operand.strides[walk.index_rank - 1];
}

/// The distance of each lane's element from the cursor.
template <int Lanes> struct LaneOffsets { std::int32_t at[Lanes]{}; };

template <int Lanes>
[[nodiscard]] constexpr LaneOffsets<Lanes> lane_offsets(const OperandParameters& operand, const Walk& walk,
                                                        const Place& place) {
  LaneOffsets<Lanes> offsets{};
  if (operand.mode == Mode::indexed) {
    TWILL_NO_UNROLL
    for (int lane = 0; lane < Lanes; ++lane) {
      const std::int32_t offset = indexed_offset(operand, walk, place.first + lane * walk.spacing);
      TWILL_UNROLL // a comparison instead of an index, which would send the offsets through memory
          for (int k = 0; k < Lanes; ++k) offsets.at[k] = k == lane ? offset : offsets.at[k];
    }
  } else {
    TWILL_UNROLL
    for (int k = 0; k < Lanes; ++k)
      offsets.at[k] =
          static_cast<std::int32_t>(static_cast<std::uint32_t>(k) * static_cast<std::uint32_t>(operand.step));
  }
  return offsets;
}

/// The distance of a lane's element from the cursor.
template <Path Form>
[[nodiscard]] constexpr std::int64_t lane_offset(const OperandParameters& operand, const Walk& walk, const Place& place,
                                                 int lane) {
  if (Form == Path::any && operand.mode == Mode::indexed)
    return indexed_offset(operand, walk, place.first + lane * walk.spacing);
  return std::int64_t{lane} * operand.step;
}

/// The element at an address. Truth values are read as bytes: any nonzero byte is true.
template <class T> [[nodiscard]] constexpr T read_element(const std::byte* at, std::int64_t offset) {
  if constexpr (std::is_same_v<T, bool>)
    return reinterpret_cast<const std::uint8_t*>(at)[offset] != 0;
  else
    return reinterpret_cast<const T*>(at)[offset];
}

/// A whole chunk in one access, or a few.
template <class T, int Lanes> constexpr void load_units(Words<T, Lanes>& to, const std::byte* at) {
  constexpr int bytes = Words<T, Lanes>::unit_bytes;
  TWILL_UNROLL
  for (int u = 0; u < Words<T, Lanes>::units; ++u) {
    const Unit<bytes> unit = reinterpret_cast<const Unit<bytes>*>(at)[u];
    if constexpr (bytes < 4) {
      to.words[0] |= static_cast<std::uint32_t>(unit.words[0]) << (8 * bytes * u);
    } else {
      TWILL_UNROLL
      for (int w = 0; w < bytes / 4; ++w) to.words[u * (bytes / 4) + w] = unit.words[w];
    }
  }
}
template <class T, int Lanes> constexpr void store_units(const Words<T, Lanes>& from, std::byte* at) {
  constexpr int bytes = Words<T, Lanes>::unit_bytes;
  TWILL_UNROLL
  for (int u = 0; u < Words<T, Lanes>::units; ++u) {
    Unit<bytes> unit{};
    if constexpr (bytes < 4) {
      unit.words[0] = static_cast<std::remove_reference_t<decltype(unit.words[0])>>(from.words[0] >> (8 * bytes * u));
    } else {
      TWILL_UNROLL
      for (int w = 0; w < bytes / 4; ++w) unit.words[w] = from.words[u * (bytes / 4) + w];
    }
    reinterpret_cast<Unit<bytes>*>(at)[u] = unit;
  }
}

/// Issues the loads of a chunk. Of a broadcast operand only lane 0 is read; `spread` copies it after all loads.
template <Access A, Path Form, class T, int Lanes>
constexpr void load_chunk(Words<T, Lanes>& to, const std::byte* at, const OperandParameters& operand, const Walk& walk,
                          const Place& place) {
  if constexpr (Form == Path::plain && A == Access::contiguous) {
    load_units(to, at);
  } else if constexpr (Form == Path::plain && A == Access::uniform) {
    set_element(to, 0, read_element<T>(at, 0));
  } else if (A != Access::uniform && operand.mode == Mode::vector && place.is_full) {
    load_units(to, at);
  } else if (A != Access::contiguous && operand.mode == Mode::broadcast) {
    if (place.remaining > 0) set_element(to, 0, read_element<T>(at, 0));
  } else if constexpr (Form == Path::any) {
    const auto offsets = lane_offsets<Lanes>(operand, walk, place);
    TWILL_UNROLL
    for (int lane = 0; lane < Lanes; ++lane)
      if (is_alive(walk, place, lane)) set_element(to, lane, read_element<T>(at, offsets.at[lane]));
  }
}

/// Copies lane 0 of a broadcast operand to all.
template <Access A, class T, int Lanes> constexpr void spread(Words<T, Lanes>& to, const OperandParameters& operand) {
  if (A == Access::contiguous || operand.mode != Mode::broadcast) return;
  const T value = element(to, 0);
  to = Words<T, Lanes>{};
  TWILL_UNROLL
  for (int lane = 0; lane < Lanes; ++lane) set_element(to, lane, value);
}

/// Stores a chunk.
template <Path Form, class T, int Lanes>
constexpr void store_chunk(const Words<T, Lanes>& from, std::byte* at, const OperandParameters& operand,
                           const Walk& walk, const Place& place) {
  if (Form == Path::plain || (operand.mode == Mode::vector && place.is_full)) {
    store_units(from, at);
  } else {
    const auto offsets = lane_offsets<Lanes>(operand, walk, place);
    TWILL_UNROLL
    for (int lane = 0; lane < Lanes; ++lane)
      if (is_alive(walk, place, lane)) reinterpret_cast<T*>(at)[offsets.at[lane]] = element(from, lane);
  }
}

}}}} // namespace twill::v0::kernel::gpu
