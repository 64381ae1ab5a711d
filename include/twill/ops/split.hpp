#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Split of a traced value into equal parts along an axis, one operation with several results; its gradient joins those
// of the parts, also in one operation. For parts of other sizes: `chunk` and `narrow`. Read next: ops/slice.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/ops/concatenate.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// Sums the gradients of the parts; a part without a gradient adds nothing.
TWILL_CONSTEXPR void split_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node self = graph.node(node);
  Value parts[max_results]{};
  for (int k = 0; k < self.operation->results; ++k)
    parts[k] = value_or_zero(graph, cotangents[static_cast<std::size_t>(k)], self.dtype, self.shape);
  gradients.set(0, join(parts, self.operation->results, 1));
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Two parts of one array along an axis.
inline constexpr Operation split_in_2{.name = "split_in_2",
                                      .vjp = &detail::split_vjp,
                                      .results = 2,
                                      .wants_dense = true,
                                      .batching = Batching::first_axis};
/// Three parts of one array along an axis.
inline constexpr Operation split_in_3{.name = "split_in_3",
                                      .vjp = &detail::split_vjp,
                                      .results = 3,
                                      .wants_dense = true,
                                      .batching = Batching::first_axis};
/// Four parts of one array along an axis.
inline constexpr Operation split_in_4{.name = "split_in_4",
                                      .vjp = &detail::split_vjp,
                                      .results = 4,
                                      .wants_dense = true,
                                      .batching = Batching::first_axis};

/// Equal parts of an axis, up to four in one launch: `auto [q, k, v] = split<3>(x, -1)`.
/// errors: an axis that the parts do not divide, or that is unknown until run time
template <std::size_t Sections>
[[nodiscard]] constexpr std::array<Value, Sections> split(Value x, int axis, CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  const std::int64_t extent = x.rank() == 0 ? 0 : x.size(position, site);
  constexpr auto sections = static_cast<std::int64_t>(Sections);
  if (extent % sections != 0) x.graph().refuse(Problem::sections_do_not_divide_the_axis, sections, extent, site);
  std::array<Value, Sections> parts{};
  if (x.graph().fault.any()) {
    for (Value& part : parts) part = x;
  } else if constexpr (Sections > 1 && Sections <= 4) {
    const Extents shape = detail::with_extent(x.shape(), position, {extent / sections, 0});
    const Value around = detail::around_axis(x, position);
    const Extents part = detail::with_extent(around.shape(), 1, {extent / sections, 0});
    constexpr const Operation* operation = Sections == 2 ? &split_in_2 : Sections == 3 ? &split_in_3 : &split_in_4;
    const Value first = add_operation(*operation, {around}, x.dtype(), part);
    parts[0] = reshape(first, shape);
    for (std::size_t k = 1; k < Sections; ++k)
      parts[k] = reshape(add_result(first, static_cast<int>(k), x.dtype(), part), shape);
  } else {
    for (std::int64_t i = 0; i < sections; ++i)
      parts[static_cast<std::size_t>(i)] = narrow(x, position, i * (extent / sections), extent / sections, site);
  }
  return parts;
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

template <int Sections> struct SplitKernel {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    const Dims& from = launch.shapes[0];
    if (from.elements() == 0) return;
    const std::int64_t run = from[1] / Sections * from[2];
    for (int k = 0; k < Sections; ++k)
      if (launch.operands[1 + k].data != nullptr)
        move_blocks(team, static_cast<const T*>(launch.operands[0].data) + k * run,
                    static_cast<T*>(launch.operands[1 + k].data),
                    kernel::Blocks{.outer = from[0],
                                   .run = run,
                                   .from_outer = Sections * run,
                                   .from_count = run,
                                   .to_outer = run,
                                   .to_count = run});
  }
};

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <> struct KernelOf<&graph::split_in_2> : detail::SplitKernel<2> {};
template <> struct KernelOf<&graph::split_in_3> : detail::SplitKernel<3> {};
template <> struct KernelOf<&graph::split_in_4> : detail::SplitKernel<4> {};

}}} // namespace twill::v0::TWILL_ISA
