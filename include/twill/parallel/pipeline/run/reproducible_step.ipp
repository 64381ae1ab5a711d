#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/pipeline/run/reproducible_step.hpp.

#include <twill/parallel/pipeline/run/reproducible_step.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

TWILL_BODY void require_shards_as_micro_batches(const Reproducible& policy, const StepOptions& options) {
  parallel::detail::require_shards(policy, 1);
  if (options.micro_batches != policy.shards)
    throw ValueError(join_text(
        {"Reproducible: each shard of the batch is a micro-batch of the pipeline, got .shards = ", policy.shards,
         " and .micro_batches = ", options.micro_batches, "; give both the same number"}));
  if (options.weight_orders == WeightOrders::kept_for_step)
    throw ValueError("Reproducible: gradients of weights in kept orders are summed one micro-batch after another, not "
                     "along the tree of shards; leave .weight_orders at WeightOrders::made_each_time");
}

TWILL_BODY void require_separate_shards(int stage, const compile::TableView& forward) {
  if (compile::adds_over_ranks(forward))
    throw ValueError(join_text({"Reproducible: stage ", stage, " of the pipeline sums over ranks inside its run, as ",
                                "nn::batch_norm with .is_synchronised does, and its micro-batches never run together; ",
                                "train on one device or ranks of DistributedDataParallel"}));
}

TWILL_BODY bool passes_channels_last(const StageJoint& joint) {
  const List<char> is_last = compile::carried_channels_last(joint.graph);
  for (std::size_t i = 0; i < joint.graph.outputs.size(); ++i) {
    const bool is_weight = i >= joint.results && i < joint.results + joint.weights;
    if (!is_weight && is_last[static_cast<std::size_t>(joint.graph.outputs[i])] != 0) return true;
  }
  return false;
}

TWILL_BODY bool sums_draws_along_rows(const graph::Graph& graph) {
  List<char> is_drawn(graph.nodes.size(), 0);
  for (int id = 0; id < graph.size(); ++id) {
    const graph::Node& node = graph.node(id);
    bool reads_drawn = false;
    for (int k = 0; k < node.arity; ++k) reads_drawn = reads_drawn || is_drawn[static_cast<std::size_t>(node.input(k))];
    if (node.kind == graph::Kind::reduce && node.axis == node.shape.rank - 1 && reads_drawn) return true;
    const bool draws = node.kind == graph::Kind::primitive && (node.primitive == graph::Primitive::random_uniform ||
                                                               node.primitive == graph::Primitive::random_integer);
    const bool is_fused = graph::is_elementwise(node.kind) || graph::is_view(node.kind);
    is_drawn.items[id] = draws || (is_fused && reads_drawn) ? 1 : 0;
  }
  return false;
}

TWILL_BODY void require_orders_of_one_device(int stage, const StageJoint& joint) {
  if (passes_channels_last(joint))
    throw ValueError(join_text({"Reproducible: stage ", stage, " of the pipeline passes on images of a convolution, ",
                                "which one device keeps channels-last and adds up in that order; cut the model where ",
                                "its values are not images, such as after the pooling"}));
  if (sums_draws_along_rows(joint.graph))
    throw ValueError(join_text({"Reproducible: stage ", stage, " of the pipeline sums along rows what dropout has ",
                                "changed, as the gradient of dropped attention weights does, and one device may do so ",
                                "in another kernel; train without this dropout, or on one device or replicas"}));
}

TWILL_BODY void require_no_ties(const std::vector<ListView<graph::ParameterInfo>>& stages) {
  for (const TiedWeight& tied : tied_weights(stages)) {
    const auto first = tied.owners[0];
    throw ValueError(
        join_text({"Reproducible: stages ", first.stage, " and ", tied.owners[1].stage,
                   " of the pipeline share the weight \"", stages[first.stage][first.index].name.view(),
                   "\", whose gradients would be added stage by stage; cut the model so that one stage ", "uses it"}));
  }
}

TWILL_BODY std::vector<parallel::Rows> shards_of_batch(const Reproducible& policy, std::int64_t rows) {
  parallel::detail::require_rows_of_shards(policy, {.all_rows = rows}, rows, 0, 1);
  std::vector<parallel::Rows> shards{};
  for (int shard = 0; shard < policy.shards; ++shard) shards.push_back(policy.rows_of_shard(rows, shard));
  return shards;
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA
