#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// One number for all weights of a network: equal bits give equal numbers, so two runs are compared by looking. 64-bit FNV-1a
// (Fowler, Noll and Vo, 1991). Not part of twill.

#include <twill/device/device.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace examples {

/// The weights' bytes in the order of the model, as 16 hexadecimal digits.
template <class Network> [[nodiscard]] std::string checksum(const Network& network) {
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (const auto& parameter : network.parameters()) {
    std::vector<unsigned char> bytes(parameter.buffer.bytes());
    copy_bytes(twill::Cpu{0}, bytes.data(), network.device(), parameter.buffer.data(), bytes.size(),
               twill::CopyOptions{});
    for (const unsigned char byte : bytes) sum = (sum ^ byte) * 0x100000001b3U;
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(sum));
  return text;
}

} // namespace examples
