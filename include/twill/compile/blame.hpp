#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Names what a watched run has shown, in the words of the model: the layer by its scope, the operation, the shapes. The
// function is traced again for that, at run time, so this header is for programs that look for a mistake. Read next:
// train/train_step.hpp.

#include <twill/compile/lower.hpp>
#include <twill/compile/observation.hpp>
#include <twill/compile/watch.hpp>
#include <twill/core/config.hpp>
#include <twill/core/pattern.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

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

/// The path of the scope in which a node was traced, or for the gradient of which.
[[nodiscard]] inline std::string layer_of(const graph::Graph& graph, const graph::Node& node) {
  if (node.scope == 0) return {};
  const auto scope = static_cast<std::size_t>(node.scope < 0 ? -node.scope : node.scope);
  const std::string_view path = graph.scopes[scope - 1].view();
  return std::string{path.substr(0, path.size() - 1)};
}

/// A function traced again, and the values of its table.
struct Retraced {
  graph::Graph graph;
  Lowered lowered;

  explicit Retraced(graph::Graph traced) : graph{std::move(traced)} {
    simplify_for_lowering(graph);
    lowered = Lowering{graph}.result();
  }
  [[nodiscard]] const graph::Node& node_of(int value) const {
    return graph.node(lowered.values[static_cast<std::size_t>(value)].node);
  }
  /// The node that made a value, which may be the copy of a tap.
  [[nodiscard]] const graph::Node& made_of(int value) const {
    const graph::Node& node = node_of(value);
    for (const graph::TapInfo& tap : lowered.taps)
      if (tap.node == value && node.kind == graph::Kind::cast && graph.node(node.input(0)).dtype == node.dtype)
        return graph.node(detail::view_root(graph.nodes, node.input(0)));
    return node;
  }
};

} // namespace twill::inline v0::compile::detail::inline TWILL_ISA

namespace twill::inline v0::compile::inline TWILL_ISA {

/// Says what a watched run of S has found.
template <Source S> [[nodiscard]] std::string blame(const NotFinite& found, const graph::SymbolValues& symbols) {
  const detail::Retraced retraced{S::trace()};
  const graph::Graph& graph = retraced.graph;
  const graph::Node& node = retraced.made_of(found.value);
  const std::string layer = detail::layer_of(graph, node);
  const std::string place = layer.empty() ? "" : (node.scope < 0 ? " in the gradient of " : " in ") + layer;
  std::string text = detail::operation_name(graph, node) + place + " gives " + std::to_string(found.nans) +
                     " NaN and " + std::to_string(found.infinities) + " infinities among " +
                     std::to_string(found.elements) + " elements of shape " + to_string(node.shape.evaluate(symbols));
  for (int k = 0; k < node.arity; ++k) {
    const graph::Node& input = graph.node(node.input(k));
    text += (k == 0 ? ", from " : " and ") + std::string{twill::name(input.dtype)} + " " +
            to_string(input.shape.evaluate(symbols));
  }
  return text;
}

/// Copies the values of layers whose path fits a pattern.
class Tap final : public Watcher {
public:
  Tap(graph::Graph traced, std::string_view pattern) : retraced_{std::move(traced)}, pattern_{pattern} {}

  void see(const TableView& table, const graph::SymbolValues& symbols, int value, const void* data) override {
    bool is_tapped = false;
    for (const graph::TapInfo& tap : table.taps) {
      if (tap.node != value) continue;
      is_tapped = true;
      if (matches(pattern_, tap.name.view()))
        detail::append(observations_, detail::observed(table, symbols, tap, data));
    }
    const graph::Node& node = retraced_.node_of(value);
    if (is_tapped && node.kind == graph::Kind::cast) return; // a copy, which the model does not know
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

  [[nodiscard]] const std::vector<Observation>& observations() const { return observations_; }

private:
  detail::Retraced retraced_;
  std::string pattern_;
  std::vector<Observation> observations_{};
};

} // namespace twill::inline v0::compile::inline TWILL_ISA
