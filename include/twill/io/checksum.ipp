#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/checksum.hpp.

#include <twill/io/checksum.hpp>

namespace twill::inline v0::io {

TWILL_BODY void Checksum::add(std::span<const std::byte> bytes) {
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

TWILL_BODY std::uint64_t Checksum::value() const {
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

TWILL_BODY std::string Checksum::text() const {
  std::string digits(16, '0');
  std::uint64_t rest = value();
  for (std::size_t i = digits.size(); i-- > 0; rest >>= 4) digits[i] = "0123456789abcdef"[rest & 15];
  return digits;
}

TWILL_BODY void Checksum::take(const std::byte* bytes) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    std::uint64_t input = 0;
    std::memcpy(&input, bytes + 8 * i, 8);
    lanes_[i] = round(lanes_[i], input);
  }
}

} // namespace twill::inline v0::io
