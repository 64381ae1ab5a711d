#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What rows.cu offers: it launches one of a few row programs.

#include <twill/device/cuda/runtime.cuh>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/program.hpp>

void launch_row_programs(const twill::gpu::Queue<twill::CudaRuntime>& queue, const twill::kernel::Grid& grid,
                         const twill::kernel::Operand* operands, int which);
