#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sum of a value over all ranks of a training step, inside the model; synchronised normalisations are made of it. The
// loss is the sum of the ranks' losses, so the gradient of such a sum is the sum of the ranks' gradients. The kernel
// copies, which is right for one rank; a step of several ranks then sums the results, see parallel/group/rank_sums.hpp.

#include <twill/compile/program_type.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/operation.hpp>
#include <twill/kernel/blocks.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void rank_sum_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The sum over a group of ranks, done between two launches.
inline constexpr Operation rank_sum_operation{
    .name = "rank_sum", .vjp = &detail::rank_sum_vjp, .wants_dense = true, .batching = Batching::stack};

/// The sum over all ranks, element by element; the value itself for one rank.
[[nodiscard]] constexpr Value rank_sum(Value x) { return add_operation(rank_sum_operation, {x}, x.dtype(), x.shape()); }

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void rank_sum_vjp(Graph& graph, int, const Cotangents& cotangents, InputGradients& gradients) {
  gradients.set(0, rank_sum({graph, cotangents[0]}));
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Whether a program asks for sums over ranks, which only planned steps and pipelines compute.
[[nodiscard]] TWILL_CONSTEXPR bool adds_over_ranks(const TableView& table) {
  for (const KernelInfo& kernel : table.kernels)
    if (kernel.kind == KernelKind::operation && kernel.operation == graph::rank_sum_operation.name) return true;
  return false;
}

}}}} // namespace twill::v0::compile::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <> struct KernelOf<&graph::rank_sum_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    const std::int64_t count = launch.shapes[0].elements();
    if (count > 0)
      move_blocks(
          team, static_cast<const T*>(launch.operands[0].data), static_cast<T*>(launch.operands[1].data),
          kernel::Blocks{.run = count, .from_outer = count, .from_count = count, .to_outer = count, .to_count = count});
  }
};

}}} // namespace twill::v0::TWILL_ISA
