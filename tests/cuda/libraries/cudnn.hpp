#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of cuDNN share: a described H200, so that graphs are planned without a GPU.

#include <tests/cuda/libraries/device_numbers.hpp>

#include <twill/device/cuda/cudnn_plan.cuh>

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

} // namespace twill::test
