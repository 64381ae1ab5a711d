#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Activation functions of rows, softmax and its relatives, as compositions of reductions and arithmetic. Definitions
// and defaults are PyTorch's. Those of single elements: elementwise/activations.hpp. Read next: nn/normalisation.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/ops/biased_product.hpp>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// log(sum(exp(x - above))).
[[nodiscard]] TWILL_CONSTEXPR Value log_sum(Value x, Value above, int axis, int line) {
  return log(sum(exp(x - above), {axis}, KeepDims::yes, line));
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The greatest of each row, and how far logsumexp exceeds it: apart, since their sum would lose the digits of the
/// second. Rows whose greatest is infinite have NaN, as in PyTorch's log_softmax and cross entropy.
struct Normaliser {
  Value greatest; ///< of each row
  Value excess;   ///< of logsumexp over it
};
/// The normaliser along an axis.
[[nodiscard]] TWILL_CONSTEXPR Normaliser normaliser(Value x, int axis, int line) {
  const Value greatest = stop_gradient(max(x, {axis}, KeepDims::yes, line));
  return {greatest, detail::log_sum(x, greatest, axis, line)};
}

/// exp(x - max) / sum over one axis.
[[nodiscard]] TWILL_CONSTEXPR Value softmax(Value x, int axis = -1, int line = __builtin_LINE()) {
  x = detail::autocast_to_wide(x);
  const Value e = exp(x - stop_gradient(max(x, {axis}, KeepDims::yes, line)));
  return e / sum(e, {axis}, KeepDims::yes, line);
}

/// log(sum(exp(x))) over one axis, which stays with extent one. Rows with infinity have their maximum for it, as have
/// rows of nothing but its negative.
[[nodiscard]] TWILL_CONSTEXPR Value logsumexp(Value x, int axis = -1, int line = __builtin_LINE()) {
  x = detail::autocast_to_wide(x);
  const Value greatest = stop_gradient(max(x, {axis}, KeepDims::yes, line));
  const Value above = where(isinf(greatest), 0, greatest);
  return detail::log_sum(x, above, axis, line) + above;
}

/// x - logsumexp(x) over one axis; NaN in rows whose maximum is infinite.
[[nodiscard]] TWILL_CONSTEXPR Value log_softmax(Value x, int axis = -1, int line = __builtin_LINE()) {
  x = detail::autocast_to_wide(x);
  const Normaliser of_rows = normaliser(x, axis, line);
  return x - of_rows.greatest - of_rows.excess;
}

}}}} // namespace twill::v0::graph::TWILL_ISA
