#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Loops in traced functions: the body is traced, differentiated and compiled once for any number of steps, which may be
// known only at run time. Values from outside are used in the body as anywhere else; nodes that do not depend on the
// step are computed once. Bodies may hold loops, whose steps run in every step. Random draws differ from step to step,
// and the backward pass repeats them. Read next: graph/loop.hpp, nn/recurrent.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/loop.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace twill { inline namespace v0 { namespace graph {

/// The values that one step returns: the carries for the next step, and its results. A whole loop returns the last
/// carries, and the results of all steps along a new first axis.
template <std::size_t Carries, std::size_t Results> struct Step {
  std::array<Value, Carries> carry{};   ///< what the next step sees
  std::array<Value, Results> results{}; ///< of this step, to be stacked
};

/// Direction of a scan, and the number of its steps where no stacked input gives it.
struct ScanOptions {
  bool reversed = false; ///< the first step sees the last elements; results keep the places of their elements
  Extent count{-1, 0};   ///< how many steps; -1: as many as the sequences have elements
};

namespace detail {

/// Refuses carries that a step changes into something else.
TWILL_CONSTEXPR bool check_carries(Graph& graph, const List<int>& carries, const List<int>& next, CallSite site) {
  for (std::size_t c = 0; c < carries.size(); ++c) {
    const Node before = graph.node(carries[c]);
    const Node now = graph.node(next[c]);
    const auto number = static_cast<std::int64_t>(c);
    if (before.dtype != now.dtype)
      graph.refuse(Problem::scan_carry_changes_its_dtype, static_cast<int>(before.dtype), static_cast<int>(now.dtype),
                   site);
    bool same = before.shape.rank == now.shape.rank;
    for (int axis = 0; same && axis < now.shape.rank; ++axis) same = unify(graph, before.shape[axis], now.shape[axis]);
    if (!same) graph.refuse(Problem::scan_carry_changes_its_shape, number, now.shape.rank, site);
  }
  return !graph.fault.any();
}

/// The number of steps of a loop over these inputs.
TWILL_CONSTEXPR Extent steps_of(Graph& graph, const Value* stacked, std::size_t inputs, Extent count, CallSite site) {
  for (std::size_t i = 0; i < inputs; ++i) {
    if (stacked[i].rank() == 0) {
      graph.refuse(Problem::scan_needs_a_first_axis_of_steps, static_cast<std::int64_t>(i), 0, site);
      return {};
    }
    const Extent own = stacked[i].shape()[0];
    if (count.factor < 0) count = own;
    if (!unify(graph, count, own))
      graph.refuse(Problem::scan_inputs_have_different_numbers_of_steps, count.is_static() ? count.factor : -1,
                   own.is_static() ? own.factor : -1, site);
    count = graph.canonical(count);
  }
  if (count.factor < 0) graph.refuse(Problem::scan_needs_a_first_axis_of_steps, 0, 0, site);
  return count;
}

} // namespace detail

/// Calls `body(carry..., element...)` for every step, from the first carries and the elements of `stacked` along their
/// first axes. The body returns `graph::Step<carries, results>{{...}, {...}}`; carries keep shapes and element types.
/// Bodies may call scan, up to four of them inside of each other.
/// cost: the body's kernels once a step; no more kernels or compile time than one step
template <std::size_t Carries, std::size_t Inputs, class Body>
[[nodiscard]] constexpr auto scan(const std::array<Value, Carries>& initial, const std::array<Value, Inputs>& stacked,
                                  const Body& body, ScanOptions options = {}, CallSite site = CallSite::here()) {
  static_assert(Carries > 0, "twill: scan: there has to be a carry; a function of the elements alone needs no loop");
  Graph& graph = initial[0].graph();
  const Extent count = detail::steps_of(graph, stacked.data(), Inputs, options.count, site);
  const int around = graph.open_loop;
  if (around >= 0 && graph.loops.items[around].depth + 1 >= most_nested_loops)
    graph.refuse(Problem::scans_are_nested_more_than_4_deep, most_nested_loops + 1, most_nested_loops, site);
  const bool is_refused = graph.fault.any();
  detail::LoopBuilder loop{graph, count, options.reversed};
  std::array<Value, Carries + Inputs> arguments{};
  for (std::size_t c = 0; c < Carries; ++c) arguments[c] = loop.carry(initial[c]);
  for (std::size_t i = 0; i < Inputs; ++i) arguments[Carries + i] = is_refused ? stacked[i] : loop.slice(stacked[i]);
  auto step = [&]<std::size_t... I>(std::index_sequence<I...>) { return body(arguments[I]...); }
  (std::make_index_sequence<Carries + Inputs>{});
  static_assert(std::tuple_size_v<decltype(step.carry)> == Carries,
                "twill: scan: the body has to return one new carry for each carry");
  List<int> carries{};
  List<int> next{};
  List<int> results{};
  for (std::size_t c = 0; c < Carries; ++c) carries.push_back(arguments[c].id());
  for (const Value& value : step.carry) next.push_back(value.id());
  for (const Value& value : step.results) results.push_back(value.id());
  if (is_refused || !detail::check_carries(graph, carries, next, site)) {
    graph.open_loop = around;
    return step;
  }
  loop.finish(carries, next, results);
  for (std::size_t c = 0; c < Carries; ++c) step.carry[c] = {graph, carries[c]};
  for (std::size_t k = 0; k < step.results.size(); ++k) step.results[k] = {graph, results[k]};
  return step;
}

}}} // namespace twill::v0::graph
