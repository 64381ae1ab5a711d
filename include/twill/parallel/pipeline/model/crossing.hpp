#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Values that pass the cuts of a model's trace, and the order in which messages have images among them: channels-last
// where the whole model computes them so, and likewise their gradients. Read next: parallel/pipeline/model/cut.hpp.

#include <twill/compile/passes/channels_last.hpp>
#include <twill/compile/passes/simplify.hpp>
#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/graph/graph.hpp>
#include <twill/nn/network.hpp>

#include <cstddef>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// The values that pass a place in a trace, and those that each side makes for itself.
class Crossing {
public:
  constexpr Crossing(const graph::Graph& graph, int root) : graph_{&graph}, root_{root} {
    // Made only from the batch, weights and numbers, by arithmetic: each user makes it.
    own_.resize(graph.nodes.size(), 0);
    for (int id = 0; id < graph.size(); ++id) {
      const graph::Node& node = graph.node(id);
      bool is_own = node.arity == 0 || is_elementwise(node.kind) || is_view(node.kind);
      for (int k = 0; k < node.arity && is_own; ++k) is_own = own_.items[node.input(k)] != 0;
      own_.items[id] = is_own ? 1 : 0;
    }
  }

  /// The values before `place` that are sent over it, in order; the nodes after it need no more.
  [[nodiscard]] constexpr List<int> values(int place) const {
    List<char> needed(graph_->nodes.size(), 0);
    needed.items[root_] = 1;
    List<int> sent{};
    for (int id = graph_->size(); id-- > 0;) {
      const graph::Node& node = graph_->node(id);
      if (node.kind == graph::Kind::assign && id >= place) needed.items[id] = 1;
      if (needed.items[id] == 0) continue;
      if (id < place && is_sent(id)) {
        sent.push_back(id);
        continue;
      }
      for (int k = 0; k < node.arity; ++k) needed.items[node.input(k)] = 1;
    }
    List<int> sorted{};
    for (std::size_t i = sent.size(); i-- > 0;) sorted.push_back(sent[i]);
    return sorted;
  }

private:
  /// A view of a sent value is taken where it is used. A rule stays with its operands, which would be sent, too.
  [[nodiscard]] constexpr bool is_sent(int id) const {
    const graph::Node& node = graph_->node(id);
    return own_.items[id] == 0 && (!is_view(node.kind) || (node.kind == graph::Kind::rule && node.arity > 1));
  }

  const graph::Graph* graph_;
  int root_;
  List<char> own_{};
};

/// The order of images that pass a cut or are the result, for each node of a trace: bits of `PassesLast`. Both sides of
/// a cut take those of the whole model, so that sums over rows and pixels have one order in each stage and in one
/// network.
enum PassesLast : char { value_passes_last = 1, gradient_passes_last = 2 };

/// Those of a traced model with cuts before these nodes; empty if nothing is channels-last.
[[nodiscard]] constexpr List<char> find_orders_of_images(graph::Graph graph, int root, ListView<int> places) {
  if (graph.fault.any() || !compile::wants_channels_last(graph)) return {};
  List<char> orders(graph.nodes.size(), 0);
  List<int> passing{};
  const Crossing crossing{graph, root};
  for (const int place : places)
    for (const int id : crossing.values(place)) {
      bool is_known = !is_floating(graph.node(id).dtype);
      for (const int known : passing) is_known = is_known || known == id;
      if (!is_known) passing.push_back(id);
    }
  graph.taps.clear();
  const graph::Node result = graph.node(root);
  const List<int> found = gradients(graph, {{root, graph.add_input(result.dtype, result.shape)}}, passing);
  graph.outputs = passing;
  for (std::size_t i = 0; i < found.size(); ++i) graph.outputs.push_back(found[i] >= 0 ? found[i] : passing[i]);
  graph.outputs.push_back(root);
  if (graph.fault.any()) return {};
  compile::simplify(graph);
  const List<char> is_last = compile::carried_channels_last(graph);
  const auto is_output_last = [&](std::size_t i) { return is_last[static_cast<std::size_t>(graph.outputs[i])] != 0; };
  for (std::size_t i = 0; i < passing.size(); ++i)
    orders.items[passing[i]] = static_cast<char>((is_output_last(i) ? value_passes_last : 0) +
                                                 (is_output_last(passing.size() + i) ? gradient_passes_last : 0));
  if (is_output_last(2 * passing.size())) orders.items[root] |= value_passes_last; // its gradient is that of a loss
  return orders;
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA
