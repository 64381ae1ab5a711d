#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tags of reductions, for tensors and for traced values: whether reduced axes stay, and the divisor of a variance. Read
// next: expr/reductions.hpp, ops/axes.hpp.

#include <concepts>

namespace twill { inline namespace v0 {

/// Reduced axes stay, with extent 1.
struct KeptDims {
  static constexpr bool keeps = true; ///< for reductions
};
/// Reduced axes disappear.
struct DroppedDims {
  static constexpr bool keeps = false; ///< for reductions
};
template <class K>
concept ReducedDims = std::same_as<K, KeptDims> || std::same_as<K, DroppedDims>;
/// `sum<1>(x, keepdims)`: the reduced axes stay, with extent 1.
inline constexpr KeptDims keepdims{};

/// The difference between the number of elements and the divisor of a variance.
template <int Value> struct Correction {};
/// `var<0>(x, correction<1>)`: the number subtracted from the count.
template <int Value> inline constexpr Correction<Value> correction{};

}} // namespace twill::v0
