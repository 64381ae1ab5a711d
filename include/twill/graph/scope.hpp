#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Scopes: the layers of a traced function, by name. Weights made during the life of a `Scope` carry its path in their
// names, and nodes remember it for messages. Read next: nn/parameter.hpp.

#include <twill/graph/graph.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace graph {

/// Prefixes the names of parameters made during its life: `Scope block{graph, "layer", i};` gives "layer1.…".
class Scope {
public:
  /// Names everything that is traced during its life, below the scopes around it.
  constexpr Scope(Graph& graph, std::string_view name)
      : graph_{&graph}, previous_size_{graph.path().size}, previous_scope_{graph.scope()} {
    Name path = graph.path();
    path.append(name);
    path.append(".");
    graph.set_path(path);
    graph.enter_scope();
  }
  /// Adds a number to the name: "layer", 3 gives "layer.3".
  constexpr Scope(Graph& graph, std::string_view name, std::int64_t index)
      : graph_{&graph}, previous_size_{graph.path().size}, previous_scope_{graph.scope()} {
    Name path = graph.path();
    path.append(name);
    path.append_number(index);
    path.append(".");
    graph.set_path(path);
    graph.enter_scope();
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  constexpr ~Scope() {
    Name path = graph_->path();
    path.shorten(previous_size_);
    path.truncated = false;
    graph_->set_path(path);
    graph_->set_scope(previous_scope_);
  }

private:
  Graph* graph_;
  std::size_t previous_size_;
  int previous_scope_;
};

}}} // namespace twill::v0::graph
