#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of cuDNN share: a described H200, so that graphs are planned without a GPU, and copies to and from one.

#include <twill/device/cuda/cuda.cuh>
#include <twill/device/cuda/cudnn_plan.cuh>
#include <twill/memory/buffer.hpp>

#include <cstdint>
#include <random>
#include <vector>

namespace twill::test {

/// The properties that cuDNN reads of an H200.
inline nvidia::dnn::Descriptor described_h200() {
  return nvidia::dnn::properties_from(
      R"({"maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536,
      "multiProcessorCount": 132, "smClockRateKHz": 1980000, "memClockRateKHz": 3201000, "l2CacheSize": 62914560,
      "warpSize": 32, "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
      "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536, "pciDeviceId": 0, "maxCtasPerSM": 32,
      "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "isTccDriver": 0, "supportCoopLaunch": 1, "deviceVer": 900,
      "driverVer": 13000, "cudaDeviceId": 0, "totalGlobalMem": 150754820096, "maxSharedMemoryPerSM": 233472,
      "deviceName": "NVIDIA H200"})");
}

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
