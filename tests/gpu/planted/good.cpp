// SPDX-License-Identifier: Apache-2.0
//
// Suites with planted faults, one in each file here, for tests/gpu/run_gpu_test.py. They need no GPU and say that there is one.

#include <tests/support/suite.hpp>

int tested_device_count() { return 1; }

namespace {

using namespace twill::test;

const Case adds{"adds", [] { require_equal(1 + 1, 2); }};
const Case subtracts{"subtracts", [] { require_equal(1 - 1, 0); }};

} // namespace
