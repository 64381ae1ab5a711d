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

/// How often the forward pass of a stage reads a node, through views and casts.
[[nodiscard]] TWILL_BODY int uses_in_forward(const StageJoint& stage, int id) {
  int uses = 0;
  for (int reader = 0; reader < stage.cotangent; ++reader) {
    const graph::Node& node = stage.graph.node(reader);
    bool reads = false;
    for (int k = 0; k < node.arity; ++k) reads = reads || node.input(k) == id;
    if (!reads) continue;
    const bool passes_on = graph::is_view(node.kind) || node.kind == graph::Kind::cast;
    uses += passes_on ? uses_in_forward(stage, reader) : 1;
  }
  return uses;
}

TWILL_BODY void require_ties_in_order(const std::vector<StageJoint>& stages,
                                      const std::vector<ListView<graph::ParameterInfo>>& infos) {
  for (const TiedWeight& tied : tied_weights(infos))
    for (std::size_t i = 0; i + 1 < tied.owners.size(); ++i) {
      const TiedWeight::Owner own = tied.owners[i];
      const std::string_view name = infos[own.stage][own.index].name.view();
      int uses = 0;
      for (const graph::ParameterInfo& info : stages[own.stage].graph.parameters)
        if (info.name.view() == name) uses = uses_in_forward(stages[own.stage], info.node);
      if (uses > 1)
        throw ValueError(join_text({"Reproducible: stage ", own.stage, " of the pipeline uses the weight \"", name,
                                    "\" ", uses, " times and stage ", tied.owners[i + 1].stage,
                                    " too, and one device adds the gradients of these uses one after another; cut the ",
                                    "model so that each stage but the last of those that share it uses it once"}));
    }
}

TWILL_BODY std::vector<parallel::Rows> shards_of_batch(const Reproducible& policy, std::int64_t rows) {
  parallel::detail::require_rows_of_shards(policy, {.all_rows = rows}, rows, 0, 1);
  std::vector<parallel::Rows> shards{};
  for (int shard = 0; shard < policy.shards; ++shard) shards.push_back(policy.rows_of_shard(rows, shard));
  return shards;
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA
