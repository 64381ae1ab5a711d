#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Shapes of tensors. `Shape<2, dyn, 3>` is the shape as far as the compiler knows it: every extent is a number or
// `dyn`. `Dims` is the run-time twin: a rank and that many extents, a plain value for graphs, kernels and messages.
// Both follow NumPy: row-major, broadcasting from the right. Read next: tensor/tensor.hpp.

#include <twill/core/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace twill { inline namespace v0 {

/// An extent that is known only at run time.
inline constexpr std::int64_t dyn = -1;

/// The largest number of dimensions a tensor can have.
inline constexpr int max_rank = 8;

/// Extents at run time.
struct Dims {
  int rank = 0;                                 ///< the number of extents that count, at most `max_rank`
  std::array<std::int64_t, max_rank> extents{}; ///< those beyond the rank are zero

  constexpr Dims() = default;
  /// One extent for each axis.
  template <class... Extents>
  constexpr explicit Dims(std::int64_t first, Extents... rest)
      : rank{1 + static_cast<int>(sizeof...(rest))}, extents{first, static_cast<std::int64_t>(rest)...} {}

  [[nodiscard]] constexpr std::int64_t operator[](int axis) const { return extents[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] constexpr std::int64_t& operator[](int axis) { return extents[static_cast<std::size_t>(axis)]; }
  /// The product of the extents, 1 for rank 0; wrapped where 64 bits cannot count it, which `counted_bytes` tells.
  [[nodiscard]] constexpr std::int64_t elements() const {
    std::uint64_t product = 1;
    for (int axis = 0; axis < rank; ++axis) product *= static_cast<std::uint64_t>((*this)[axis]);
    return static_cast<std::int64_t>(product);
  }
  [[nodiscard]] friend constexpr bool operator==(const Dims& left, const Dims& right) {
    if (left.rank != right.rank) return false;
    for (int axis = 0; axis < left.rank; ++axis)
      if (left[axis] != right[axis]) return false;
    return true;
  }
};

/// The strides, in elements, of a row-major tensor of these extents; wrapped where the tensor is larger than 64 bits
/// can count, which `counted_bytes` tells.
[[nodiscard]] constexpr Dims contiguous_strides(const Dims& dims) {
  Dims strides{};
  strides.rank = dims.rank;
  std::uint64_t stride = 1;
  for (int axis = dims.rank - 1; axis >= 0; --axis) {
    strides[axis] = static_cast<std::int64_t>(stride);
    stride *= static_cast<std::uint64_t>(dims[axis]);
  }
  return strides;
}

/// The bytes of that many elements of a size, or -1 where an extent is negative or their number exceeds 64 bits. An
/// extent of 0 counts as 1 for this limit, as in NumPy, so that row-major strides fit too.
[[nodiscard]] constexpr std::int64_t counted_bytes(const Dims& dims, std::size_t element_bytes) {
  auto bytes = static_cast<std::int64_t>(element_bytes);
  bool is_empty = false;
  for (int axis = 0; axis < dims.rank; ++axis) {
    is_empty = is_empty || dims[axis] == 0;
    if (dims[axis] < 0 || __builtin_mul_overflow(bytes, dims[axis] == 0 ? 1 : dims[axis], &bytes)) return -1;
  }
  return is_empty ? 0 : bytes;
}

/// "(2, 3)", "(7,)" or "()", as NumPy prints shapes.
[[nodiscard]] std::string to_string(const Dims& dims);

/// A shape as a type; `dyn` marks the extents that are known only at run time.
template <std::int64_t... Extents> struct Shape {
  static_assert(((Extents >= 0 || Extents == dyn) && ...), "twill: an extent is at least 0, or dyn");
  static_assert(sizeof...(Extents) <= max_rank, "twill: a tensor has at most 8 dimensions");

  static constexpr int rank = static_cast<int>(sizeof...(Extents)); ///< The number of axes.
  static constexpr bool is_static = ((Extents != dyn) && ...);      ///< Whether no extent is `dyn`.
  /// The extents in order; `dyn` where one is known only at run time.
  static constexpr std::array<std::int64_t, sizeof...(Extents)> extents{Extents...};

  /// The extent of an axis, `dyn` where unknown.
  [[nodiscard]] static constexpr std::int64_t extent(int axis) { return extents[static_cast<std::size_t>(axis)]; }

  /// The run-time twin. requires: is_static
  [[nodiscard]] static constexpr Dims dims() requires is_static {
    Dims result{};
    result.rank = rank;
    for (int axis = 0; axis < rank; ++axis) result[axis] = extent(axis);
    return result;
  }

  /// True when every extent that the type knows agrees with the value.
  [[nodiscard]] static constexpr bool admits(const Dims& dims) {
    if (dims.rank != rank) return false;
    for (int axis = 0; axis < rank; ++axis)
      if (extent(axis) != dyn && extent(axis) != dims[axis]) return false;
    return true;
  }
};

/// Whether S is a `Shape`.
template <class S> inline constexpr bool is_shape = false;
template <std::int64_t... E> inline constexpr bool is_shape<Shape<E...>> = true;

/// A `Shape`, of any extents.
template <class S>
concept AnyShape = is_shape<S>;

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/core/shape.ipp>
#endif
