#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sizes of memory as they are written: `4_KiB`, `512_MiB`, `2_GiB`, in powers of 1024. Budgets and limits are numbers of
// bytes of type std::int64_t everywhere. Read next: nn/fit.hpp.

#include <cstdint>

namespace twill { inline namespace v0 { inline namespace literals {

/// So many times 2^10 bytes.
[[nodiscard]] consteval std::int64_t operator""_KiB(unsigned long long count) {
  return static_cast<std::int64_t>(count) << 10;
}
/// So many times 2^20 bytes.
[[nodiscard]] consteval std::int64_t operator""_MiB(unsigned long long count) {
  return static_cast<std::int64_t>(count) << 20;
}
/// So many times 2^30 bytes.
[[nodiscard]] consteval std::int64_t operator""_GiB(unsigned long long count) {
  return static_cast<std::int64_t>(count) << 30;
}

}}} // namespace twill::v0::literals
