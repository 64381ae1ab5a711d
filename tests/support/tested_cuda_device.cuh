#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What suites of tests/gpu run on when nvcc compiles them and they use no more than a device and kernels of their own: they
// compile in half the time. tests/gpu/CMakeLists.txt lists them.

#include <twill/device/cuda/cuda.cuh>
#include <twill/kernel/cuda/block.cuh>

namespace twill::test {
using TestedDevice = Cuda;
} // namespace twill::test
