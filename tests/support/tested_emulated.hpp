#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What the suites of tests/gpu run on when a host compiler compiles them.

#include <tests/support/emulated_device.hpp>

#include <twill/compile/gpu/executor.hpp>
#include <twill/data/gpu/staging.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/kernel/gpu/product.hpp>

namespace twill::test {
using TestedDevice = Emulated;
} // namespace twill::test
