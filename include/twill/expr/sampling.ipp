#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/sampling.hpp.

#include <twill/expr/sampling.hpp>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

TWILL_BODY void shuffle_places(std::int64_t* places, std::int64_t n, RandomDraw draw) {
  struct Keyed {
    std::uint64_t key;
    std::int64_t place;
  };
  if (n < 2) {
    if (n == 1) places[0] = 0;
    return;
  }
  constexpr int most_bits = 12; // more stretches than that would not be written to side by side in the cache
  const int bits = bits_needed(static_cast<std::uint64_t>(n)) - 4;
  const int shift = 64 - std::clamp(bits, 1, most_bits);
  std::vector<std::int64_t> starts((std::size_t{1} << (64 - shift)) + 1);
  std::vector<Keyed> keyed(static_cast<std::size_t>(n));
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(n) + 1);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); i += 2) {
    const auto pair = kernel::permutation_keys(draw.seed, draw.step, i / 2);
    keys[i] = pair[0];
    keys[i + 1] = pair[1];
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) ++starts[(keys[i] >> shift) + 1];
  for (std::size_t k = 1; k < starts.size(); ++k) starts[k] += starts[k - 1];
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t key = keys[static_cast<std::size_t>(i)];
    keyed[static_cast<std::size_t>(starts[key >> shift]++)] = {key, i};
  }
  std::size_t first = 0; // each start is the next stretch's by now
  for (std::size_t k = 0; k + 1 < starts.size(); ++k) {
    const auto last = static_cast<std::size_t>(starts[k]);
    std::sort(keyed.begin() + static_cast<std::ptrdiff_t>(first), keyed.begin() + static_cast<std::ptrdiff_t>(last),
              [](const Keyed& a, const Keyed& b) { return a.key < b.key || (a.key == b.key && a.place < b.place); });
    first = last;
  }
  for (std::size_t i = 0; i < keyed.size(); ++i) places[i] = keyed[i].place;
}

TWILL_BODY void draw_with_replacement(const double* weights, double greatest, std::int64_t* sums, std::int64_t n,
                                      std::int64_t* to, std::int64_t count, RandomDraw draw, std::uint64_t first) {
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < n; ++i) sums[i] = total += kernel::scaled_weight(weights[i], greatest, n);
  for (std::int64_t k = 0; k < count; ++k)
    to[k] = kernel::place_of_share(sums, n, draw.seed, draw.step, first + static_cast<std::uint64_t>(k));
}

TWILL_BODY void draw_without_replacement(const double* weights, double* clocks, std::int64_t* order, std::int64_t n,
                                         std::int64_t* to, std::int64_t count, RandomDraw draw, std::uint64_t first) {
  for (std::int64_t i = 0; i < n; ++i) {
    clocks[i] = kernel::random_clock(weights[i], draw.seed, draw.step, first + static_cast<std::uint64_t>(i));
    order[i] = i;
  }
  std::partial_sort(order, order + count, order + n, [clocks](std::int64_t a, std::int64_t b) {
    return clocks[a] < clocks[b] || (clocks[a] == clocks[b] && a < b);
  });
  std::copy(order, order + count, to);
}

}}}} // namespace twill::v0::expr::TWILL_ISA
