#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Activation checkpointing to a memory budget: `nn::Network<nn::Fit<Gpt, 2_GiB, nn::Size<"batch", 16>>> model`. The
// compiler decides which activations of the whole step are kept and which computed again, with the least work such that
// weights, optimiser's states, gradients and activations stay within the budget, in planned steps, staged runs and each
// replica of a `DataParallel`; gradients have the bits of the model without, dropout included. A budget that cannot be
// met does not compile; the error names it and the lowest peak. `fit_report` of training/fit_report.hpp shows the
// decisions. Read next: compile/passes/fit.hpp.

#include <twill/compile/passes/fit.hpp>
#include <twill/core/bytes.hpp>
#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/nn/declared_inputs.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// The largest extent of a named dimension of a model.
template <FixedString Name, std::int64_t Extent> struct Size {
  static constexpr std::string_view name = Name.view(); ///< of the dimension
  static constexpr std::int64_t extent = Extent;        ///< its number
};

/// The numbers of the symbols of a trace, -1 if no size is given.
template <class... Dimensions> struct Sizes {
  /// The numbers of a graph's symbols, in its order.
  static constexpr graph::SymbolValues of(const graph::Graph& graph) {
    graph::SymbolValues values{};
    values.fill(-1);
    for (std::size_t i = 0; i < graph.symbols.size(); ++i)
      ((graph.symbols[i].name.view() == Dimensions::name ? void(values[i] = Dimensions::extent) : void()), ...);
    return values;
  }
};

/// A model trained within this number of bytes of a device's pool, for batches of these sizes: one `Size` for each
/// named dimension. The batch itself is the caller's and does not count, nor does memory kept by a captured step.
template <Model M, std::int64_t BudgetBytes, class... Dimensions> struct Fit : M {
  using unfitted_type = M;
  /// The sizes of the model's dimensions for which the budget holds.
  using sizes = Sizes<Dimensions...>;
  static constexpr std::int64_t budget_bytes =
      BudgetBytes; ///< most bytes of weights, states and a step's arena together
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

template <class M> struct Unfitted { using type = M; };
template <compile::Budget M> struct Unfitted<M> { using type = typename M::unfitted_type; };

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// The model without its budget: the figures of its divisions are used for all budgets.
template <class M> using unfitted_t = typename detail::Unfitted<M>::type;

/// The trace of source S of a model, or of one of the programs divided together as `Divided`.
template <class M, class S, class Divided = S> [[nodiscard]] constexpr graph::Graph trace_within_budget() {
  if constexpr (compile::Budget<M>) {
    constexpr const compile::Choice& choice = compile::fitted<Divided, M>;
    graph::Graph graph = S::trace_with(choice.parts);
    if (choice.fault.any()) graph.fault = choice.fault;
    return graph;
  } else {
    return S::trace_with({});
  }
}

}}}} // namespace twill::v0::nn::TWILL_ISA
