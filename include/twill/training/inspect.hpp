#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Inspection of compiled models, by the model's type: `plan<Mlp>()` counts the kernels of its forward pass, `plan<Mlp,
// nn::cross_entropy, optim::Sgd, Labels>()` those of a whole training step on targets of these tensor types, as
// constexpr data for a `static_assert`. `dump` and `graphviz` show graph, fused groups and memory plan. Elements are
// float. Read next: compile/report/report.hpp.

#include <twill/compile/report/dump.hpp>
#include <twill/compile/report/report.hpp>
#include <twill/core/config.hpp>
#include <twill/training/sources.hpp>

#include <cstdint>
#include <string>
#include <type_traits>

namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {

/// The sources of a model's forward pass, and of its training step.
template <nn::Model M> using ForwardOf = nn::PlainForward<nn::ModelStage<M, float, true>>;
/// The whole training step of a model with a loss and a rule, as a source of graphs, for tests and tables.
template <nn::Model M, auto Loss, optim::Rule R, AnyTensor... Targets>
using StepOf = WholeStep<M, float, std::remove_const_t<decltype(Loss)>, R, compile::argument_t<Targets>...>;

}}}} // namespace twill::v0::training::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Counts of the forward pass. Tensors of fewer than `large_elements` elements are not counted as read or written.
template <nn::Model M> [[nodiscard]] constexpr compile::Report plan(std::int64_t large_elements = 1) {
  return compile::plan<training::ForwardOf<M>>(large_elements);
}
/// Counts of a whole training step: forward, loss, backward and update.
template <nn::Model M, auto Loss, optim::Rule R, AnyTensor... Targets>
[[nodiscard]] constexpr compile::Report plan(std::int64_t large_elements = 1) {
  return compile::plan<training::StepOf<M, Loss, R, Targets...>>(large_elements);
}

/// The forward pass as text. With the sizes of its named dimensions, `{{"batch", 64}}`, the memory plan has offsets.
template <nn::Model M> [[nodiscard]] std::string dump(compile::DimensionSizes sizes = {}) {
  return compile::dump<training::ForwardOf<M>>(sizes);
}
/// A whole training step as text.
template <nn::Model M, auto Loss, optim::Rule R, AnyTensor... Targets>
[[nodiscard]] std::string dump(compile::DimensionSizes sizes = {}) {
  return compile::dump<training::StepOf<M, Loss, R, Targets...>>(sizes);
}

/// The forward pass in the language of Graphviz: `dot -Tsvg`.
template <nn::Model M> [[nodiscard]] std::string graphviz() { return compile::graphviz<training::ForwardOf<M>>(); }
/// A whole training step in the language of Graphviz.
template <nn::Model M, auto Loss, optim::Rule R, AnyTensor... Targets> [[nodiscard]] std::string graphviz() {
  return compile::graphviz<training::StepOf<M, Loss, R, Targets...>>();
}

}}} // namespace twill::v0::TWILL_ISA
