#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Literals for the memory sizes of data sheets, in powers of 1000: `80_GB` is less than `80_GiB`. Like those of
// core/bytes.hpp they are numbers of bytes of type std::int64_t. Not in twill.hpp. Read next: core/bytes.hpp.

#include <twill/core/bytes.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { inline namespace literals {

/// A number of MB in bytes: times 10^6.
[[nodiscard]] consteval std::int64_t operator""_MB(unsigned long long count) {
  return static_cast<std::int64_t>(count) * 1'000'000;
}
/// A number of GB in bytes: times 10^9.
[[nodiscard]] consteval std::int64_t operator""_GB(unsigned long long count) {
  return static_cast<std::int64_t>(count) * 1'000'000'000;
}

}}} // namespace twill::v0::literals
