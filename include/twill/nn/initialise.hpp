#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Draws the initial values of a weight. Element i of weight k is a pure function of (seed, step, k, i), so networks of one
// seed are equal on every device kind and for any number of devices. Read next: nn/network.hpp.

#include <twill/core/philox.hpp>
#include <twill/device/device.hpp>
#include <twill/graph/parameter.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace twill::inline v0::nn {

namespace detail {

/// One element of an initialiser.
[[nodiscard]] inline double initial_value(const graph::Initialiser& initialiser, const Draw& draw, std::uint32_t node, std::uint64_t index) {
  using Kind = graph::Initialiser::Kind;
  const auto uniform = [&](std::uint64_t i) { return static_cast<double>(random_uniform(draw.seed, draw.step, node, i)); };
  // Box and Muller, 1958, from two draws; 1 - u is never 0.
  const auto normal = [&] {
    return std::sqrt(-2 * std::log(1 - uniform(2 * index))) * std::cos(2 * std::numbers::pi * uniform(2 * index + 1));
  };
  switch (initialiser.kind) {
    case Kind::constant: return initialiser.a;
    case Kind::uniform: return initialiser.a + (initialiser.b - initialiser.a) * uniform(index);
    case Kind::normal: return initialiser.a + initialiser.b * normal();
    case Kind::uniform_fan_in: return initialiser.b / std::sqrt(initialiser.a) * (2 * uniform(index) - 1);
    case Kind::normal_fan_in: return initialiser.b / std::sqrt(initialiser.a) * normal();
  }
  return 0;
}

template <class T, HostDevice D>
void fill_parameter(const D& device, const graph::ParameterInfo& info, std::uint32_t node, const Draw& draw, void* data) {
  const auto count = static_cast<std::size_t>(info.shape.elements().factor);
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(initial_value(info.initialiser, draw, node, i));
  copy_bytes(device, data, Cpu{}, values.data(), count * sizeof(T), CopyOptions{});
}

} // namespace detail

/// Fills a weight on any device.
template <HostDevice D>
void initialise_parameter(const D& device, const graph::ParameterInfo& info, std::size_t number, const Draw& draw, void* data) {
  const auto node = static_cast<std::uint32_t>(number);
  if constexpr (D::has_memory) switch (info.dtype) {
      case DType::float64: detail::fill_parameter<double>(device, info, node, draw, data); break;
      case DType::float16: detail::fill_parameter<half>(device, info, node, draw, data); break;
      case DType::bfloat16: detail::fill_parameter<bfloat16>(device, info, node, draw, data); break;
      default: detail::fill_parameter<float>(device, info, node, draw, data); break;
    }
}

} // namespace twill::inline v0::nn
