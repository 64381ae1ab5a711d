#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Emulation of float16 on host processors: it is stored in two bytes and computed in float32, one operation after the
// other with a rounding in between, which gives correct numbers but is slower than float32. A program gets one warning.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>

#include <atomic>

namespace twill { inline namespace v0 {

/// Warns once, through the warning sink, that float16 is emulated on host devices.
inline void say_that_half_is_emulated() {
  static std::atomic<bool> is_said{false};
  if (!is_said.exchange(true))
    warn("float16: host devices emulate it, in float32 with a rounding after each operation; bfloat16 is faster "
         "where the processor has its instructions, and float32 everywhere");
}

}} // namespace twill::v0
