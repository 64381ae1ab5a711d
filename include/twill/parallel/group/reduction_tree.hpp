#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Reduction tree of ranks' values, the only order of sums in twill. Element by element, x[r] takes in x[r + s] for s =
// 1, 2, 4, ... and r a multiple of 2s: the binomial tree of MPI's reductions. The order depends only on the number of
// ranks, not on timing, nor on how an array is divided, so threads and processes get equal bits. half and bfloat16 are
// added in float and rounded once, at the end. Maximum and minimum pass NaN, as NumPy does; integers wrap around.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/parallel/group/operation.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// The type of partial results: float for the 16-bit types, else the type itself.
template <Scalar T> using Partial = std::conditional_t<NarrowFloat<T>, float, T>;

template <Reduction R, class T> [[nodiscard]] constexpr T combine(T left, T right) {
  if constexpr (R == Reduction::any) {
    return static_cast<T>(left != T{} || right != T{});
  } else if constexpr (R == Reduction::all) {
    return static_cast<T>(left != T{} && right != T{});
  } else if constexpr (R == Reduction::max) {
    return left != left || left > right ? left : right; // NaN on the right loses no comparison, so it passes as well
  } else if constexpr (R == Reduction::min) {
    return left != left || left < right ? left : right;
  } else if constexpr (std::same_as<T, bool>) {
    return R == Reduction::sum ? left || right : left && right;
  } else if constexpr (std::signed_integral<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(R == Reduction::sum ? static_cast<U>(left) + static_cast<U>(right)
                                              : static_cast<U>(left) * static_cast<U>(right));
  } else {
    return static_cast<T>(R == Reduction::sum ? left + right : left * right);
  }
}

inline constexpr std::int64_t tree_block = 512; ///< Elements in progress: partial results stay in first-level cache.

template <Reduction R, class T>
void reduce_block(std::span<const void* const> sources, std::int64_t begin, std::int64_t count, Partial<T>* result) {
  using P = Partial<T>;
  const T* left = static_cast<const T*>(sources[0]) + begin;
  if (sources.size() == 1) {
    for (std::int64_t i = 0; i < count; ++i) result[i] = static_cast<P>(left[i]);
  } else if (sources.size() == 2) {
    const T* right = static_cast<const T*>(sources[1]) + begin;
    for (std::int64_t i = 0; i < count; ++i)
      result[i] = combine<R, P>(static_cast<P>(left[i]), static_cast<P>(right[i]));
  } else {
    const std::size_t half = std::bit_ceil(sources.size()) / 2; // the left subtree is the largest full one
    std::array<P, tree_block> right;
    reduce_block<R, T>(sources.first(half), begin, count, result);
    reduce_block<R, T>(sources.subspan(half), begin, count, right.data());
    for (std::int64_t i = 0; i < count; ++i) result[i] = combine<R, P>(result[i], right[static_cast<std::size_t>(i)]);
  }
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Reduces the elements [begin, end) of all sources into all targets. A target may be a source. `mean` divides by the
/// number of sources. requires: at least one source
template <Reduction R, Scalar T>
void reduce_tree(std::span<const void* const> sources, std::span<void* const> targets, std::int64_t begin,
                 std::int64_t end) {
  std::array<detail::Partial<T>, detail::tree_block> block;
  for (std::int64_t at = begin; at < end; at += detail::tree_block) {
    const std::int64_t count = std::min(detail::tree_block, end - at);
    detail::reduce_block<R == Reduction::mean ? Reduction::sum : R, T>(sources, at, count, block.data());
    if constexpr (R == Reduction::mean)
      for (std::int64_t i = 0; i < count; ++i)
        block[static_cast<std::size_t>(i)] /= static_cast<detail::Partial<T>>(sources.size());
    for (void* target : targets) {
      T* to = static_cast<T*>(target) + at;
      for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(block[static_cast<std::size_t>(i)]);
    }
  }
}

/// Reduces with type and reduction known at run time.
void reduce_tree(DType dtype, Reduction reduction, std::span<const void* const> sources, std::span<void* const> targets,
                 std::int64_t begin, std::int64_t end);

}}}} // namespace twill::v0::parallel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/group/reduction_tree.ipp>
#endif
