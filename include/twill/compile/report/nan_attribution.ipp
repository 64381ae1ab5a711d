#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/report/nan_attribution.hpp.

#include <twill/compile/report/nan_attribution.hpp>

#include <cmath>

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY std::string operation_name(const graph::Graph& graph, const graph::Node& node) {
  using graph::Kind;
  switch (node.kind) {
  case Kind::primitive:
    return std::string{kernel::info(node.primitive).name};
  case Kind::reduce:
    return std::string{kernel::name(node.reduction)} + " over axis " + std::to_string(node.axis);
  case Kind::operation:
    return std::string{node.operation->name};
  case Kind::assign:
    return "update of " +
           std::string{graph.parameters[static_cast<std::size_t>(graph.node(node.input(0)).index)].name.view()};
  case Kind::parameter:
    return "update of " + std::string{graph.parameters[static_cast<std::size_t>(node.index)].name.view()};
  case Kind::cast:
    return "cast to " + std::string{twill::name(node.dtype)};
  default:
    return "copy";
  }
}

TWILL_BODY std::string layer_of(const graph::Graph& graph, const graph::Node& node) {
  if (node.scope == 0) return {};
  const auto scope = static_cast<std::size_t>(node.scope < 0 ? -node.scope : node.scope);
  const std::string_view path = graph.scopes[scope - 1].view();
  return std::string{path.substr(0, path.size() - 1)};
}

template <class T> void count_not_finite(const void* data, NotFinite& found) {
  const auto* const elements = static_cast<const T*>(data);
  for (std::int64_t i = 0; i < found.elements; ++i) {
    const auto element = static_cast<double>(elements[i]);
    found.nans += std::isnan(element) ? 1 : 0;
    found.infinities += std::isinf(element) ? 1 : 0;
  }
}

TWILL_BODY NotFinite search(const TableView& table, const graph::SymbolValues& symbols, int value, const void* data) {
  const ValueInfo& info = table.values[static_cast<std::size_t>(value)];
  NotFinite found{};
  found.elements = info.shape.elements().evaluate(symbols);
  if (info.dtype == DType::float32) count_not_finite<float>(data, found);
  if (info.dtype == DType::float64) count_not_finite<double>(data, found);
  if (info.dtype == DType::float16) count_not_finite<half>(data, found);
  if (info.dtype == DType::bfloat16) count_not_finite<bfloat16>(data, found);
  if (found.nans + found.infinities > 0) found.value = value;
  return found;
}

TWILL_BODY Retraced::Retraced(graph::Graph traced) : graph{std::move(traced)} {
  simplify_for_lowering(graph);
  lowered = Lowering{graph}.result();
}

TWILL_BODY const graph::Node& Retraced::node_of(int value) const {
  return graph.node(lowered.values[static_cast<std::size_t>(value)].node);
}

TWILL_BODY const graph::Node& Retraced::made_of(int value) const {
  const graph::Node& node = node_of(value);
  for (const graph::TapInfo& tap : lowered.taps)
    if (tap.node == value && node.kind == graph::Kind::cast && graph.node(node.input(0)).dtype == node.dtype)
      return graph.node(view_root(graph.nodes, node.input(0)));
  return node;
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

TWILL_BODY void FiniteWatcher::see(const TableView& table, const graph::SymbolValues& symbols, int value,
                                   const void* data) {
  if (!found.is_found()) found = detail::search(table, symbols, value, data);
}

TWILL_BODY void Tap::see(const TableView& table, const graph::SymbolValues& symbols, int value, const void* data) {
  bool is_tapped = false;
  for (const graph::TapInfo& tap : table.taps) {
    if (tap.node != value) continue;
    is_tapped = true;
    if (matches(pattern_, tap.name.view())) detail::append(observations_, detail::observed(table, symbols, tap, data));
  }
  const graph::Node& node = retraced_.node_of(value);
  if (is_tapped && node.kind == graph::Kind::cast) return; // a copy, which is not part of the model
  Observation seen{};
  seen.layer = detail::layer_of(retraced_.graph, node);
  if (!matches(pattern_, seen.layer)) return;
  seen.operation = detail::operation_name(retraced_.graph, node);
  seen.is_gradient = node.scope < 0;
  seen.dtype = table.values[static_cast<std::size_t>(value)].dtype;
  seen.shape = node.shape.evaluate(symbols);
  detail::copy_values(data, seen);
  observations_.push_back(std::move(seen));
}

}}}} // namespace twill::v0::compile::TWILL_ISA
