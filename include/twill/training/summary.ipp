#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of training/summary.hpp.

#include <twill/training/summary.hpp>

namespace twill { inline namespace v0 { namespace training { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY graph::SymbolValues sizes_of(const graph::Graph& graph, compile::DimensionSizes sizes) {
  graph::SymbolValues symbols{};
  symbols.fill(1);
  for (std::size_t i = 0; i < graph.symbols.size(); ++i)
    for (const auto& [name, size] : sizes)
      if (graph.symbols[i].name.view() == name) symbols[i] = size;
  return symbols;
}

TWILL_BODY std::int64_t flops_of(const graph::Graph& graph, const graph::Node& node,
                                 const graph::SymbolValues& symbols) {
  switch (node.kind) {
  case graph::Kind::primitive:
    return node.shape.elements().evaluate(symbols);
  case graph::Kind::reduce:
    return graph.node(node.input(0)).shape.elements().evaluate(symbols);
  case graph::Kind::operation:
    return node.operation->multiply_adds != nullptr ? 2 * node.operation->multiply_adds(graph, node).evaluate(symbols)
                                                    : node.shape.elements().evaluate(symbols);
  default:
    return 0;
  }
}

TWILL_BODY Summary summary_of(const graph::Graph& graph, int result, compile::DimensionSizes sizes) {
  const graph::SymbolValues symbols = sizes_of(graph, sizes);
  std::vector<LayerSummary> rows(graph.scopes.size() + 1);
  std::vector<char> is_layer(rows.size(), 0);
  std::vector<std::size_t> row_of{0}; // scopes of one path are one layer
  for (std::size_t i = 0; i < graph.scopes.size(); ++i) {
    std::size_t row = i + 1;
    for (std::size_t before = 0; before < i && row == i + 1; ++before)
      if (graph.scopes[before] == graph.scopes[i]) row = row_of[before + 1];
    row_of.push_back(row);
    const std::string_view path = graph.scopes[i].view();
    rows[row].name = std::string{path.substr(0, path.size() - 1)};
  }
  rows[0].name = "(model)";
  Summary summary{};
  const auto add = [&](std::size_t row, const auto& change) {
    is_layer[row] = 1;
    change(rows[row]);
    change(summary.total);
  };
  for (const graph::Node& node : graph.nodes) {
    const std::size_t row = row_of[static_cast<std::size_t>(node.scope)];
    const std::int64_t elements = node.shape.elements().evaluate(symbols);
    const std::int64_t bytes = elements * static_cast<std::int64_t>(size_of(node.dtype));
    if (node.kind == graph::Kind::parameter) {
      const graph::Role role = graph.parameters[static_cast<std::size_t>(node.index)].role;
      if (role == graph::Role::buffer) continue;
      add(row, [&](LayerSummary& layer) {
        layer.parameters += elements;
        layer.trainable += role == graph::Role::weight ? elements : 0;
        layer.parameter_bytes += bytes;
      });
    } else if (const std::int64_t flops = flops_of(graph, node, symbols); flops > 0) {
      add(row, [&](LayerSummary& layer) {
        layer.flops += flops;
        layer.output = node.shape.evaluate(symbols);
        layer.output_bytes = bytes;
      });
    }
  }
  const graph::Node& last = graph.node(result);
  summary.total.name = "total";
  summary.total.output = last.shape.evaluate(symbols);
  summary.total.output_bytes = summary.total.output.elements() * static_cast<std::int64_t>(size_of(last.dtype));
  for (std::size_t row = 1; row < rows.size(); ++row)
    if (is_layer[row] != 0) summary.layers.push_back(std::move(rows[row]));
  if (is_layer[0] != 0) summary.layers.push_back(std::move(rows[0]));
  return summary;
}

}}}}} // namespace twill::v0::training::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

TWILL_BODY std::string to_string(const training::Summary& summary) {
  std::vector<std::vector<std::string>> cells{
      {"layer", "output", "parameters", "flops", "weight bytes", "output bytes"}};
  const auto add = [&](const training::LayerSummary& layer) {
    cells.push_back({layer.name, to_string(layer.output), std::to_string(layer.parameters), std::to_string(layer.flops),
                     std::to_string(layer.parameter_bytes), std::to_string(layer.output_bytes)});
  };
  for (const training::LayerSummary& layer : summary.layers) add(layer);
  add(summary.total);
  std::vector<std::size_t> widths(cells[0].size(), 0);
  for (const auto& row : cells)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text{};
  for (const auto& row : cells) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - row[i].size(), ' ');
      text += (i == 0 ? "" : "  ") + (i < 2 ? row[i] + gap : gap + row[i]);
    }
    text += "\n";
  }
  return text;
}

}}} // namespace twill::v0::TWILL_ISA
