#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Integer division by numbers that a kernel is given, without the dozens of instructions that a GPU needs for it: as a
// multiplication and a shift. Indices that may pass 31 bits take a divisor that the host made for their bound: all threads of
// a launch go the fast way, or all divide. Read next: kernel/gpu/axes.hpp.

#include <cstdint>

namespace twill::inline v0::kernel::gpu {

/// A divisor of numbers below 2^31, as a multiplication and a shift: Granlund and Montgomery, "Division by invariant integers
/// using multiplication" (1994).
struct Divisor {
  std::uint32_t value = 1;
  std::uint32_t magic = 1;
  std::uint32_t shift = 0;

  constexpr Divisor() = default;
  /// requires: 1 <= divisor <= 2^31
  constexpr explicit Divisor(std::uint32_t divisor) : value{divisor} {
    while ((std::uint64_t{1} << shift) < divisor) ++shift;
    magic =
        static_cast<std::uint32_t>(((std::uint64_t{1} << 32) * ((std::uint64_t{1} << shift) - divisor)) / divisor + 1);
  }

  [[nodiscard]] constexpr std::uint32_t quotient(std::uint32_t number) const {
    const auto upper = static_cast<std::uint32_t>((std::uint64_t{number} * magic) >> 32);
    return (upper + number) >> shift;
  }
};

/// Numbers from 0 to a bound, known to the host, divided by one that a launch is given.
class IndexDivisor {
public:
  /// A number and what it leaves.
  struct Parts {
    std::int64_t quotient = 0;
    std::int64_t rest = 0;
  };

  constexpr IndexDivisor() = default;
  /// requires: divisor >= 1, and numbers below `bound`
  constexpr IndexDivisor(std::int64_t divisor, std::int64_t bound) : value_{divisor}, is_fast_{bound <= fast_bound} {
    // a greater divisor than that leaves all numbers, as the greatest fast one does
    if (is_fast_) fast_ = Divisor{static_cast<std::uint32_t>(divisor < fast_bound ? divisor : fast_bound)};
  }

  [[nodiscard]] constexpr bool is_fast() const { return is_fast_; }
  [[nodiscard]] constexpr std::int64_t quotient(std::int64_t number) const {
    return is_fast_ ? std::int64_t{fast_.quotient(static_cast<std::uint32_t>(number))} : number / value_;
  }
  [[nodiscard]] constexpr Parts parts(std::int64_t number) const {
    const std::int64_t whole = quotient(number);
    return {whole, number - whole * value_};
  }

private:
  static constexpr std::int64_t fast_bound = std::int64_t{1} << 31;
  std::int64_t value_ = 1;
  Divisor fast_{};
  bool is_fast_ = true;
};

} // namespace twill::inline v0::kernel::gpu
