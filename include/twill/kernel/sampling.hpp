#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Random orders and weighted choices: pure functions of a draw and a place, equal on host devices and GPUs. Weights
// become integers, whose sums do not depend on the order of addition, so that all devices make equal choices.
// Read next: expr/sampling.hpp.

#include <twill/core/bits.hpp>
#include <twill/core/philox.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace twill { inline namespace v0 { namespace kernel {

/// The keys by which the places 2 pair and 2 pair + 1 of a random order are sorted.
[[nodiscard]] constexpr std::array<std::uint64_t, 2> permutation_keys(std::uint64_t seed, std::uint32_t step,
                                                                      std::uint64_t pair) {
  const auto words = philox4x32({static_cast<std::uint32_t>(pair), static_cast<std::uint32_t>(pair >> 32), 0, step},
                                {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return {std::uint64_t{words[0]} << 32 | words[1], std::uint64_t{words[2]} << 32 | words[3]};
}
[[nodiscard]] constexpr std::uint64_t permutation_key(std::uint64_t seed, std::uint32_t step, std::uint64_t i) {
  const auto keys = permutation_keys(seed, step, i / 2);
  return i % 2 == 0 ? keys[0] : keys[1];
}

/// A weight as a fraction of the greatest of n, in units so small that n have 62 bits. Positive weights stay positive.
[[nodiscard]] constexpr std::int64_t scaled_weight(double weight, double greatest, std::int64_t n) {
  if (!(weight > 0)) return 0;
  const int bits = 62 - bits_needed(static_cast<std::uint64_t>(n));
  const auto share = static_cast<std::int64_t>(weight / greatest * static_cast<double>(std::int64_t{1} << bits));
  return share > 0 ? share : 1;
}

/// The first of n running sums that exceeds a random fraction of the last.
[[nodiscard]] constexpr std::int64_t place_of_share(const std::int64_t* sums, std::int64_t n, std::uint64_t seed,
                                                    std::uint32_t step, std::uint64_t index) {
  const auto share =
      static_cast<std::int64_t>(random_integer(seed, step, 0, static_cast<std::uint64_t>(sums[n - 1]), index));
  std::int64_t first = 0;
  for (std::int64_t count = n; count > 0;) {
    const std::int64_t middle = count / 2;
    if (sums[first + middle] <= share) {
      first += middle + 1;
      count -= middle + 1;
    } else {
      count = middle;
    }
  }
  return first;
}

/// The first ring of a weight's exponential clock (Efraimidis and Spirakis, "Weighted random sampling with a
/// reservoir", 2006).
[[nodiscard]] constexpr double random_clock(double weight, std::uint64_t seed, std::uint32_t step,
                                            std::uint64_t index) {
  if (!(weight > 0)) return std::numeric_limits<double>::infinity();
  const auto bits = random_integer(seed, step, 0, std::uint64_t{1} << 53, index);
  return -std::log1p(-static_cast<double>(bits) * 0x1p-53) / weight;
}

}}} // namespace twill::v0::kernel
