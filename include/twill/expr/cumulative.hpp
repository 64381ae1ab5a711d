#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Cumulative functions along one axis, or over all elements in row-major order (`cumsum<1>(x)`, `cumprod(x)`), and
// differences of neighbours (`diff`, `trapezoid`). Scans compute at once and return a tensor, and evaluate expressions
// first. Sums and products of integers and truth values are int64. Read next: kernel/scan.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/promotion.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/functions.hpp>
#include <twill/expr/gather.hpp>
#include <twill/expr/operators.hpp>
#include <twill/expr/statistics.hpp>
#include <twill/kernel/on_queue.hpp>
#include <twill/kernel/scan.hpp>
#include <twill/tensor/index.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// Row-major elements of type T.
template <Scalar T, class X> [[nodiscard]] auto gapless(X&& x) {
  if constexpr (!AnyTensor<X>)
    return eval(cast<T>(std::forward<X>(x)));
  else if constexpr (std::is_same_v<typename std::remove_cvref_t<X>::value_type, T>)
    return x.contiguous();
  else
    return x.template to<T>();
}

template <class Op, Scalar T, int... Axis, class X> [[nodiscard]] auto scanned(X&& x) {
  static_assert(sizeof...(Axis) <= 1, "twill: a cumulative function runs along one axis, or without axes over all");
  const auto source = gapless<T>(std::forward<X>(x));
  const auto run = [](const auto& from, const kernel::ScanShape& shape) {
    std::remove_cvref_t<decltype(from)> result(from.device(), from.shape());
    const T* const in = from.data();
    T* const out = result.data();
    if constexpr (kernel::has_queue<typename std::remove_cvref_t<decltype(from)>::device_type>)
      kernel::gpu::scan<Op>(result.device(), in, out, shape);
    else
      launch(result.device(), [shape, in, out](const auto& team) { kernel::scan<Op>(team, in, out, shape); });
    return result;
  };
  if constexpr (sizeof...(Axis) == 0) {
    return run(source.flatten(), {.length = source.elements()});
  } else {
    constexpr int axis = (axis_of<Axis, std::remove_cvref_t<decltype(source)>::rank> + ...);
    const Dims extents = source.shape();
    kernel::ScanShape shape{.length = extents[axis]};
    for (int i = 0; i < axis; ++i) shape.outer *= extents[i];
    for (int i = axis + 1; i < extents.rank; ++i) shape.inner *= extents[i];
    return run(source, shape);
  }
}

template <class X> using element_t = scalar_t<typed<X>().type>;

/// Refuses complex numbers.
template <class Op, Scalar T, int... Axis, class X> [[nodiscard]] auto scanned_by_order(X&& x) {
  static_assert(!ComplexScalar<T>,
                "twill: cummax, cummin and logcumsumexp: complex numbers have no order; take abs(x), "
                "real(x) or imag(x)");
  if constexpr (!ComplexScalar<T>) return scanned<Op, T, Axis...>(std::forward<X>(x));
}

/// A tensor with a slice of one axis.
template <int Axis, class X> [[nodiscard]] auto slice_of_axis(const X& x, slice range) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return x(slice{I == Axis ? range.begin : std::optional<std::int64_t>{},
                   I == Axis ? range.end : std::optional<std::int64_t>{}}...);
  }
  (std::make_integer_sequence<int, X::rank>{});
}
/// The result of `op` for each pair of neighbours along an axis, not yet computed.
template <int Axis, class X, class F> [[nodiscard]] auto of_neighbours(const X& x, F op) {
  return op(slice_of_axis<Axis>(x, {.begin = 1}), slice_of_axis<Axis>(x, {.end = -1}));
}

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The sum of all elements up to each one. throws: OutOfMemoryError
template <int... Axis, TensorOperand X> [[nodiscard]] auto cumsum(X&& x) {
  using T = sum_t<expr::element_t<X>>;
  return expr::scanned<kernel::Running<kernel::Reduction::sum>, T, Axis...>(std::forward<X>(x));
}
/// The product of all elements up to each one.
template <int... Axis, TensorOperand X> [[nodiscard]] auto cumprod(X&& x) {
  using T = sum_t<expr::element_t<X>>;
  return expr::scanned<kernel::Running<kernel::Reduction::product>, T, Axis...>(std::forward<X>(x));
}
/// The greatest of all elements up to each one; NaN from the first NaN on.
template <int... Axis, TensorOperand X> [[nodiscard]] auto cummax(X&& x) {
  return expr::scanned_by_order<kernel::Running<kernel::Reduction::max>, expr::element_t<X>, Axis...>(
      std::forward<X>(x));
}
/// The least of all elements up to each one; NaN from the first NaN on.
template <int... Axis, TensorOperand X> [[nodiscard]] auto cummin(X&& x) {
  return expr::scanned_by_order<kernel::Running<kernel::Reduction::min>, expr::element_t<X>, Axis...>(
      std::forward<X>(x));
}
/// log(sum(exp)) of all elements up to each one.
template <int... Axis, TensorOperand X> [[nodiscard]] auto logcumsumexp(X&& x) {
  using T = floating_t<expr::element_t<X>>;
  return expr::scanned_by_order<kernel::RunningLogSumExp, T, Axis...>(std::forward<X>(x));
}

/// The difference of each element from the one before it, along an axis; differences of differences when asked n times.
/// Truth values differ where they change. throws: ValueError (n < 0)
template <int Axis = -1, TensorOperand X> [[nodiscard]] auto diff(X&& x, int n = 1) {
  using T = expr::element_t<X>;
  const auto source = expr::evaluated(std::forward<X>(x));
  constexpr int axis = axis_of<Axis, std::remove_cvref_t<decltype(source)>::rank>;
  if (n < 0) throw ValueError("diff: n is " + std::to_string(n) + "; it is at least 0");
  const auto once = [](const auto& from) {
    return eval(expr::of_neighbours<axis>(from, [](auto after, auto before) {
      if constexpr (std::is_same_v<T, bool>)
        return expr::apply_node<expr::Primitive::logical_xor>(std::move(after), std::move(before));
      else
        return std::move(after) - std::move(before);
    }));
  };
  auto result = expr::slice_of_axis<axis>(source, {});
  for (; n > 0; --n) result = once(result);
  return result;
}
/// The differences of neighbours in row-major order.
template <TensorOperand X> [[nodiscard]] auto ediff1d(X&& x) {
  return diff(expr::evaluated(std::forward<X>(x)).flatten());
}

/// The integral along an axis by the trapezoidal rule, with samples `step` apart.
template <int Axis = -1, TensorOperand Y> [[nodiscard]] auto trapezoid(Y&& y, double step = 1) {
  const auto samples = expr::evaluated(std::forward<Y>(y));
  constexpr int axis = axis_of<Axis, std::remove_cvref_t<decltype(samples)>::rank>;
  return expr::of_neighbours<axis>(samples, [step](auto after, auto before) {
    return eval(sum<axis>((std::move(after) + std::move(before)) * (0.5 * step)));
  });
}
/// The integral of samples at places x: one for each sample of the axis, or for each element of y.
template <int Axis = -1, TensorOperand Y, TensorOperand X> [[nodiscard]] auto trapezoid(Y&& y, X&& x) {
  const auto samples = expr::evaluated(std::forward<Y>(y));
  constexpr int rank = std::remove_cvref_t<decltype(samples)>::rank;
  constexpr int axis = axis_of<Axis, rank>;
  const auto places = expr::evaluated(std::forward<X>(x));
  const auto steps = [&] {
    if constexpr (std::remove_cvref_t<decltype(places)>::rank == 1 && rank > 1)
      return expr::evaluated(expr::weights_along<rank, axis>(diff(places)));
    else
      return diff<axis>(places);
  }();
  return expr::of_neighbours<axis>(samples, [&](auto after, auto before) {
    return eval(sum<axis>((std::move(after) + std::move(before)) * steps * 0.5));
  });
}

}}} // namespace twill::v0::TWILL_ISA
