#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A 64-bit checksum of bytes that arrive in pieces: XXH64 with seed 0, so any tool that knows the algorithm can verify a file.
// It finds damage, not forgery. Source: Yann Collet's specification, "xxHash fast digest algorithm" (2018), section XXH64.

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
  void add(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    total_ += bytes.size();
    if (filled_ > 0) {
      const std::size_t count = std::min(bytes.size(), stripe - filled_);
      std::memcpy(rest_.data() + filled_, bytes.data(), count);
      filled_ += count;
      bytes = bytes.subspan(count);
      if (filled_ < stripe) return;
      take(rest_.data());
      filled_ = 0;
    }
    for (; bytes.size() >= stripe; bytes = bytes.subspan(stripe)) take(bytes.data());
    if (!bytes.empty()) std::memcpy(rest_.data(), bytes.data(), bytes.size());
    filled_ = bytes.size();
  }

  /// The checksum of all bytes so far.
  [[nodiscard]] std::uint64_t value() const {
    std::uint64_t hash = prime5;
    if (total_ >= stripe) {
      hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
      for (const std::uint64_t lane : lanes_) hash = (hash ^ round(0, lane)) * prime1 + prime4;
    }
    hash += total_;
    std::size_t at = 0;
    for (; at + 8 <= filled_; at += 8) hash = std::rotl(hash ^ round(0, word<std::uint64_t>(at)), 27) * prime1 + prime4;
    if (at + 4 <= filled_) {
      hash = std::rotl(hash ^ (word<std::uint32_t>(at) * prime1), 23) * prime2 + prime3;
      at += 4;
    }
    for (; at < filled_; ++at) hash = std::rotl(hash ^ (word<std::uint8_t>(at) * prime5), 11) * prime1;
    hash = (hash ^ hash >> 33) * prime2;
    hash = (hash ^ hash >> 29) * prime3;
    return hash ^ hash >> 32;
  }

  /// Sixteen hexadecimal digits.
  [[nodiscard]] std::string text() const {
    std::string digits(16, '0');
    std::uint64_t rest = value();
    for (std::size_t i = digits.size(); i-- > 0; rest >>= 4) digits[i] = "0123456789abcdef"[rest & 15];
    return digits;
  }

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
  void take(const std::byte* bytes) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      std::uint64_t input = 0;
      std::memcpy(&input, bytes + 8 * i, 8);
      lanes_[i] = round(lanes_[i], input);
    }
  }
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
