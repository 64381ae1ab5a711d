#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Numbers on a CUDA device for the tests of the vendor's libraries.

#include <twill/device/cuda/cuda.cuh>
#include <twill/memory/buffer.hpp>

#include <cstddef>
#include <random>
#include <vector>

namespace twill::test {

using DeviceMemory = memory::Buffer<Cuda>;

template <class T> DeviceMemory on_device(const std::vector<T>& values) {
  DeviceMemory buffer(Cuda{0}, values.size() * sizeof(T));
  copy_bytes(Cuda{0}, buffer.data(), Cpu{0}, values.data(), values.size() * sizeof(T), CopyOptions{});
  return buffer;
}
template <class T> std::vector<T> on_host(const DeviceMemory& memory, std::size_t count) {
  std::vector<T> values(count);
  copy_bytes(Cpu{0}, values.data(), Cuda{0}, memory.data(), count * sizeof(T), CopyOptions{});
  synchronize(Cuda{0});
  return values;
}
template <class T> std::vector<T> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random{seed};
  std::uniform_real_distribution<double> real{-1, 1};
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(real(random));
  return values;
}

} // namespace twill::test
