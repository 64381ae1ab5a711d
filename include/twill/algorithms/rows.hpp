#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Rows of a tensor along one axis, copied for sorting and selecting. The axis is exchanged with the last one, so the
// rows are contiguous for any strides, and exchanged back at the end. Read next: algorithms/sort.hpp.

#include <twill/algorithms/policy.hpp>
#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/gather.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/kernel/on_queue.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/shapes.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace algorithms { inline namespace TWILL_ISA {

/// Whether the elements are on a GPU, where twill's kernels do the work of the standard library's algorithms.
template <class X> inline constexpr bool is_on_gpu = kernel::has_queue<typename std::remove_cvref_t<X>::device_type>;

/// The operand as a tensor.
template <class X> [[nodiscard]] auto tensor_of_operand(X&& x) {
  static_assert(std::is_same_v<typename std::remove_cvref_t<X>::device_type, Cpu> || is_on_gpu<X>,
                "twill: algorithms: the operand has no elements that could be put in order; move it with cpu()");
  return expr::evaluated(std::forward<X>(x));
}

/// Waits until the caller can read the elements; does nothing for a GPU, where the caller never reads them.
template <class X> void wait_for_elements(const X& x) {
  if constexpr (!is_on_gpu<X>) synchronize(x.device());
}

/// A copy of x whose rows along the axis are contiguous: the axis and the last one are exchanged.
template <int Axis, class X> [[nodiscard]] auto copied_rows(const X& x) {
  constexpr int axis = axis_of<Axis, X::rank>;
  auto rows = x.template transpose<axis, X::rank - 1>().clone();
  wait_for_elements(rows);
  return rows;
}
/// The axes in their original positions, row-major.
template <int Axis, class Rows> [[nodiscard]] auto as_before(const Rows& rows) {
  constexpr int axis = axis_of<Axis, Rows::rank>;
  return rows.template transpose<axis, Rows::rank - 1>().contiguous();
}

[[nodiscard]] inline std::int64_t rows_of(const Dims& extents) {
  std::int64_t rows = 1;
  for (int axis = 0; axis + 1 < extents.rank; ++axis) rows *= extents[axis];
  return rows;
}

/// f(policy, row) for each row: in parallel over the rows where there are enough of them, else within each.
template <class Policy, class F> void for_each_row(Policy policy, std::int64_t rows, F f) {
  if constexpr (Policy::is_parallel) {
    if (rows >= 2 * Policy::concurrency()) {
      Policy::for_each(rows, [&](std::int64_t row) { f(Sequential{}, row); });
      return;
    }
  }
  for (std::int64_t row = 0; row < rows; ++row) f(policy, row);
}

}}}} // namespace twill::v0::algorithms::TWILL_ISA
