#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sums, means and products of complex tensors. They are computed where they stand, not with the statement around them:
// sums and means as those of the real and of the imaginary parts, products by halves, elementwise, in as many passes as
// the extent has binary digits. Read next: expr/reductions.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/complex_functions.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/evaluate_reductions.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/reduced.hpp>
#include <twill/tensor/complex_views.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstdint>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// A tensor itself, the values of an expression as one.
template <class X> [[nodiscard]] auto as_handle(X&& x) {
  if constexpr (AnyTensor<X>)
    return std::remove_cvref_t<X>(x);
  else
    return eval(std::forward<X>(x));
}

/// A reduction of the real and of the imaginary parts.
template <class Op, Rest Remains, int... Axes, class X> [[nodiscard]] auto reduced_parts(X&& x) {
  const auto z = as_handle(std::forward<X>(x));
  using PartNode = std::remove_cvref_t<decltype(reduced_node<Op, Remains, Axes...>(detail::part_of(z, 0)))>;
  using Result = Tensor<typename std::remove_cvref_t<decltype(z)>::value_type, typename PartNode::device_type,
                        typename PartNode::shape_type>;
  const auto real = reduced_node<Op, Remains, Axes...>(detail::part_of(z, 0));
  Result result(z.device(), real.shape());
  store(detail::part_of(result, 0), real);
  store(detail::part_of(result, 1), reduced_node<Op, Remains, Axes...>(detail::part_of(z, 1)));
  return result;
}

/// The product over some axes.
template <Rest Remains, int... Axes, class X> [[nodiscard]] auto complex_product(X&& x) {
  const auto z = as_handle(std::forward<X>(x));
  using Whole = std::remove_cvref_t<decltype(z)>;
  using T = typename Whole::value_type;
  using D = typename Whole::device_type;
  using S = typename Whole::shape_type;
  constexpr unsigned mask = axes_mask<S::rank, Axes...>();
  if constexpr (mask == ~0U)
    static_cast<void>(sizeof(Mistake<refused<Problem::axis_is_named_twice, with::axis<Axes>...>>));
  using View = Tensor<T, D, dynamic_shape_t<S::rank>>;
  const auto part = [](const View& of, int axis, std::int64_t first, std::int64_t extent) {
    Dims extents = of.shape();
    extents[axis] = extent;
    return View(of.storage(), of.data() + first * of.strides()[axis], extents, of.strides());
  };
  View rest = View(z.storage(), z.data(), z.shape(), z.strides()).clone();
  for (int axis = 0; axis < S::rank; ++axis) {
    if ((mask >> axis & 1U) == 0) continue;
    if (rest.shape()[axis] == 0) {
      Dims extents = rest.shape();
      extents[axis] = 1;
      rest = full<T, typename View::shape_type, D>(extents, T{1}, z.device());
    }
    while (rest.shape()[axis] > 1) {
      const std::int64_t kept = (rest.shape()[axis] + 1) / 2;
      const std::int64_t half = rest.shape()[axis] - kept;
      const View target = part(rest, axis, 0, half);
      update<Primitive::multiply>(target, part(rest, axis, kept, half));
      rest = part(rest, axis, 0, kept);
    }
  }
  using To = shape_t<reduced_dims(dims_of<S>, mask, Remains)>;
  const View result = rest.contiguous();
  const Dims extents = reduced_dims(result.shape(), mask, Remains);
  return Tensor<T, D, To>(result.storage(), result.data(), extents, contiguous_strides(extents));
}

}}}} // namespace twill::v0::expr::TWILL_ISA
