#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Names what a watched run has found, in the words of the model: the layer by its scope, the operation, the shapes of what it was
// given. The function is traced again for that, at run time, so this header is for programs that look for a mistake. Read
// next: train/train_step.hpp.

#include <twill/compile/lower.hpp>
#include <twill/compile/watch.hpp>
#include <twill/core/config.hpp>

#include <string>

namespace twill::inline v0::compile::detail::inline TWILL_ISA {

[[nodiscard]] inline std::string operation_name(const graph::Graph& graph, const graph::Node& node) {
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

/// "in layer1.conv", or "in the gradient of layer1.conv".
[[nodiscard]] inline std::string place_of(const graph::Graph& graph, const graph::Node& node) {
  if (node.scope == 0) return {};
  const auto scope = static_cast<std::size_t>(node.scope < 0 ? -node.scope : node.scope);
  const std::string_view path = graph.scopes[scope - 1].view();
  std::string text = node.scope < 0 ? " in the gradient of " : " in ";
  if (path.empty()) return node.scope < 0 ? " in the backward pass" : "";
  return text + std::string{path.substr(0, path.size() - 1)};
}

} // namespace twill::inline v0::compile::detail::inline TWILL_ISA

namespace twill::inline v0::compile::inline TWILL_ISA {

/// Says what a watched run of S has found.
template <Source S> [[nodiscard]] std::string blame(const NotFinite& found, const graph::SymbolValues& symbols) {
  graph::Graph graph = S::trace();
  simplify_for_lowering(graph);
  const Lowered lowered = Lowering{graph}.result();
  const ValueInfo& value = lowered.values[static_cast<std::size_t>(found.value)];
  const graph::Node& node = graph.node(value.node);
  std::string text = detail::operation_name(graph, node) + detail::place_of(graph, node) + " gives " +
                     std::to_string(found.nans) + " NaN and " + std::to_string(found.infinities) +
                     " infinities among " + std::to_string(found.elements) + " elements of shape " +
                     to_string(value.shape.evaluate(symbols));
  for (int k = 0; k < node.arity; ++k) {
    const graph::Node& input = graph.node(node.input(k));
    text += (k == 0 ? ", from " : " and ") + std::string{twill::name(input.dtype)} + " " +
            to_string(input.shape.evaluate(symbols));
  }
  return text;
}

} // namespace twill::inline v0::compile::inline TWILL_ISA
