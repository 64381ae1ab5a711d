#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Vectorisation of functions of traced values: a function of one example, called with batches. Axes of batches may be
// any of an argument's; they are moved to the front by views, and results get theirs in the same way. Read next:
// graph/batching.hpp, compile/vmap.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/batching.hpp>
#include <twill/graph/transforms.hpp>

#include <array>
#include <cstddef>
#include <limits>

namespace twill { inline namespace v0 {

/// In place of an axis of `vmap`: all examples share the argument.
inline constexpr int unbatched = std::numeric_limits<int>::min();

}} // namespace twill::v0

namespace twill { inline namespace v0 { namespace graph { namespace transforms {
namespace detail {

/// An axis of a shape (negative: from the end); refuses one outside the rank.
[[nodiscard]] TWILL_CONSTEXPR int axis_among(Graph& graph, int axis, int rank, CallSite site) {
  const int position = axis < 0 ? axis + rank : axis;
  if (position >= 0 && position < rank) return position;
  graph.refuse(Problem::axis_is_outside_the_rank, axis, rank, site);
  return 0;
}

/// The extent of the axes along which arguments are batched; refuses arguments that differ.
template <std::size_t N>
[[nodiscard]] constexpr Extent batch_of(std::array<Value, N>& arguments, const std::array<int, N>& axes,
                                        CallSite site) {
  Graph& graph = arguments[0].graph();
  Extent batch{-1};
  for (std::size_t i = 0; i < N && !graph.fault.any(); ++i) {
    if (axes[i] == unbatched) continue;
    const int axis = axis_among(graph, axes[i], arguments[i].rank(), site);
    if (graph.fault.any()) break;
    arguments[i] = with_axis_moved(arguments[i], axis, 0);
    const Extent own = arguments[i].shape()[0];
    if (batch.factor < 0) batch = own;
    if (!unify(graph, batch, own))
      graph.refuse(Problem::vmap_arguments_have_different_extents, batch.is_static() ? batch.factor : -1,
                   own.is_static() ? own.factor : -1, site);
    batch = graph.canonical(batch);
  }
  return batch;
}

} // namespace detail

/// The values of f for each example, along the axes `out` of the results; one axis stands for all of them.
template <class F, std::size_t N, std::size_t Out>
[[nodiscard]] constexpr auto vmap(const F& f, std::array<Value, N> arguments, const std::array<int, N>& axes,
                                  const std::array<int, Out>& out, CallSite site = CallSite::here()) {
  Graph& graph = arguments[0].graph();
  const Extent batch = detail::batch_of(arguments, axes, site);
  detail::BatchBuilder builder{graph, batch};
  for (std::size_t i = 0; i < N && !graph.fault.any(); ++i)
    if (axes[i] != unbatched) arguments[i] = builder.element(arguments[i]);
  auto results = values_of(detail::of_one_example(f, arguments));
  static_assert(Out == 1 || Out == std::tuple_size_v<decltype(results)>,
                "twill: vmap: there has to be one axis for all results, or one for each of them");
  if (graph.fault.any()) return results;
  List<int> ids{};
  for (const Value& value : results) ids.push_back(value.id());
  ids = builder.finish(ids);
  for (std::size_t k = 0; k < results.size() && !graph.fault.any(); ++k) {
    results[k] = {graph, ids[k]};
    const int axis = detail::axis_among(graph, out[Out == 1 ? 0 : k], results[k].rank(), site);
    results[k] = detail::with_axis_moved(results[k], 0, axis);
  }
  return results;
}

}}}} // namespace twill::v0::graph::transforms
