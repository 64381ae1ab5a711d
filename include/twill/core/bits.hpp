#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Bit counts for host and device code. In device code, nvcc 13 silently folds std::bit_width and similar functions of
// libstdc++ into constants for 64-bit numbers: they choose a branch by the widest type, which the device's front end
// takes for known. The compiler's own function is translated correctly, so all code that a kernel may reach counts bits
// with this file (checked by tools/checks/device_code.py). Read next: kernel/sampling.hpp.

#include <cstdint>

namespace twill { inline namespace v0 {

/// The bits that a number needs: 0 of 0, 1 of 1, 3 of 4.
[[nodiscard]] constexpr int bits_needed(std::uint64_t x) { return x == 0 ? 0 : 64 - __builtin_clzll(x); }

/// The greatest power of two that is at most x.    requires: x > 0
[[nodiscard]] constexpr std::uint64_t power_of_two_within(std::uint64_t x) {
  return std::uint64_t{1} << (bits_needed(x) - 1);
}

/// The least power of two that is at least x.    requires: x <= 2^63
[[nodiscard]] constexpr std::uint64_t power_of_two_around(std::uint64_t x) {
  return x <= 1 ? 1 : std::uint64_t{1} << bits_needed(x - 1);
}

}} // namespace twill::v0
