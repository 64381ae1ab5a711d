#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Integer division by run-time constants of a kernel as a multiplication and a shift, instead of the dozens of
// instructions that a GPU needs for it. Indices that may pass 31 bits take a divisor that the host made for their
// bound: all threads of a launch multiply 32 bits, or all 64. Read next: kernel/gpu/axes.hpp.

#include <twill/core/philox.hpp>

#include <array>
#include <concepts>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// Division of words without their highest bit as a multiplication and a shift: Granlund and Montgomery, "Division by
/// invariant integers using multiplication" (1994).
template <std::unsigned_integral Word> struct Reciprocal {
  Word magic = 1;
  std::uint32_t shift = 0;

  constexpr Reciprocal() = default;
  /// requires: 1 <= divisor <= 2^31, or 2^63
  constexpr explicit Reciprocal(Word divisor) {
    while ((Word{1} << shift) < divisor) ++shift;
    const Word rest = (Word{1} << shift) - divisor;
    if constexpr (sizeof(Word) < 8) {
      magic = static_cast<Word>((std::uint64_t{rest} << 32) / divisor + 1);
    } else {
      magic = 0; // rest * 2^64 / divisor, bit by bit
      Word left = rest;
      for (int bit = 0; bit < 64; ++bit) {
        magic = 2 * magic + (2 * left >= divisor ? 1 : 0);
        left = 2 * left >= divisor ? 2 * left - divisor : 2 * left;
      }
      ++magic;
    }
  }

  [[nodiscard]] constexpr Word quotient(Word number) const {
    if constexpr (sizeof(Word) < 8)
      return (static_cast<Word>((std::uint64_t{number} * magic) >> 32) + number) >> shift;
    else
      return (multiply_high(number, magic) + number) >> shift;
  }
};

/// A divisor of numbers below 2^31.
struct Divisor {
  std::uint32_t value = 1;
  Reciprocal<std::uint32_t> reciprocal{};

  constexpr Divisor() = default;
  /// requires: 1 <= divisor <= 2^31
  constexpr explicit Divisor(std::uint32_t divisor) : value{divisor}, reciprocal{divisor} {}

  [[nodiscard]] constexpr std::uint32_t quotient(std::uint32_t number) const { return reciprocal.quotient(number); }
};

/// Division of numbers from 0 to a bound, known to the host, by a number given to a launch.
class IndexDivisor {
public:
  /// A quotient and its remainder.
  struct Parts {
    std::int64_t quotient = 0;
    std::int64_t rest = 0;
  };

  constexpr IndexDivisor() = default;
  /// requires: divisor >= 1, and numbers below `bound`
  constexpr IndexDivisor(std::int64_t divisor, std::int64_t bound) : value_{divisor}, is_fast_{bound <= fast_bound} {
    if (is_fast_) { // a greater divisor leaves all numbers as remainders, like the greatest fast one
      const Reciprocal narrow{static_cast<std::uint32_t>(divisor < fast_bound ? divisor : fast_bound)};
      reciprocal_.magic = narrow.magic;
      reciprocal_.shift = narrow.shift;
    } else {
      reciprocal_ = Reciprocal{static_cast<std::uint64_t>(divisor)};
    }
  }

  [[nodiscard]] constexpr bool is_fast() const { return is_fast_; }
  [[nodiscard]] constexpr std::int64_t quotient(std::int64_t number) const {
    if (!is_fast_) return static_cast<std::int64_t>(reciprocal_.quotient(static_cast<std::uint64_t>(number)));
    Reciprocal<std::uint32_t> narrow;
    narrow.magic = static_cast<std::uint32_t>(reciprocal_.magic);
    narrow.shift = reciprocal_.shift;
    return narrow.quotient(static_cast<std::uint32_t>(number));
  }
  [[nodiscard]] constexpr Parts parts(std::int64_t number) const {
    const std::int64_t whole = quotient(number);
    return {whole, number - whole * value_};
  }

private:
  static constexpr std::int64_t fast_bound = std::int64_t{1} << 31;
  std::int64_t value_ = 1;
  Reciprocal<std::uint64_t> reciprocal_{}; ///< of 32 bits where all numbers have fewer
  bool is_fast_ = true;
};

/// The elements of channels-last images, (batch, height, width, channels), each with its pixel.
class Pixels {
public:
  struct Index {
    std::int64_t image = 0;
    std::int64_t row = 0;
    std::int64_t column = 0;
    std::int64_t channel = 0;
  };

  constexpr Pixels() = default;
  /// requires: elements
  constexpr Pixels(std::int64_t batch, const std::array<std::int64_t, 2>& extents, std::int64_t channels)
      : elements_{batch * extents[0] * extents[1] * channels},
        rows_(extents[0], elements_),
        columns_(extents[1], elements_),
        channels_(channels, elements_) {}

  [[nodiscard]] constexpr std::int64_t elements() const { return elements_; }
  [[nodiscard]] constexpr Index operator()(std::int64_t number) const {
    const IndexDivisor::Parts pixel = channels_.parts(number);
    const IndexDivisor::Parts row = columns_.parts(pixel.quotient);
    const IndexDivisor::Parts image = rows_.parts(row.quotient);
    return {image.quotient, image.rest, row.rest, pixel.rest};
  }

private:
  std::int64_t elements_ = 0;
  IndexDivisor rows_{};
  IndexDivisor columns_{};
  IndexDivisor channels_{};
};

}}}} // namespace twill::v0::kernel::gpu
