#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sort keys: numbers as unsigned integers in sorting order, by size, NaN after all others, -0 equal to 0; and the exact
// reverse for descending order. Radix sorts compare nothing else. Read next: kernel/gpu/radix.hpp.

#include <twill/core/half.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// The integers by which an element type is sorted.
template <class T> using order_key_t = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
/// The number of their lower bits that are used.
template <class T> inline constexpr int order_key_bits = static_cast<int>(8 * sizeof(T));

/// The bits of a floating number.
template <class T> [[nodiscard]] constexpr order_key_t<T> bits_of(T value) {
  if constexpr (NarrowFloat<T>)
    return value.bits;
  else
    return __builtin_bit_cast(order_key_t<T>, value);
}
/// The bits of infinity.
template <class T> [[nodiscard]] constexpr order_key_t<T> infinity_bits() {
  if constexpr (std::same_as<T, half>)
    return 0x7c00U;
  else if constexpr (std::same_as<T, bfloat16>)
    return 0x7f80U;
  else if constexpr (std::same_as<T, float>)
    return 0x7f800000U;
  else
    return 0x7ff0000000000000U;
}

template <bool IsDescending, class T> [[nodiscard]] constexpr order_key_t<T> order_key(T value) {
  using Key = order_key_t<T>;
  constexpr int bits = order_key_bits<T>;
  constexpr Key sign = Key{1} << (bits - 1);
  constexpr Key all = static_cast<Key>(sign | (sign - 1));
  Key key = 0;
  if constexpr (std::is_unsigned_v<T>) { // and bool
    key = static_cast<Key>(value);
  } else if constexpr (std::integral<T>) {
    key = static_cast<Key>((static_cast<Key>(value) & all) ^ sign);
  } else {
    const Key own = bits_of(value);
    const Key size = own & static_cast<Key>(~sign);
    key = size > infinity_bits<T>() ? all : size == 0 ? sign : (own & sign) != 0 ? all ^ own : own | sign;
  }
  return IsDescending ? all - key : key;
}

}}}} // namespace twill::v0::kernel::gpu
