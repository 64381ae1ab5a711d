#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What suites of tests/gpu that need tensors and expressions, but no models, run on when nvcc compiles them.

#include <tests/support/other_launches.cuh>

#include <twill/expr.cuh>
#include <twill/kernel/cuda/radix.cuh>

namespace twill::test {
using TestedDevice = Cuda;
} // namespace twill::test
