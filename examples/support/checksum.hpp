#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// One number for all weights of a network, or all states of a step: equal bits give equal numbers, so two runs are compared by
// looking. 64-bit FNV-1a (Fowler, Noll and Vo, 1991). Not part of twill.

#include <twill/device/device.hpp>
#include <twill/nn/stored_tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace examples {

namespace detail {

inline constexpr std::uint64_t first_sum = 0xcbf29ce484222325U;

template <class Bytes> [[nodiscard]] std::uint64_t sum_after(std::uint64_t sum, const Bytes& bytes) {
  for (const auto byte : bytes) sum = (sum ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3U;
  return sum;
}

[[nodiscard]] inline std::string hexadecimal(std::uint64_t sum) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(sum));
  return text;
}

} // namespace detail

/// The weights' bytes in the order of the model, as 16 hexadecimal digits.
template <class Network> [[nodiscard]] std::string checksum(const Network& network) {
  std::uint64_t sum = detail::first_sum;
  for (const auto& parameter : network.parameters()) {
    std::vector<unsigned char> bytes(parameter.buffer.bytes());
    copy_bytes(twill::Cpu{0}, bytes.data(), network.device(), parameter.buffer.data(), bytes.size(),
               twill::CopyOptions{});
    sum = detail::sum_after(sum, bytes);
  }
  return detail::hexadecimal(sum);
}

/// The bytes of a state dictionary's tensors in its order, as 16 hexadecimal digits.
[[nodiscard]] inline std::string checksum(const twill::nn::StateDict& state) {
  std::uint64_t sum = detail::first_sum;
  for (const auto& [name, tensor] : state.entries()) sum = detail::sum_after(sum, tensor.bytes);
  return detail::hexadecimal(sum);
}

} // namespace examples
