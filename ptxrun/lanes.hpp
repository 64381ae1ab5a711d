#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Lanes of a warp: registers are stored as 32 values side by side, and a loop over all lanes of a full warp becomes vector instructions.

#include "ptxrun/instruction.hpp"
#include "ptxrun/machine.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ptxrun {

#if defined(__clang__)
#define PTXRUN_INDEPENDENT_ITERATIONS // clang warns of each loop that it then cannot vectorize
#else
#define PTXRUN_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

/// f(lane) for each lane of the mask, in any order: lanes may not read what others write. A destination may be a source: slots of one
/// width coincide or are apart.
template <class F> [[gnu::always_inline]] inline void for_lanes(std::uint32_t mask, F&& f) {
  if (mask == ~std::uint32_t{0}) {
    PTXRUN_INDEPENDENT_ITERATIONS
    for (int lane = 0; lane < 32; ++lane) f(lane);
  } else {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) f(std::countr_zero(rest));
  }
}

#undef PTXRUN_INDEPENDENT_ITERATIONS

/// f(lane) for each lane of the mask, one after another.
template <class F> [[gnu::always_inline]] inline void for_lanes_in_order(std::uint32_t mask, F&& f) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) f(std::countr_zero(rest));
}

[[nodiscard]] inline bool has_lane(std::uint32_t mask, int lane) { return ((mask >> lane) & 1) != 0; }

/// A register of all lanes; narrow types use the low bytes of 4.
template <class T> class LaneValues {
public:
  explicit LaneValues(std::byte* begin) : begin_{begin} {}
  T& operator[](int lane) const {
    return *reinterpret_cast<T*>(begin_ + static_cast<std::size_t>(lane) * (sizeof(T) <= 4 ? 4 : 8));
  }

private:
  std::byte* begin_;
};

[[nodiscard]] inline std::byte* begin_of(Warp& warp, const Operand& operand) {
  return warp.banks[operand.bank] + operand.offset;
}

template <class T> [[nodiscard]] LaneValues<T> values(Warp& warp, const Operand& operand) {
  return LaneValues<T>{begin_of(warp, operand)};
}

/// A lane's bits of a register whose width only the operand knows.
[[nodiscard]] inline std::uint64_t bits_of(Warp& warp, const Operand& operand, int lane) {
  const std::byte* const at = begin_of(warp, operand) + (static_cast<std::size_t>(lane) << operand.shift);
  return operand.shift == 3 ? *reinterpret_cast<const std::uint64_t*>(at) : *reinterpret_cast<const std::uint32_t*>(at);
}
inline void set_bits(Warp& warp, const Operand& operand, int lane, std::uint64_t bits) {
  std::byte* const at = begin_of(warp, operand) + (static_cast<std::size_t>(lane) << operand.shift);
  if (operand.shift == 3)
    *reinterpret_cast<std::uint64_t*>(at) = bits;
  else
    *reinterpret_cast<std::uint32_t*>(at) = static_cast<std::uint32_t>(bits);
}

/// The bits of a value in a wider register: signed ones fill it with their sign.
template <class T> [[nodiscard]] std::uint64_t extended(T value) {
  return static_cast<std::uint64_t>(
      static_cast<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(value));
}

/// A predicate of all lanes.
[[nodiscard]] inline std::uint32_t predicate(Warp& warp, const Operand& operand) {
  return *reinterpret_cast<const std::uint32_t*>(begin_of(warp, operand));
}
/// The predicate source `n`, negated where the text says so.
[[nodiscard]] inline std::uint32_t predicate_source(Warp& warp, const Instruction& instruction, std::size_t n) {
  const std::uint32_t bits = predicate(warp, instruction.sources[n]);
  return instruction.source_is_negated ? ~bits : bits;
}
inline void set_predicate(Warp& warp, const Operand& operand, std::uint32_t bits, std::uint32_t mask) {
  if (operand.is_ignored) return;
  auto& all = *reinterpret_cast<std::uint32_t*>(begin_of(warp, operand));
  all = (all & ~mask) | (bits & mask);
}

} // namespace ptxrun
