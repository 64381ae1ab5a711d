#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Functions given by samples, with NumPy's names: the bins in which values fall, linear interpolation between points,
// and discrete convolution of vectors. Not in twill.hpp. Read next: algorithms/search.hpp.

#include <twill/algorithms/rows.hpp>
#include <twill/algorithms/search.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/promotion.hpp>
#include <twill/core/samples.hpp>
#include <twill/core/text.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/functions.hpp>
#include <twill/expr/operators.hpp>
#include <twill/expr/pad.hpp>
#include <twill/expr/reductions.hpp>
#include <twill/expr/take.hpp>
#include <twill/tensor/tensor.hpp>
#include <twill/tensor/views.hpp>

#include <cstdint>
#include <utility>

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The number of the bin of each value (int64, in the shape of x): 0 below the first edge, the number of edges from the
/// last one on. Edges ascend.
template <TensorOperand X, TensorOperand E>
[[nodiscard]] auto digitize(X&& x, E&& edges, BinEdge closed = BinEdge::lower) {
  const auto values = algorithms::tensor_of_operand(std::forward<X>(x));
  const auto bounds = algorithms::tensor_of_operand(std::forward<E>(edges));
  return closed == BinEdge::lower ? searchsorted(bounds, values, side_right) : searchsorted(bounds, values, side_left);
}

/// The line through points (places, values) at x: between neighbouring points, and beyond them as the options say.
/// Places ascend. throws: ValueError without points, or with other numbers of places and values
template <TensorOperand X, TensorOperand P, TensorOperand V>
[[nodiscard]] auto interp(X&& x, P&& places, V&& values, InterpOptions options = {}) {
  const auto at = algorithms::tensor_of_operand(std::forward<X>(x));
  const auto from = algorithms::tensor_of_operand(std::forward<P>(places));
  const auto to = algorithms::tensor_of_operand(std::forward<V>(values));
  static_assert(decltype(from)::rank == 1 && decltype(to)::rank == 1, "twill: interp: places and values are vectors");
  using Common = promote_t<promote_t<typename decltype(at)::value_type, typename decltype(from)::value_type>,
                           typename decltype(to)::value_type>;
  using T = scalar_t<floating_type(dtype_of<Common>)>;
  const std::int64_t count = from.elements();
  if (count == 0 || to.elements() != count)
    throw ValueError(join_text(
        {"interp: there are ", count, " places and ", to.elements(), " values; as many of both, at least 1"}));
  const auto sought = at.template to<T>();
  const auto known = from.template to<T>();
  const auto heights = to.template to<T>();
  const auto end = eval(maximum(minimum(searchsorted(known, sought, side_right), count - 1), count > 1 ? 1 : 0));
  const auto begin = eval(maximum(end - 1, 0));
  const auto x0 = eval(take<0>(known, begin)), x1 = eval(take<0>(known, end));
  const auto y0 = eval(take<0>(heights, begin)), y1 = eval(take<0>(heights, end));
  const auto first = heights[0], last = heights[count - 1];
  const auto below = options.left ? eval(first * 0 + static_cast<T>(*options.left)) : eval(first * 1);
  const auto above = options.right ? eval(last * 0 + static_cast<T>(*options.right)) : eval(last * 1);
  const auto inside = eval(where(equal(sought, known[count - 1]), last, (y1 - y0) / (x1 - x0) * (sought - x0) + y0));
  return eval(where(sought < known[0], below, where(sought > known[count - 1], above, inside)));
}

/// The sums over k of a[k] v[n - k], NumPy's convolve. throws: ValueError for a vector without elements
/// cost: the product of both lengths
template <TensorOperand A, TensorOperand V>
[[nodiscard]] auto convolve(A&& a, V&& v, ConvolveMode mode = ConvolveMode::full) {
  const auto left = algorithms::tensor_of_operand(std::forward<A>(a));
  const auto right = algorithms::tensor_of_operand(std::forward<V>(v));
  static_assert(decltype(left)::rank == 1 && decltype(right)::rank == 1, "twill: convolve: both operands are vectors");
  using T = promote_t<typename decltype(left)::value_type, typename decltype(right)::value_type>;
  using Vector = Tensor<T, typename decltype(left)::device_type, Shape<dyn>>;
  if (left.elements() == 0 || right.elements() == 0)
    throw ValueError(join_text(
        {"convolve: the vectors have ", left.elements(), " and ", right.elements(), " elements; at least 1 each"}));
  const bool swaps = right.elements() > left.elements();
  const Vector first = left.template to<T>(), second = right.template to<T>();
  const Vector longer = swaps ? second : first, shorter = swaps ? first : second;
  const std::int64_t width = shorter.elements();
  const std::int64_t before = mode == ConvolveMode::full ? width - 1 : mode == ConvolveMode::same ? width / 2 : 0;
  const std::int64_t after = mode == ConvolveMode::full ? width - 1 : mode == ConvolveMode::same ? (width - 1) / 2 : 0;
  const Vector padded = pad(longer, {PadWidth{before, after}});
  const Vector result = cast<T>(sum<1>(sliding_window_view<0>(padded, width) * flip<0>(shorter)));
  return result;
}

}}} // namespace twill::v0::TWILL_ISA
