#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// std::mt19937_64 that also runs at compile time (Matsumoto and Nishimura, "Mersenne Twister", 1998; Nishimura's 64-bit
// form, 2000), with draws from ranges that do not depend on the standard library. Random tests that compile what they make
// draw from it.

#include <array>
#include <cstddef>
#include <cstdint>

namespace twill::test {

class Mersenne {
public:
  constexpr explicit Mersenne(std::uint64_t seed) {
    state_[0] = seed;
    for (std::size_t i = 1; i < size; ++i)
      state_[i] = 6364136223846793005U * (state_[i - 1] ^ (state_[i - 1] >> 62)) + i;
  }

  /// 64 random bits.
  constexpr std::uint64_t operator()() {
    if (next_ == size) twist();
    std::uint64_t x = state_[next_++];
    x ^= (x >> 29) & 0x5555555555555555U;
    x ^= (x << 17) & 0x71d67fffeda60000U;
    x ^= (x << 37) & 0xfff7eee000000000U;
    return x ^ (x >> 43);
  }

  /// A whole number, both ends included. The upper bits of a product, drawn again where that would be biased
  /// (Lemire, "Fast Random Integer Generation in an Interval", 2019).
  constexpr int between(int low, int high) {
    __extension__ using Wide = unsigned __int128;
    const auto count = static_cast<std::uint64_t>(high - low) + 1;
    Wide product = Wide{(*this)()} * count;
    if (static_cast<std::uint64_t>(product) < count) {
      const std::uint64_t threshold = -count % count;
      while (static_cast<std::uint64_t>(product) < threshold) product = Wide{(*this)()} * count;
    }
    return low + static_cast<int>(product >> 64);
  }

  /// In [0, 1).
  constexpr double uniform() {
    const double number = static_cast<double>((*this)()) * 0x1p-64;
    return number < 1.0 ? number : 0x1.fffffffffffffp-1;
  }

private:
  static constexpr std::size_t size = 312;

  constexpr void twist() {
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint64_t x = (state_[i] & ~std::uint64_t{0x7fffffff}) | (state_[(i + 1) % size] & 0x7fffffffU);
      state_[i] = state_[(i + 156) % size] ^ (x >> 1) ^ ((x & 1) != 0 ? 0xb5026f5aa96619e9U : 0);
    }
    next_ = 0;
  }

  std::array<std::uint64_t, size> state_{};
  std::size_t next_ = size;
};

} // namespace twill::test
