#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Weights divided over the ranks along an axis, and regions in which each rank computes a part of the values. The
// initial part equals that part of a single device's draw, under the same name. Read next: nn/tensor_parallel.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/parameter.hpp>
#include <twill/ops/collective.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of a sharded weight: the dimension divided over ranks.
struct ShardOptions {
  int dimension = 0; ///< of the whole weight, along which it is divided
  int blocks = 1;    ///< each divided, such as the queries, keys and values of one weight
};

/// This rank's part of a weight of the whole shape. errors: ranks that do not divide the dimension
template <AnyRankAxis A>
[[nodiscard]] constexpr Value sharded_parameter(graph::Graph& graph, std::string_view name,
                                                std::initializer_list<std::int64_t> whole, Initialiser initialiser,
                                                ShardOptions options = {}, CallSite site = CallSite::here()) {
  graph::Extents shape{};
  for (std::int64_t extent : whole) shape.append({extent, 0});
  std::int64_t& extent = shape[options.dimension].factor;
  if (extent % (A::size * options.blocks) != 0)
    graph.refuse(graph::Problem::ranks_do_not_divide_the_axis, A::size, extent / options.blocks, site);
  extent /= A::size;
  const Value part{graph, graph.add_parameter(name, graph.element, shape, initialiser, graph::Role::weight, site)};
  if (A::size == 1) return part;
  graph::ShardInfo& shard = graph.parameters[static_cast<std::size_t>(part.node().index)].shard;
  shard.axis = A::id;
  shard.dimension = options.dimension;
  shard.blocks = options.blocks;
  return part;
}

/// A region, for its life, whose traced values are this rank's parts, along an axis, of a single device's values: draws
/// are parts of the whole's draws, and gradients of the weights declared in it are summed over the ranks, unless the
/// weights are parts. Layers need no change: `nn::SplitRegion<Tensor> part{graph, 1}; y = nn::layer_norm(x, "norm");`
template <AnyRankAxis A> class SplitRegion {
public:
  /// Opens a region whose values are parts along `axis`; the destructor closes it.
  constexpr SplitRegion(graph::Graph& graph, int axis, bool sums_weights = true)
      : graph_{&graph}, before_{graph.split} {
    graph.split.ranks = A::id;
    graph.split.axis = axis;
    graph.split.sums_weights = sums_weights;
  }
  SplitRegion(const SplitRegion&) = delete;
  SplitRegion& operator=(const SplitRegion&) = delete;
  constexpr ~SplitRegion() { graph_->split = before_; }

private:
  graph::Graph* graph_;
  graph::SplitInfo before_;
};

}}}} // namespace twill::v0::nn::TWILL_ISA
