#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Chunks of tensors for several devices, and their concatenation. Chunks are those of PyTorch's `chunk`: of ceil(n / k)
// rows, the last smaller, and none empty, so there can be fewer chunks than devices (5 rows on 4 devices: 2, 2, 1). A
// chunk that stays on its device is a view. Read next: parallel/data/scatter.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/tensor/tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// A range of rows.
struct Rows {
  std::int64_t begin = 0; ///< the first row
  std::int64_t count = 0; ///< their number

  friend bool operator==(const Rows&, const Rows&) = default;
};

/// The chunks of `rows` rows for at most `pieces` devices; no rows are one empty chunk.
/// throws: ValueError if there is no device
[[nodiscard]] std::vector<Rows> chunk_rows(std::int64_t rows, std::int64_t pieces);

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

template <class S, int Axis, class Sequence> struct OpenAxis;
template <std::int64_t... E, int Axis, int... I> struct OpenAxis<Shape<E...>, Axis, std::integer_sequence<int, I...>> {
  using type = Shape<(I == Axis ? dyn : E)...>;
};

/// The place of an axis, which may count from the end.
template <int Axis, int Rank> [[nodiscard]] consteval int place_of_axis() {
  static_assert(Axis >= -Rank && Axis < Rank, "twill: scatter or gather along an axis that the tensor does not have");
  return Axis < 0 ? Axis + Rank : Axis;
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// The shape of a piece: the extent along the axis is known only at run time.
template <AnyShape S, int Axis>
using piece_shape_t = typename detail::OpenAxis<S, detail::place_of_axis<Axis, S::rank>(),
                                                std::make_integer_sequence<int, S::rank>>::type;

/// The rows of a tensor along an axis, as a view.
template <int Axis = 0, class T, class D, class S>
[[nodiscard]] Tensor<T, D, piece_shape_t<S, Axis>> rows_of(const Tensor<T, D, S>& x, const Rows& rows) {
  constexpr int axis = detail::place_of_axis<Axis, S::rank>();
  Dims extents = x.shape();
  if (rows.begin < 0 || rows.count < 0 || rows.begin + rows.count > extents[axis])
    throw IndexError("rows: " + std::to_string(rows.begin) + " to " + std::to_string(rows.begin + rows.count) +
                     " lie outside axis " + std::to_string(axis) + " of shape " + to_string(extents));
  extents[axis] = rows.count;
  T* first = x.elements() == 0 ? x.data() : x.data() + rows.begin * x.strides()[axis];
  return {x.storage(), first, extents, x.strides()};
}

/// Splits a tensor over devices, which may be of another kind than its own.
template <int Axis = 0, class T, class D, class S, class To>
[[nodiscard]] std::vector<Tensor<T, To, piece_shape_t<S, Axis>>> chunk(const Tensor<T, D, S>& x,
                                                                       const std::vector<To>& devices) {
  std::vector<Tensor<T, To, piece_shape_t<S, Axis>>> pieces;
  const auto rows = chunk_rows(x.size(Axis), static_cast<std::int64_t>(devices.size()));
  for (std::size_t piece = 0; piece < rows.size(); ++piece)
    pieces.push_back(rows_of<Axis>(x, rows[piece]).to(devices[piece]));
  return pieces;
}

/// Joins chunks along an axis on one device. throws: ValueError without any, ShapeError if they differ in another axis
template <int Axis = 0, class T, class D, class S, class To>
[[nodiscard]] Tensor<T, To, piece_shape_t<S, Axis>> concatenate(const std::vector<Tensor<T, D, S>>& pieces,
                                                                const To& device) {
  constexpr int axis = detail::place_of_axis<Axis, S::rank>();
  if (pieces.empty()) throw ValueError("concatenate: there is at least one piece, got none");
  Dims whole = pieces[0].shape();
  whole[axis] = 0;
  for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
    Dims expected = pieces[0].shape();
    expected[axis] = pieces[piece].shape()[axis];
    if (!(expected == pieces[piece].shape()))
      throw ShapeError("concatenate: piece 0 has shape " + to_string(pieces[0].shape()) + ", piece " +
                       std::to_string(piece) + " has shape " + to_string(pieces[piece].shape()) +
                       "; they may differ along axis " + std::to_string(axis) + " only");
    whole[axis] += expected[axis];
  }
  Tensor<T, To, piece_shape_t<S, Axis>> result(device, whole);
  Rows rows;
  for (const auto& piece : pieces) {
    rows.count = piece.shape()[axis];
    if (rows.count > 0) rows_of<Axis>(result, rows).copy_from(piece);
    rows.begin += rows.count;
  }
  return result;
}

}}}} // namespace twill::v0::parallel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/data/chunk.ipp>
#endif
