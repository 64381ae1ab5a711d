#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Relaxed stream capture for a scope. CUDA ends a thread's recording when the thread allocates, compiles or queries
// events, because such calls could wait for recorded work. Calls unrelated to the recorded stream, such as a library's
// set-up, are allowed in this scope. Not in the umbrella. Read next: device/cuda/cublas.cuh.

#include <twill/core/config.hpp>

#include <cuda_runtime.h>

namespace twill { inline namespace v0 { namespace nvidia {

class RelaxedCapture {
public:
  RelaxedCapture() { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

private:
  void exchange() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }

  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}}} // namespace twill::v0::nvidia
