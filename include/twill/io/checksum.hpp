#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A 64-bit checksum of bytes that arrive in pieces: XXH64 with seed 0, so any tool that knows the algorithm can verify a file.
// It finds damage, not forgery. Source: Yann Collet's specification, "xxHash fast digest algorithm" (2018), section XXH64.

#include <twill/core/config.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace twill::inline v0::io {

class Checksum {
public:
  void add(std::span<const std::byte> bytes);

  /// The checksum of all bytes so far.
  [[nodiscard]] std::uint64_t value() const;

  /// Sixteen hexadecimal digits.
  [[nodiscard]] std::string text() const;

private:
  static constexpr std::uint64_t prime1 = 0x9E3779B185EBCA87;
  static constexpr std::uint64_t prime2 = 0xC2B2AE3D27D4EB4F;
  static constexpr std::uint64_t prime3 = 0x165667B19E3779F9;
  static constexpr std::uint64_t prime4 = 0x85EBCA77C2B2AE63;
  static constexpr std::uint64_t prime5 = 0x27D4EB2F165667C5;
  static constexpr std::size_t stripe = 32;

  [[nodiscard]] static constexpr std::uint64_t round(std::uint64_t lane, std::uint64_t input) {
    return std::rotl(lane + input * prime2, 31) * prime1;
  }
  void take(const std::byte* bytes);
  template <class T> [[nodiscard]] std::uint64_t word(std::size_t at) const {
    T value{};
    std::memcpy(&value, rest_.data() + at, sizeof(T));
    return value;
  }

  std::array<std::uint64_t, 4> lanes_{prime1 + prime2, prime2, 0, std::uint64_t{0} - prime1};
  std::array<std::byte, stripe> rest_{};
  std::size_t filled_ = 0;
  std::uint64_t total_ = 0;
};

} // namespace twill::inline v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/checksum.ipp>
#endif
