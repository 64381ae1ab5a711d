#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Fit to a memory budget: the division of a forward pass with which a program keeps within a budget of bytes. It is the
// first, by work done again, whose whole program, lowered and planned like the one that will run, fits. So the peak is
// exact, and a smaller budget never raises it. Each attempt is a constant evaluation of its own. Read next: nn/fit.hpp.

#include <twill/compile/passes/divisions.hpp>
#include <twill/core/config.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// A forward pass before its gradient was traced, and its result.
struct ForwardTrace {
  Graph graph{};
  int root = -1;

  constexpr ForwardTrace() = default;
};

/// A source, or a pair of them, of which parts can be computed again.
template <class S>
concept DivisibleSource = requires(const graph::Parts& parts, const graph::SymbolValues& symbols) {
  { S::trace_forward() } -> std::same_as<ForwardTrace>;
  { S::memory(parts, symbols) } -> std::same_as<MemoryUse>;
  { S::work(parts, symbols) } -> std::same_as<Work>;
};

/// The numbers of the symbols of a traced graph; -1 where one is missing.
template <class Z>
concept Sizes = requires(const Graph& graph) {
  { Z::of(graph) } -> std::same_as<graph::SymbolValues>;
};

/// A number of bytes, and the sizes for which it holds.
template <class B>
concept Budget = Sizes<typename B::sizes> && requires {
  { B::budget_bytes } -> std::convertible_to<std::int64_t>;
};

/// The result of a budget: parts to be computed again, as ranges of traced nodes, or a fault.
struct Choice {
  graph::Parts parts{};
  graph::Fault fault{};
};

/// The figures of a budget: `fit_report` of a model of `nn::Fit`.
struct FitReport {
  std::int64_t budget_bytes = 0; ///< the limit
  MemoryUse without{};           ///< with everything kept
  MemoryUse with{};              ///< with the parts computed again
  Work work_without{};           ///< with everything kept
  Work work_with{};              ///< with the parts computed again
  graph::Parts parts{};          ///< computed again, as ranges of traced nodes

  /// Whether the budget is met.
  [[nodiscard]] constexpr bool fits() const { return with.total() <= budget_bytes; }
  /// The share of extra time of a run, by its work: 0.25 is a quarter more.
  [[nodiscard]] TWILL_CONSTEXPR double extra_time() const {
    const auto before = static_cast<double>(work_without.total());
    return before > 0 ? static_cast<double>(work_with.total()) / before - 1 : 0;
  }
};

}}}} // namespace twill::v0::compile::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// Whether a symbol is in the shape of any node.
[[nodiscard]] TWILL_CONSTEXPR int missing_symbol(const Graph& graph, const graph::SymbolValues& symbols) {
  for (int id = 0; id < graph.size(); ++id)
    for (int symbol = 0; symbol < graph::max_symbols; ++symbol)
      if (symbols[static_cast<std::size_t>(symbol)] < 0 && graph.node(id).shape.elements().power(symbol) > 0)
        return symbol;
  return -1;
}

/// The divisions to try, or a fault.
struct Attempts {
  Divisions divisions{};
  graph::SymbolValues symbols{};
  graph::Fault fault{};
};

template <DivisibleSource S, Sizes Z> constexpr Attempts attempts() {
  Attempts result{};
  const ForwardTrace forward = S::trace_forward();
  result.divisions.count = 1;
  result.fault = forward.graph.fault;
  if (result.fault.any()) return result;
  result.symbols = Z::of(forward.graph);
  if (const int missing = missing_symbol(forward.graph, result.symbols); missing >= 0) {
    result.fault = {graph::Problem::fit_needs_the_size_of_each_named_dimension,
                    missing,
                    0,
                    {},
                    graph::Named::dimension(forward.graph.symbols[static_cast<std::size_t>(missing)].name.view())};
    return result;
  }
  result.divisions = divisions(forward.graph, forward.root, result.symbols);
  return result;
}

/// Facts that all budgets for a source have in common.
template <DivisibleSource S, Sizes Z> struct Known {
  static constexpr Attempts all = attempts<S, Z>();
  static constexpr const graph::Parts& parts(int i) { return all.divisions.items[static_cast<std::size_t>(i)].parts; }
  template <int I> static constexpr MemoryUse memory = S::memory(parts(I), all.symbols);
  template <int I> static constexpr Work work = S::work(parts(I), all.symbols);
};

template <DivisibleSource S, Budget B> class Fitting {
  using Attempted = Known<S, typename B::sizes>;
  static constexpr const graph::Parts& parts(int i) { return Attempted::parts(i); }
  template <int I> static constexpr MemoryUse memory = Attempted::template memory<I>;

  /// By estimate, where only the activations differ from those of a known plan.
  static constexpr bool is_hopeless(int i) {
    const std::int64_t saved =
        Attempted::all.divisions.items[0].bytes - Attempted::all.divisions.items[static_cast<std::size_t>(i)].bytes;
    return memory<0>.total() - saved > B::budget_bytes + B::budget_bytes / 4;
  }

  template <int I, bool Skips> static constexpr int first_that_fits() {
    if constexpr (I == Attempted::all.divisions.count) {
      if constexpr (Skips)
        return first_that_fits<0, false>();
      else
        return -1;
    } else if constexpr (Skips && I > 0 && is_hopeless(I)) {
      return first_that_fits<I + 1, Skips>();
    } else if constexpr (memory<I>.total() <= B::budget_bytes) {
      return I;
    } else {
      return first_that_fits<I + 1, Skips>();
    }
  }

  template <int I> static constexpr MemoryUse lowest() {
    if constexpr (I + 1 == Attempted::all.divisions.count) {
      return memory<I>;
    } else {
      const MemoryUse others = lowest<I + 1>();
      return memory<I>.total() <= others.total() ? memory<I> : others;
    }
  }

  template <bool IsKnown> static constexpr int find_chosen() {
    if constexpr (IsKnown)
      return first_that_fits<0, true>();
    else
      return 0;
  }
  static constexpr int chosen = find_chosen<!Attempted::all.fault.any()>();

  static constexpr Choice choose() {
    if constexpr (Attempted::all.fault.any()) {
      return {{}, Attempted::all.fault};
    } else if constexpr (chosen >= 0) {
      return {parts(chosen), {}};
    } else {
      constexpr MemoryUse least = lowest<0>();
      return {{},
              {least.weights + least.states > B::budget_bytes
                   ? graph::Problem::fit_budget_is_below_the_weights_and_states
                   : graph::Problem::fit_budget_is_below_the_lowest_peak,
               B::budget_bytes,
               least.total(),
               {}}};
    }
  }

  static constexpr FitReport describe() {
    FitReport found{};
    found.budget_bytes = B::budget_bytes;
    if constexpr (!Attempted::all.fault.any()) {
      found.without = memory<0>;
      found.work_without = Attempted::template work<0>;
      if constexpr (chosen < 0) {
        found.with = lowest<0>();
        found.work_with = found.work_without;
      } else {
        found.with = memory<chosen>;
        found.parts = parts(chosen);
        found.work_with = Attempted::template work<chosen>;
      }
    }
    return found;
  }

public:
  static constexpr Choice choice = choose();
  static constexpr FitReport report = describe();
};

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The choice of a budget for a source. cost: compiles the source's tables once for each division that is tried
template <DivisibleSource S, Budget B> inline constexpr Choice fitted = detail::Fitting<S, B>::choice;

/// The figures of that choice. When nothing fits, `with` is the lowest peak there is.
template <DivisibleSource S, Budget B> inline constexpr FitReport fit_report_of = detail::Fitting<S, B>::report;

}}}} // namespace twill::v0::compile::TWILL_ISA
