#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Limits of the pretended device: what a launch may ask for (check_launch in interpreter.hpp), and how many blocks it holds at once.

#include "ptxrun/kernel.hpp"

#include <cstddef>

namespace ptxrun {

/// How many blocks of a launch all multiprocessors hold together, at least one.
[[nodiscard]] std::size_t resident_blocks(const Kernel& kernel, const Launch& launch);

} // namespace ptxrun
