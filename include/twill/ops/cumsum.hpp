#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Cumulative sums of a traced value along an axis. The gradient sums from the other end. Bits do not depend on the
// number of threads. Read next: kernel/scan.hpp,
// ops/cumprod.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/kernel/scan.hpp>
#include <twill/ops/slice.hpp>

#include <concepts>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void cumsum_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// y[o, j, i] = the sum of x[o, 0, i] to x[o, j, i]
inline constexpr Operation cumsum_operation{
    .name = "cumsum", .vjp = &detail::cumsum_vjp, .wants_dense = true, .batching = Batching::first_axis};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void cumsum_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node self = graph.node(node);
  const Value reversed = flip(Value{graph, cotangents[0]}, {1});
  gradients.set(0, flip(add_operation(cumsum_operation, {reversed}, self.dtype, self.shape), {1}));
}

/// A cumulative operation along an axis.
[[nodiscard]] TWILL_CONSTEXPR Value running(const Operation& operation, Value x, int axis, CallSite site) {
  const int position = checked_axis(x, axis, site);
  if (x.rank() == 0) return x;
  const Value parts = around_axis(x, position);
  return reshape(add_operation(operation, {parts}, parts.dtype(), parts.shape()), x.shape());
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The sum of the elements up to and including each one along an axis; integers and truth values become int64.
[[nodiscard]] TWILL_CONSTEXPR Value cumsum(Value x, int axis, CallSite site = CallSite::here()) {
  return detail::running(cumsum_operation, detail::summable(x), axis, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

/// The kernel of a cumulative operation.
template <class Op> struct RunningKernel {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    const Dims& shape = launch.shapes[0];
    const kernel::ScanShape rows{shape[0], shape[1], shape[2]};
    const T* const from = static_cast<const T*>(launch.operands[0].data);
    T* const to = static_cast<T*>(launch.operands[1].data);
    if constexpr (std::same_as<TeamType, Team>)
      kernel::scan<Op>(team, from, to, rows);
    else
      running<Op>(team, from, to, rows);
  }

  template <class T> static void reserve(const Team& team, const kernel::Launch& launch) {
    const Dims& shape = launch.shapes[0];
    kernel::Scan<Op, T>{nullptr, nullptr, {shape[0], shape[1], shape[2]}}.reserve(team);
  }
};

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <>
struct KernelOf<&graph::cumsum_operation> : detail::RunningKernel<kernel::Running<kernel::Reduction::sum>> {};

}}} // namespace twill::v0::TWILL_ISA
