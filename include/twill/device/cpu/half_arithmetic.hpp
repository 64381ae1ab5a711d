#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What host processors make of float16: it is stored in two bytes and computed in float32, one operation after the other with a
// rounding in between, which gives the right numbers more slowly than float32 itself. A program is told once.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>

#include <atomic>

namespace twill { inline namespace v0 {

/// Says once, through the warning sink, that float16 is emulated on host devices.
inline void say_that_half_is_emulated() {
  static std::atomic<bool> is_said{false};
  if (!is_said.exchange(true))
    warn(
        "float16: host devices emulate it, in float32 with a rounding after each operation; bfloat16 is faster where the "
        "processor has its instructions, and float32 everywhere");
}

}} // namespace twill::v0
