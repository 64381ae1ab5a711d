#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Draws the initial values of a weight. Element i of weight k is a pure function of (seed, step, k, i), so networks of one
// seed are equal on every device kind and for any number of devices. Read next: nn/network.hpp.

#include <twill/compile/binding.hpp>
#include <twill/core/config.hpp>
#include <twill/core/philox.hpp>
#include <twill/device/device.hpp>
#include <twill/graph/parameter.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <vector>

namespace twill::inline v0::nn::detail::inline TWILL_ISA {

/// One element of an initialiser.
[[nodiscard]] inline double initial_value(const graph::Initialiser& initialiser, const Draw& draw, std::uint32_t node,
                                          std::uint64_t index) {
  using Kind = graph::Initialiser::Kind;
  const std::int64_t behind = static_cast<std::int64_t>(index) - initialiser.first_zero;
  if (behind >= 0 && behind < initialiser.zeros) return 0;
  const auto uniform = [&](std::uint64_t i) {
    return static_cast<double>(random_uniform(draw.seed, draw.step, node, i));
  };
  // Box and Muller, 1958, from two draws; 1 - u is never 0.
  const auto normal = [&] {
    return std::sqrt(-2 * std::log(1 - uniform(2 * index))) * std::cos(2 * std::numbers::pi * uniform(2 * index + 1));
  };
  switch (initialiser.kind) {
  case Kind::constant:
    return initialiser.a;
  case Kind::uniform:
    return initialiser.a + (initialiser.b - initialiser.a) * uniform(index);
  case Kind::normal:
    return initialiser.a + initialiser.b * normal();
  case Kind::uniform_fan_in:
    return initialiser.b / std::sqrt(initialiser.a) * (2 * uniform(index) - 1);
  case Kind::normal_fan_in:
    return initialiser.b / std::sqrt(initialiser.a) * normal();
  }
  return 0;
}

/// All elements of a weight, as bytes of its type.
[[nodiscard]] inline std::vector<std::byte> initial_values(const graph::ParameterInfo& info, std::uint32_t node,
                                                           const Draw& draw) {
  const auto count = static_cast<std::size_t>(info.shape.elements().factor);
  const std::size_t size = size_of(info.dtype);
  std::vector<std::byte> bytes(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = compile::bits_of(info.dtype, initial_value(info.initialiser, draw, node, i));
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}

} // namespace twill::inline v0::nn::detail::inline TWILL_ISA

namespace twill::inline v0::nn::inline TWILL_ISA {

/// Fills a weight on any device.
template <ComputeDevice D>
void initialise_parameter(const D& device, const graph::ParameterInfo& info, std::size_t number, const Draw& draw,
                          void* data) {
  if constexpr (D::has_memory) {
    const std::vector<std::byte> bytes = detail::initial_values(info, static_cast<std::uint32_t>(number), draw);
    copy_bytes(device, data, Cpu{}, bytes.data(), bytes.size(), CopyOptions{});
  }
}

} // namespace twill::inline v0::nn::inline TWILL_ISA
