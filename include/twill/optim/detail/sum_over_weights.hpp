#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sums over all weights of an update, such as that of the squares of their gradients, in slot 0. Weights in parts are
// summed over their ranks, in one call for each axis of ranks; weights that are equal on all ranks count once.

#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/graph/functions.hpp>
#include <twill/ops/collective.hpp>
#include <twill/ops/move.hpp>

#include <cstddef>

namespace twill { inline namespace v0 { namespace optim { namespace detail { inline namespace TWILL_ISA {

class SumOverWeights {
public:
  /// Adds a scalar of one weight, or of this rank's part of it, in the slot of the weight.
  TWILL_CONSTEXPR void add(const graph::Graph& graph, int weight, graph::Value term) {
    const kernel::AxisId& ranks = graph.parameters[static_cast<std::size_t>(graph.node(weight).index)].shard.axis;
    term = graph::to_slot(term, 0);
    graph::Value& sum = ranks.size < 2 ? whole_ : along(ranks);
    sum = sum.id() < 0 ? term : sum + term;
  }

  [[nodiscard]] TWILL_CONSTEXPR graph::Value value(graph::Graph& graph) const {
    graph::Value sum = whole_;
    for (const Along& part : parts_) {
      const graph::Value term = graph::on_ranks(graph::all_reduce_operation, part.sum, part.ranks, {});
      sum = sum.id() < 0 ? term : sum + term;
    }
    return sum.id() < 0 ? graph::constant(graph, DType::float32, 0) : sum;
  }

private:
  struct Along {
    kernel::AxisId ranks{};
    graph::Value sum{};
  };

  TWILL_CONSTEXPR graph::Value& along(const kernel::AxisId& ranks) {
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (parts_[i].ranks == ranks) return parts_[i].sum;
    parts_.push_back({ranks, {}});
    return parts_.back().sum;
  }

  graph::Value whole_{};
  List<Along> parts_{};
};

}}}}} // namespace twill::v0::optim::detail::TWILL_ISA
