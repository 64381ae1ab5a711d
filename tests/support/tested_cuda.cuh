#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What the suites of tests/gpu run on when nvcc compiles them.

#include <twill/cuda.cuh>

namespace twill::test {
using TestedDevice = Cuda;
} // namespace twill::test
