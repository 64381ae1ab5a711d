// SPDX-License-Identifier: Apache-2.0
#include <ptxrun/runtime/state.hpp>

#include <ptxrun/findings.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace ptxrun::runtime {
namespace {

thread_local int device_in_use = 0;
thread_local cudaError_t last_error = cudaSuccess;
std::atomic<cudaError_t> stuck{cudaSuccess};

/// Ends a program that has findings with a status of their own. A destructor of this library's, which is linked into the
/// program, runs after those of the program's own objects.
struct AtExit {
  ~AtExit() {
    write_report();
    if (finding_count() == 0) return;
    std::cout.flush();
    std::fflush(nullptr);
    std::_Exit(status_of_findings);
  }
};
const AtExit at_exit{};

} // namespace

Lock lock_state() {
  static auto* const mutex = new std::mutex;
  return Lock{*mutex};
}

cudaError_t finish(cudaError_t status) {
  if (const cudaError_t first = stuck.load(); first != cudaSuccess) status = first;
  if (status != cudaSuccess && status != cudaErrorNotReady) last_error = status;
  return status;
}

void stick(cudaError_t status) {
  cudaError_t none = cudaSuccess;
  if (options().errors_stick) stuck.compare_exchange_strong(none, status);
}

int current_device() { return device_in_use; }

} // namespace ptxrun::runtime

using namespace ptxrun::runtime;

extern "C" {

cudaError_t cudaGetDevice(int* device) {
  *device = device_in_use;
  return finish(cudaSuccess);
}

cudaError_t cudaSetDevice(int device) {
  if (!is_device(device)) return finish(cudaErrorInvalidDevice);
  device_in_use = device;
  return finish(cudaSuccess);
}

cudaError_t cudaPeekAtLastError() {
  const cudaError_t first = stuck.load();
  return first != cudaSuccess ? first : last_error;
}

cudaError_t cudaGetLastError() {
  const cudaError_t status = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return status;
}
}
