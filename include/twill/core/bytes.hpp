#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Literals for memory sizes: `4_KiB`, `512_MiB`, `2_GiB`, in powers of 1024. Budgets and limits are numbers of bytes of
// type std::int64_t everywhere. Read next: nn/fit.hpp.

#include <cstdint>

namespace twill { inline namespace v0 { inline namespace literals {

/// A number of KiB in bytes: times 2^10.
[[nodiscard]] consteval std::int64_t operator""_KiB(unsigned long long count) {
  return static_cast<std::int64_t>(count) << 10;
}
/// A number of MiB in bytes: times 2^20.
[[nodiscard]] consteval std::int64_t operator""_MiB(unsigned long long count) {
  return static_cast<std::int64_t>(count) << 20;
}
/// A number of GiB in bytes: times 2^30.
[[nodiscard]] consteval std::int64_t operator""_GiB(unsigned long long count) {
  return static_cast<std::int64_t>(count) << 30;
}

}}} // namespace twill::v0::literals
