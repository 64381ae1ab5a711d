#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// State that all calls of the CUDA runtime stand-in share: one lock, each thread's current device and last error, and the
// error that stays after a fault (PTXRUN_STICKY). Objects are never destroyed, since programs call the runtime while they
// end. Read next: streams.hpp.

#include <ptxrun/options.hpp>

#include <mutex>

#include <cuda_runtime_api.h>

namespace ptxrun::runtime {

using Lock = std::unique_lock<std::mutex>;

/// Holds the lock of the runtime's state. Operations of streams run without it (streams.hpp).
[[nodiscard]] Lock lock_state();

/// Ends a call: notes a failure as the calling thread's last error, and puts the error that stays in front of it.
[[nodiscard]] cudaError_t finish(cudaError_t status);

/// After this all calls fail, where the options ask for it.
void stick(cudaError_t status);

/// The calling thread's current device.
[[nodiscard]] int current_device();

[[nodiscard]] inline bool is_device(int device) { return device >= 0 && device < options().devices; }

} // namespace ptxrun::runtime
