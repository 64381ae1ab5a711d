#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// While a thread records a stream, CUDA ends the recording when the thread allocates, compiles or asks about events, because
// such calls could wait for what is only recorded. For calls that have nothing to do with the recorded stream, a library's
// set-up for one, this lets them through for a scope. Not in the umbrella. Read next: device/cuda/cublas.cuh.

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
