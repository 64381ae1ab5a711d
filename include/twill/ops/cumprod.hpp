#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Cumulative products, greatest and least elements of a traced value along an axis. The gradient of a product is exact
// beside zeros; that of an extreme goes to the element that it is, among equal ones to the last so far, as in PyTorch.
// Not in twill.hpp. Read next: ops/cumsum.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/ops/cumsum.hpp>
#include <twill/ops/gather.hpp>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void cumprod_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);
TWILL_CONSTEXPR void extreme_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// y[o, j, i] = the product of x[o, 0, i] to x[o, j, i]
inline constexpr Operation cumprod_operation{
    .name = "cumprod", .vjp = &detail::cumprod_vjp, .wants_dense = true, .batching = Batching::first_axis};
/// y[o, j, i] = the greatest of x[o, 0, i] to x[o, j, i]
inline constexpr Operation cummax_operation{
    .name = "cummax", .vjp = &detail::extreme_vjp, .wants_dense = true, .batching = Batching::first_axis};
/// y[o, j, i] = the least of x[o, 0, i] to x[o, j, i]
inline constexpr Operation cummin_operation{
    .name = "cummin", .vjp = &detail::extreme_vjp, .wants_dense = true, .batching = Batching::first_axis};

/// The product of the elements up to and including each one along an axis; integers and truth values become int64.
[[nodiscard]] TWILL_CONSTEXPR Value cumprod(Value x, int axis, CallSite site = CallSite::here()) {
  return detail::running(cumprod_operation, detail::summable(x), axis, site);
}
/// The greatest of the elements up to and including each one along an axis; NaN from the first NaN on.
[[nodiscard]] TWILL_CONSTEXPR Value cummax(Value x, int axis, CallSite site = CallSite::here()) {
  return detail::running(cummax_operation, x, axis, site);
}
/// The least of the elements up to and including each one along an axis; NaN from the first NaN on.
[[nodiscard]] TWILL_CONSTEXPR Value cummin(Value x, int axis, CallSite site = CallSite::here()) {
  return detail::running(cummin_operation, x, axis, site);
}
/// The product of the elements up to and including each one along an axis.
template <int Axis> [[nodiscard]] constexpr Value cumprod(Value x, CallSite site = CallSite::here()) {
  return cumprod(x, Axis, site);
}
/// The greatest of the elements up to and including each one along an axis.
template <int Axis> [[nodiscard]] constexpr Value cummax(Value x, CallSite site = CallSite::here()) {
  return cummax(x, Axis, site);
}
/// The least of the elements up to and including each one along an axis.
template <int Axis> [[nodiscard]] constexpr Value cummin(Value x, CallSite site = CallSite::here()) {
  return cummin(x, Axis, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// dx[k] = sum over j >= k of g[j] y[j] / x[k]. At the first zero of a row, the products are those of the others; after
/// it, all are 0.
TWILL_CONSTEXPR void cumprod_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  if (!gradients.wants(0)) return;
  const Value x{graph, graph.node(node).input(0)}, y{graph, node}, g{graph, cotangents[0]};
  const auto sums_to_the_end = [](Value v) { return flip(cumsum(flip(v, {1}), 1), {1}); };
  const Value is_zero = equal(x, 0);
  const Value is_first = logical_and(is_zero, equal(cumsum(is_zero, 1), 1));
  const Value beside_zero = sums_to_the_end(g * cumprod(where(is_first, 1.0, x), 1));
  gradients.set(0, where(is_first, beside_zero, sums_to_the_end(g * y) / where(is_zero, 1.0, x)));
}

TWILL_CONSTEXPR void extreme_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  if (!gradients.wants(0)) return;
  const Value x{graph, graph.node(node).input(0)}, y{graph, node}, g{graph, cotangents[0]};
  Extents line{}, along{};
  line.append(x.shape()[1]);
  for (int axis = 0; axis < 3; ++axis) along.append(axis == 1 ? x.shape()[1] : Extent{});
  const Value place = reshape(iota(graph, line), along);
  const Value is_new = logical_or(equal(x, y), isnan(x));
  gradients.set(0, scattered(g, cummax(where(is_new, place, 0), 1), x.shape()));
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <>
struct KernelOf<&graph::cumprod_operation> : detail::RunningKernel<kernel::Running<kernel::Reduction::product>> {};
template <>
struct KernelOf<&graph::cummax_operation> : detail::RunningKernel<kernel::Running<kernel::Reduction::max>> {};
template <>
struct KernelOf<&graph::cummin_operation> : detail::RunningKernel<kernel::Running<kernel::Reduction::min>> {};

}}} // namespace twill::v0::TWILL_ISA
