#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Activation functions of rows, softmax and its relatives, for traced values: the formulas of elementwise/rows.hpp
// along an axis. Those of single elements: elementwise/activations.hpp. Read next: nn/normalisation.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/ops/biased_product.hpp>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The greatest of each row, and how far logsumexp exceeds it: apart, since their sum would lose the digits of the
/// second. Rows whose greatest is infinite have NaN, as in PyTorch's log_softmax and cross entropy.
struct Normaliser {
  Value greatest; ///< of each row
  Value excess;   ///< of logsumexp over it
};
/// The normaliser along an axis.
[[nodiscard]] TWILL_CONSTEXPR Normaliser normaliser(Value x, int axis, CallSite site) {
  const AlongAxis row{axis, site};
  const Value greatest = row.fixed(row.max(x));
  return {greatest, log(row.sum(exp(x - greatest)))};
}

/// exp(x - max) / sum over one axis.
[[nodiscard]] TWILL_CONSTEXPR Value softmax(Value x, int axis = -1, CallSite site = CallSite::here()) {
  return formula::Softmax{}(detail::autocast_to_wide(x), AlongAxis{axis, site});
}

/// exp(-x) over its sum along one axis: softmax of -x.
[[nodiscard]] TWILL_CONSTEXPR Value softmin(Value x, int axis = -1, CallSite site = CallSite::here()) {
  return formula::Softmin{}(detail::autocast_to_wide(x), AlongAxis{axis, site});
}

/// log(sum(exp(x))) over one axis. Rows with infinity have their maximum for it, as have rows of nothing but its
/// negative.
[[nodiscard]] TWILL_CONSTEXPR Value logsumexp(Value x, int axis = -1, KeepDims keep = KeepDims::no,
                                              CallSite site = CallSite::here()) {
  const Value rows = formula::LogSumExp{}(detail::autocast_to_wide(x), AlongAxis{axis, site});
  return keep == KeepDims::yes ? rows : squeeze(rows, axis, site);
}

/// x - logsumexp(x) over one axis; NaN in rows whose maximum is infinite.
[[nodiscard]] TWILL_CONSTEXPR Value log_softmax(Value x, int axis = -1, CallSite site = CallSite::here()) {
  return formula::LogSoftmax{}(detail::autocast_to_wide(x), AlongAxis{axis, site});
}

// Axes in angle brackets, as for tensors.

/// exp(x - max) / sum over one axis.
template <int Axis> [[nodiscard]] constexpr Value softmax(Value x, CallSite site = CallSite::here()) {
  return softmax(x, Axis, site);
}
/// exp(-x) over its sum along one axis.
template <int Axis> [[nodiscard]] constexpr Value softmin(Value x, CallSite site = CallSite::here()) {
  return softmin(x, Axis, site);
}
/// x - logsumexp(x) over one axis.
template <int Axis> [[nodiscard]] constexpr Value log_softmax(Value x, CallSite site = CallSite::here()) {
  return log_softmax(x, Axis, site);
}
/// log(sum(exp(x))) over one axis.
template <int Axis, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value logsumexp(Value x, K = {}, CallSite site = CallSite::here()) {
  return logsumexp(x, Axis, detail::keep_of<K>, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA
