#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Size-class policies of a pool: how a request is rounded, from which kind of segment it is cut, and whether the rest
// of a block is worth keeping as a block. Requests up to 1 MiB share segments of 2 MiB, requests up to 10 MiB segments
// of 20 MiB, larger ones get a segment of their own in steps of 2 MiB; these are the classes of PyTorch's allocator, so
// users find familiar figures. Read next: memory/free_index.hpp.

#include <bit>
#include <concepts>
#include <cstddef>

namespace twill { inline namespace v0 { namespace memory {

/// The kind tag by which `Pool` finds a size-class policy among its arguments.
struct SizePolicyKind {};

/// A policy of size classes. `granularity` divides every block size and every address within a segment.
template <class P>
concept SizePolicy = std::same_as<typename P::policy_kind, SizePolicyKind> && requires(std::size_t bytes) {
  { P::granularity } -> std::convertible_to<std::size_t>;
  { P::round(bytes) } -> std::same_as<std::size_t>;
  { P::is_small(bytes) } -> std::same_as<bool>;
  { P::segment_bytes(bytes) } -> std::same_as<std::size_t>;
  { P::worth_splitting(bytes, bytes) } -> std::same_as<bool>;
};

/// The next multiple, in bytes.
[[nodiscard]] constexpr std::size_t round_up(std::size_t bytes, std::size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

/// Multiples of 512 bytes; segments of 2 MiB, 20 MiB, and multiples of 2 MiB.
struct ReferenceSizes {
  using policy_kind = SizePolicyKind;
  static constexpr std::size_t mebibyte = std::size_t{1} << 20; ///< bytes
  static constexpr std::size_t granularity = 512;               ///< to which requests are rounded up
  static constexpr std::size_t largest_small = mebibyte;        ///< requests up to here come from small segments
  static constexpr std::size_t small_segment = 2 * mebibyte;    ///< bytes of a segment for small requests
  static constexpr std::size_t medium_segment = 20 * mebibyte;  ///< bytes of a segment for medium requests
  static constexpr std::size_t largest_medium = 10 * mebibyte;  ///< requests up to here come from medium segments

  /// Bytes that a request takes: a multiple of 512, at least 512.
  [[nodiscard]] static constexpr std::size_t round(std::size_t bytes) {
    return bytes <= granularity ? granularity : round_up(bytes, granularity);
  }
  /// Whether a rounded request comes from a small segment.
  [[nodiscard]] static constexpr bool is_small(std::size_t rounded) { return rounded <= largest_small; }
  /// Bytes of the segment that is reserved for a rounded request.
  [[nodiscard]] static constexpr std::size_t segment_bytes(std::size_t rounded) {
    if (is_small(rounded)) return small_segment;
    if (rounded < largest_medium) return medium_segment;
    return round_up(rounded, small_segment);
  }
  /// Whether to split a block: a remainder that only small requests could use is not cut off a large block.
  [[nodiscard]] static constexpr bool worth_splitting(std::size_t rounded, std::size_t remainder) {
    return is_small(rounded) ? remainder >= granularity : remainder > largest_small;
  }
};

/// Rounds up to one of `Divisions` equal steps between two powers of two, so that slightly different sizes reuse each
/// other's blocks: with four divisions 1200 bytes become 1280.
template <std::size_t Divisions> struct PowerOfTwoDivisions : ReferenceSizes {
  static_assert(std::has_single_bit(Divisions) && Divisions <= 8, "twill: divisions are 1, 2, 4 or 8");
  /// A divisor of every rounded request, in bytes.
  static constexpr std::size_t granularity = ReferenceSizes::granularity / Divisions;

  /// Bytes that a request takes: rounded up to the next part of a power of two.
  [[nodiscard]] static constexpr std::size_t round(std::size_t bytes) {
    if (bytes <= ReferenceSizes::granularity) return ReferenceSizes::granularity;
    return round_up(bytes, std::bit_floor(bytes) / Divisions);
  }
  [[nodiscard]] static constexpr bool worth_splitting(std::size_t rounded, std::size_t remainder) {
    return is_small(rounded) ? remainder >= ReferenceSizes::granularity : remainder > largest_small;
  }
};

}}} // namespace twill::v0::memory
