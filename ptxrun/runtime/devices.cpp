// SPDX-License-Identifier: Apache-2.0
//
// Devices that the CUDA runtime stand-in pretends to have, and the names of its errors.
#include <ptxrun/runtime/state.hpp>

#include <algorithm>
#include <cstdio>
#include <string_view>

using namespace ptxrun::runtime;
using ptxrun::options;

namespace {

constexpr int most_threads = 1024;
constexpr int most_grid_x = 0x7fffffff;
constexpr int most_grid_yz = 65535;
constexpr int l2_bytes = 50 << 20;

struct ErrorName {
  cudaError_t error;
  const char* name;
  const char* text;
};
#define PTXRUN_ERROR(name, text)                                                                                       \
  ErrorName { name, #name, text }
constexpr ErrorName error_names[] = {
    PTXRUN_ERROR(cudaSuccess, "no error"),
    PTXRUN_ERROR(cudaErrorInvalidValue, "invalid argument"),
    PTXRUN_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    PTXRUN_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    PTXRUN_ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    PTXRUN_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    PTXRUN_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    PTXRUN_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    PTXRUN_ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    PTXRUN_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    PTXRUN_ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    PTXRUN_ERROR(cudaErrorNotReady, "device not ready"),
    PTXRUN_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    PTXRUN_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    PTXRUN_ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    PTXRUN_ERROR(cudaErrorAssert, "device-side assert triggered"),
    PTXRUN_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    PTXRUN_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    PTXRUN_ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    PTXRUN_ERROR(cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture"),
    PTXRUN_ERROR(cudaErrorStreamCaptureMerge, "operation would merge two independent capture sequences"),
    PTXRUN_ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    PTXRUN_ERROR(cudaErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream"),
    PTXRUN_ERROR(cudaErrorStreamCaptureWrongThread, "attempt to end capture from another thread"),
    PTXRUN_ERROR(cudaErrorCapturedEvent, "operation not permitted on an event last recorded in a capturing stream"),
    PTXRUN_ERROR(cudaErrorUnknown, "unknown error"),
};
#undef PTXRUN_ERROR

const ErrorName& entry_of(cudaError_t error) {
  const auto* const found = std::find_if(std::begin(error_names), std::end(error_names),
                                         [error](const ErrorName& each) { return each.error == error; });
  return found == std::end(error_names) ? *std::prev(std::end(error_names)) : *found;
}

} // namespace

extern "C" {

const char* cudaGetErrorName(cudaError_t error) { return entry_of(error).name; }
const char* cudaGetErrorString(cudaError_t error) { return entry_of(error).text; }

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return finish(cudaSuccess);
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = options().devices;
  return finish(*count > 0 ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (!is_device(device)) return finish(cudaErrorInvalidDevice);
  switch (attribute) {
  case cudaDevAttrMultiProcessorCount:
    *value = options().multiprocessors;
    break;
  case cudaDevAttrComputeCapabilityMajor:
    *value = options().capability / 10;
    break;
  case cudaDevAttrComputeCapabilityMinor:
    *value = options().capability % 10;
    break;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    *value = static_cast<int>(options().opt_in_shared_bytes());
    break;
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
    *value = static_cast<int>(options().multiprocessor_shared_bytes());
    break;
  case cudaDevAttrMaxSharedMemoryPerBlock:
    *value = 48 << 10;
    break;
  case cudaDevAttrReservedSharedMemoryPerBlock:
    *value = options().capability < 80 ? 0 : 1024;
    break;
  case cudaDevAttrMaxThreadsPerBlock:
  case cudaDevAttrMaxBlockDimX:
  case cudaDevAttrMaxBlockDimY:
    *value = most_threads;
    break;
  case cudaDevAttrMaxThreadsPerMultiProcessor:
    *value = options().capability == 75                                     ? 1024
             : options().capability % 10 == 0 && options().capability < 100 ? 2048
                                                                            : 1536;
    break;
  case cudaDevAttrMaxBlocksPerMultiprocessor:
    *value = 16;
    break;
  case cudaDevAttrMaxRegistersPerBlock:
  case cudaDevAttrMaxRegistersPerMultiprocessor:
    *value = 65536;
    break;
  case cudaDevAttrWarpSize:
    *value = 32;
    break;
  case cudaDevAttrMaxGridDimX:
    *value = most_grid_x;
    break;
  case cudaDevAttrMaxGridDimY:
  case cudaDevAttrMaxGridDimZ:
    *value = most_grid_yz;
    break;
  case cudaDevAttrMemoryPoolsSupported:
  case cudaDevAttrUnifiedAddressing:
  case cudaDevAttrConcurrentKernels:
    *value = 1;
    break;
  case cudaDevAttrL2CacheSize:
    *value = l2_bytes;
    break;
  default:
    *value = 0;
  }
  return finish(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!is_device(device)) return finish(cudaErrorInvalidDevice);
  const auto attribute = [device](cudaDeviceAttr which) {
    int value = 0;
    static_cast<void>(cudaDeviceGetAttribute(&value, which, device));
    return value;
  };
  *properties = cudaDeviceProp{};
  std::snprintf(properties->name, sizeof properties->name, "PTX interpreter");
  properties->major = attribute(cudaDevAttrComputeCapabilityMajor);
  properties->minor = attribute(cudaDevAttrComputeCapabilityMinor);
  properties->multiProcessorCount = attribute(cudaDevAttrMultiProcessorCount);
  properties->maxThreadsPerMultiProcessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  properties->maxThreadsPerBlock = most_threads;
  properties->sharedMemPerBlock = 48 << 10;
  properties->sharedMemPerBlockOptin = options().opt_in_shared_bytes();
  properties->sharedMemPerMultiprocessor = options().multiprocessor_shared_bytes();
  properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = most_threads;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = most_grid_x;
  properties->maxGridSize[1] = properties->maxGridSize[2] = most_grid_yz;
  properties->totalGlobalMem = options().memory_bytes;
  properties->warpSize = 32;
  properties->unifiedAddressing = properties->concurrentKernels = 1;
  properties->l2CacheSize = l2_bytes;
  return finish(cudaSuccess);
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (!is_device(device)) return finish(cudaErrorInvalidDevice);
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0", static_cast<unsigned>(device + 1));
  return finish(cudaSuccess);
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = is_device(device) && is_device(peer) && device != peer ? 1 : 0;
  return finish(cudaSuccess);
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return finish(is_device(peer) ? cudaSuccess : cudaErrorInvalidDevice);
}
}
