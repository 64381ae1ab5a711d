#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Summary of a model, layer by layer: `std::puts(to_string(summary<Mlp>({{"batch", 64}})).c_str())`. A layer is a scope
// with weights or operations; operations outside of scopes form the model's own row. Counts are of one forward pass in
// training, as traced: two operations for a multiply-add, one for an element of others. Read next:
// training/inspect.hpp.

#include <twill/compile/report/dump.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/network.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {

/// One layer of a model.
struct LayerSummary {
  std::string name{};               ///< its scope, as in the state dictionary
  Dims output{};                    ///< of its last operation
  std::int64_t parameters = 0;      ///< elements of its weights; a tied weight belongs to its first layer
  std::int64_t trainable = 0;       ///< of these, elements of trainable weights
  std::int64_t flops = 0;           ///< of its forward pass, two for a multiply-add
  std::int64_t parameter_bytes = 0; ///< of its weights
  std::int64_t output_bytes = 0;    ///< of its results
};

/// The layers of a model and their sums, to be printed.
struct Summary {
  std::vector<LayerSummary> layers{}; ///< in the order of the trace
  LayerSummary total{};               ///< `output` and `output_bytes` are those of the model
};

}}}} // namespace twill::v0::training::TWILL_ISA

namespace twill { inline namespace v0 { namespace training { namespace detail { inline namespace TWILL_ISA {

/// The run-time sizes of a trace's symbols.
[[nodiscard]] graph::SymbolValues sizes_of(const graph::Graph& graph, compile::DimensionSizes sizes);

/// Arithmetic operations of one node.
[[nodiscard]] std::int64_t flops_of(const graph::Graph& graph, const graph::Node& node,
                                    const graph::SymbolValues& symbols);

[[nodiscard]] Summary summary_of(const graph::Graph& graph, int result, compile::DimensionSizes sizes);

}}}}} // namespace twill::v0::training::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The layers of a model with elements of T: shapes, parameters, arithmetic operations, bytes. Named dimensions are one
/// unless set otherwise: `summary<Mlp>({{"batch", 64}})`.
template <nn::Model M, FloatingScalar T = float>
[[nodiscard]] training::Summary summary(compile::DimensionSizes sizes = {}) {
  graph::Graph graph = nn::ModelStage<M, T, true>::make_graph();
  const graph::Value result = nn::ModelStage<M, T, true>::build(graph);
  return training::detail::summary_of(graph, result.id(), sizes);
}

/// The table as text, a line for each layer.
[[nodiscard]] std::string to_string(const training::Summary& summary);

}}} // namespace twill::v0::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/training/summary.ipp>
#endif
