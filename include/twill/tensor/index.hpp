#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// NumPy indexing: integers drop an axis, `slice{begin, end, step}` and `all` keep it, `newaxis` inserts one, `ellipsis`
// stands for the missing `all`s. The shape of the result follows from the kinds of index at compile time; the layout is
// computed at run time, where integers and slices are checked. Read next: tensor/tensor.hpp.

#include <twill/core/config.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/shape.hpp>
#include <twill/tensor/layout.hpp>
#include <twill/tensor/shapes.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <utility>

namespace twill { inline namespace v0 {

namespace detail {
enum class IndexKind : std::uint8_t { integer, range, everything, new_axis, rest };

struct All {
  /// `all(x > 0)` is the reduction of expr/reductions.hpp; with axes it is `all_of<1>(x > 0)`.
  template <class X> [[nodiscard]] constexpr auto operator()(X&& x) const { return all_of(std::forward<X>(x)); }
};
struct NewAxis {};
struct Ellipsis {};

template <class I> inline constexpr IndexKind index_kind = IndexKind::integer;
template <> inline constexpr IndexKind index_kind<slice> = IndexKind::range;
template <> inline constexpr IndexKind index_kind<All> = IndexKind::everything;
template <> inline constexpr IndexKind index_kind<NewAxis> = IndexKind::new_axis;
template <> inline constexpr IndexKind index_kind<Ellipsis> = IndexKind::rest;
} // namespace detail

/// A whole axis.
inline constexpr detail::All all{};
/// A new axis of extent 1.
inline constexpr detail::NewAxis newaxis{};
/// All axes that the other indices do not name.
inline constexpr detail::Ellipsis ellipsis{};

/// One index of `x(i, j)`: an integer, a `slice`, `all`, `ellipsis` or `newaxis`.
template <class I>
concept AxisIndex = std::integral<I> || std::same_as<I, slice> || detail::index_kind<I>
!= detail::IndexKind::integer;

namespace detail {

/// The result's extents as far as the kinds of index tell; rank -1 for too many indices.
template <std::size_t Count>
[[nodiscard]] constexpr Dims indexed_dims(const Dims& from, const std::array<IndexKind, Count>& kinds) {
  int named = 0;
  bool has_rest = false;
  for (const IndexKind kind : kinds) {
    named += kind != IndexKind::new_axis && kind != IndexKind::rest ? 1 : 0;
    has_rest = has_rest || kind == IndexKind::rest;
  }
  Dims result{};
  if (named > from.rank) {
    result.rank = -1;
    return result;
  }
  int axis = 0;
  const auto keep = [&](int count) {
    for (; count > 0; --count) result[result.rank++] = from[axis++];
  };
  for (const IndexKind kind : kinds) {
    if (kind == IndexKind::new_axis)
      result[result.rank++] = 1;
    else if (kind == IndexKind::rest)
      keep(from.rank - named);
    else if (kind == IndexKind::everything)
      keep(1);
    else if (kind == IndexKind::range)
      result[result.rank++] = dyn, ++axis;
    else
      ++axis;
  }
  keep(from.rank - axis);
  return result;
}

template <AnyShape S, class... I> consteval Dims checked_indexed_dims() {
  constexpr Dims dims = indexed_dims(dims_of<S>, std::array<IndexKind, sizeof...(I)>{index_kind<I>...});
  if constexpr (dims.rank < 0)
    static_cast<void>(
        sizeof(Mistake<refused<Problem::too_many_indices, with::count<static_cast<std::int64_t>(sizeof...(I))>,
                               with::rank<S::rank>>>));
  return dims;
}

/// Applies indices one after another to a layout.
struct Indexer {
  const layout::Layout& from;
  int rest = 0; ///< the number of axes that an ellipsis stands for
  layout::Layout result{.offset = from.offset};
  int axis = 0;

  void keep() {
    layout::append(result, from.extents[axis], from.strides[axis]);
    ++axis;
  }
  void apply(std::integral auto index) {
    const std::int64_t place = layout::checked_index(static_cast<std::int64_t>(index), from.extents[axis], axis);
    result.offset += place * from.strides[axis];
    ++axis;
  }
  void apply(const slice& range) {
    layout::append_slice(result, from.extents[axis], from.strides[axis], range);
    ++axis;
  }
  void apply(All) { keep(); }
  void apply(NewAxis) { layout::append(result, 1, 0); }
  void apply(Ellipsis) {
    for (int count = 0; count < rest; ++count) keep();
  }
};

template <class... I> [[nodiscard]] layout::Layout indexed(const layout::Layout& from, const I&... indices) {
  constexpr int named = (0 + ... + (index_kind<I> != IndexKind::new_axis && index_kind<I> != IndexKind::rest ? 1 : 0));
  Indexer indexer{.from = from, .rest = from.extents.rank - named};
  (indexer.apply(indices), ...);
  while (indexer.axis < from.extents.rank) indexer.keep();
  return indexer.result;
}
} // namespace detail

}} // namespace twill::v0
