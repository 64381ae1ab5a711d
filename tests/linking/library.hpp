#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What each of the two test libraries offers: everything else in them is hidden.

#include <cstdint>

namespace library_one {
[[gnu::visibility("default")]] const void* pool_address();
[[gnu::visibility("default")]] std::int64_t allocate();
[[gnu::visibility("default")]] void release();
[[gnu::visibility("default")]] void throw_shape_error();
[[gnu::visibility("default")]] void seed(std::uint64_t value);
} // namespace library_one

namespace library_two {
[[gnu::visibility("default")]] const void* pool_address();
[[gnu::visibility("default")]] std::int64_t allocated();
[[gnu::visibility("default")]] bool catches(void (*thrower)());
[[gnu::visibility("default")]] std::uint64_t seed();
} // namespace library_two
