#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tags of reductions, for tensors and for traced values: whether reduced axes stay, the divisor of a variance, and the
// order of a norm. Read next: expr/reductions.hpp, ops/axes.hpp.

#include <concepts>

namespace twill { inline namespace v0 {

/// Axes in an order, for `tensordot<Axes<1, 0>, Axes<0, 1>>(a, b)`; negative ones count from the end.
template <int... A> struct Axes {
  static constexpr int count = static_cast<int>(sizeof...(A)); ///< how many there are
};

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

/// The order of a norm: `norm<1>(x, order<1>)`. `order<0>` counts the elements that are not zero.
template <int P> struct NormOrder {};
/// The tag of an order: `norm(x, order<1>)`.
template <int P> inline constexpr NormOrder<P> order{};

/// Orders that are not numbers.
struct OrderOfMax {};
struct OrderOfMin {};
/// The greatest magnitude as a norm: `norm(x, order_inf)`.
inline constexpr OrderOfMax order_inf{};
/// The least magnitude as a norm: `norm(x, order_negative_inf)`.
inline constexpr OrderOfMin order_negative_inf{};

}} // namespace twill::v0
