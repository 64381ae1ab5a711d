#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Taps on the inputs and outputs of each layer, `nn::Network<nn::Hooked<Model>>`, for hooks on layers by name:
// PyTorch's register_forward_pre_hook and register_forward_hook on "encoder.0", and the grad_output and grad_input of
// its register_full_backward_hook, also in checkpointed parts. A layer is a scope of the trace; the body of a scan is
// not shown. It is a mode of the trace, like nn/autocast.hpp: names of weights stay, and no bit of a step changes, but
// the copies take time and memory, so it is for inspecting a model. Read next: nn/network.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/nn/declared_inputs.hpp>

#include <cstddef>
#include <string_view>
#include <tuple>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// Finds the values at the borders of layers, in the order of their nodes.
class LayerTaps {
public:
  constexpr explicit LayerTaps(graph::Graph& graph, std::string_view pattern, int result)
      : graph_{&graph}, reached_(graph.nodes.size(), 0), in_loop_(graph.nodes.size(), 0) {
    const auto size = static_cast<std::size_t>(graph.size());
    for (std::size_t id = 0; id < size; ++id) {
      const graph::Node& node = graph.nodes[id];
      if (node.kind == graph::Kind::input) reached_[id] = 1;
      for (int k = 0; k < node.arity; ++k)
        if (reached_.data()[node.input(k)] != 0) reached_[id] = 1;
    }
    for (const graph::LoopInfo& loop : graph.loops)
      for (int id = loop.begin; id < loop.end; ++id) in_loop_.data()[id] = 1;
    for (std::size_t i = 0; i < graph.scopes.size(); ++i) {
      const graph::Name& path = graph.scopes[i];
      bool is_first = true;
      for (std::size_t before = 0; before < i && is_first; ++before) is_first = !(graph.scopes[before] == path);
      if (is_first && matches(pattern, path.view().substr(0, path.size - 1u))) find(path, result);
    }
    for (int id = 0; id < graph.size(); ++id) put(id);
  }

private:
  /// A tap and the node after which it is inserted: inputs of outer layers first, outputs of inner ones.
  struct Found {
    graph::Name name{};
    int at = 0;
    int node = -1;
    graph::TapKind kind = graph::TapKind::value;
  };

  TWILL_CONSTEXPR void find(const graph::Name& path, int result) {
    // Scopes inside the layer.
    List<char> inside(graph_->scopes.size() + 1, 0);
    for (std::size_t i = 0; i < graph_->scopes.size(); ++i)
      inside[i + 1] = graph_->scopes[i].view().starts_with(path.view()) ? 1 : 0;
    const auto is_inside = [&](int id) { return inside.data()[graph_->node(id).scope] != 0; };
    List<char> is_border(graph_->nodes.size(), 0);
    int first = -1;
    int last = -1;
    for (int id = 0; id < graph_->size(); ++id) {
      const graph::Node& node = graph_->node(id);
      const bool own = is_inside(id);
      if (own && reached_.data()[id] != 0) {
        if (first < 0) first = id;
        last = id;
      }
      if (own && id == result) is_border.data()[id] = 1;
      for (int k = 0; k < node.arity; ++k)
        if (own != is_inside(node.input(k))) is_border.data()[node.input(k)] = 1;
    }
    graph::Name name = path;
    name.shorten(static_cast<std::size_t>(path.size) - 1);
    for (int id = 0; id < graph_->size(); ++id) {
      if (is_border.data()[id] == 0 || reached_.data()[id] == 0 || in_loop_.data()[id] != 0) continue;
      const bool leaves = is_inside(id);
      found_.push_back(
          {name, leaves ? last : first, id, leaves ? graph::TapKind::layer_output : graph::TapKind::layer_input});
    }
  }

  TWILL_CONSTEXPR void put(int at) {
    for (const Found& found : found_) // scopes are in the order of their opening
      if (found.at == at && found.kind == graph::TapKind::layer_input)
        graph_->add_tap(found.name, found.node, found.kind);
    for (std::size_t i = found_.size(); i-- > 0;) {
      if (found_[i].at != at || found_[i].kind != graph::TapKind::layer_output) continue;
      std::size_t begin = i; // several results of one layer stay in order
      while (begin > 0 && found_[begin - 1].name == found_[i].name && found_[begin - 1].kind == found_[i].kind) --begin;
      for (std::size_t k = begin; k <= i; ++k) graph_->add_tap(found_[k].name, found_[k].node, found_[k].kind);
      i = begin;
    }
  }

  graph::Graph* graph_;
  List<char> reached_; ///< values that depend on an input of the model
  List<char> in_loop_; ///< values computed by the body of a scan
  List<Found> found_{};
};

/// A pattern as a type: nvcc accepts no strings where it chooses between templates.
template <FixedString Pattern> struct LayerPattern { static constexpr std::string_view view = Pattern.view(); };

template <class M, class Pattern, class Inputs> struct HookedModel;
template <class M, class Pattern, class First, class... Rest>
struct HookedModel<M, Pattern, std::tuple<First, Rest...>> {
  static constexpr graph::Value forward(First first, Rest... rest) {
    const graph::Value result = M::forward(first, rest...);
    if (!first.graph().fault.any()) LayerTaps{first.graph(), Pattern::view, result.id()};
    return result;
  }
};

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A model with hooks on the layers whose names match a pattern.
template <Model M, FixedString Pattern = "*">
struct Hooked : detail::HookedModel<M, detail::LayerPattern<Pattern>, inputs_t<M>> {};

/// A hooked model in mixed precision keeps that precision.
template <Model M, FixedString Pattern>
requires requires { typename M::autocast_type; }
struct Hooked<M, Pattern> : detail::HookedModel<M, detail::LayerPattern<Pattern>, inputs_t<M>> {
  using autocast_type = typename M::autocast_type;
};

}}}} // namespace twill::v0::nn::TWILL_ISA
