#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/fit/stage_replay.hpp.

#include <twill/ops/rank_sum.hpp>
#include <twill/parallel/fit/layer_traffic.hpp>
#include <twill/parallel/fit/stage_replay.hpp>
#include <twill/parallel/pipeline/model/kept_weights.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

TWILL_BODY ReplayedBlock StageReplay::make(Bytes kind, DType dtype, const graph::Extents& shape,
                                           const graph::SymbolValues& symbols) const {
  const std::int64_t count = shape.elements().evaluate(symbols);
  return {ledger_->allocate(kind, count * static_cast<std::int64_t>(size_of(dtype))), count, dtype};
}

TWILL_BODY ReplayedBlocks StageReplay::run(const PlannedProgram& program, const graph::SymbolValues& symbols) {
  const compile::TableView table = program.view();
  ReplayedBlocks made(static_cast<std::size_t>(table.outputs));
  for (const compile::ValueInfo& value : table.values)
    if (value.storage == compile::Storage::output)
      made[static_cast<std::size_t>(value.index)] = make(Bytes::activations, value.dtype, value.shape, symbols);
  const Ledger::Entry during = ledger_->allocate(Bytes::working, program.arena(symbols));
  if (meet && compile::adds_over_ranks(table)) meet();
  const std::int64_t of_operations = program.working_bytes(symbols);
  ledger_->allocate(Bytes::working, of_operations).reset();
  operation_bytes_ = std::max(operation_bytes_, of_operations);
  layer_bytes_ += layer_traffic(program, symbols, {}).sent_bytes;
  return made;
}

TWILL_BODY void StageReplay::forward(int micro_batch, const graph::SymbolValues& symbols,
                                     const std::function<bool(int)>& is_here, bool recompute) {
  Kept own{symbols, {}, recompute};
  const compile::TableView table = plan_->inference.view();
  for (std::size_t i = 0; i < plan_->given.size(); ++i) {
    const graph::InputInfo& info = table.inputs[i];
    own.operands.push_back(is_here(plan_->given[i]) ? ReplayedBlock{}
                                                    : make(Bytes::communication, info.dtype, info.shape, symbols));
  }
  keep_orders();
  if (plan_->counts.received > 0) {
    auto received = inputs.extract(micro_batch);
    for (ReplayedBlock& block : received.mapped()) own.operands.push_back(std::move(block));
  }
  ReplayedBlocks made = run(plan_->forward, symbols);
  outputs.insert_or_assign(micro_batch, ReplayedBlocks(made.begin(), made.begin() + plan_->counts.results));
  if (!own.is_recomputed) complete(own, std::move(made));
  kept_.insert_or_assign(micro_batch, std::move(own));
}

TWILL_BODY void StageReplay::keep_orders() {
  if (!keeps_orders || !orders_.empty()) return;
  std::set<std::pair<int, bool>> known{}; // each weight once for forward, and once for backward passes
  const auto add = [&](const PlannedProgram& program) {
    pipeline::detail::for_each_ordered_weight(program.view(), [&](int weight, bool is_backward, std::int64_t bytes) {
      if (known.emplace(weight, is_backward).second) orders_.push_back(ledger_->allocate(Bytes::working, bytes));
    });
  };
  add(plan_->forward);
  add(plan_->splits_gradients ? plan_->input_gradient : plan_->backward); // of a first stage there is none
}

TWILL_BODY void StageReplay::complete(Kept& own, ReplayedBlocks made) const {
  const auto first_kept = made.begin() + plan_->counts.results;
  own.operands.resize(own.operands.size() + static_cast<std::size_t>(plan_->counts.cotangents)); // not there yet
  std::move(first_kept, made.end(), std::back_inserter(own.operands));
  for (std::size_t i = 0; i < plan_->results_kept.size(); ++i)
    if (plan_->results_kept[i] != 0) own.operands.push_back(std::move(made[i]));
  for (std::size_t i = 0; i < own.operands.size(); ++i)
    if (!plan_->reads_after_forward(i)) own.operands[i] = {};
  own.is_recomputed = false;
}

TWILL_BODY StageReplay::Kept StageReplay::take_with_cotangents(int micro_batch) {
  Kept own = std::move(kept_.extract(micro_batch).mapped());
  if (own.is_recomputed)
    complete(own, run(plan_->updates_buffers ? plan_->forward_again : plan_->forward, own.symbols));
  ReplayedBlocks given = std::move(cotangents.extract(micro_batch).mapped());
  std::move(given.begin(), given.end(), own.operands.begin() + plan_->counts.given + plan_->counts.received);
  return own;
}

TWILL_BODY void StageReplay::backward(int micro_batch) {
  if (plan_->splits_gradients) {
    input_gradient(micro_batch);
    weight_gradient(micro_batch);
    return;
  }
  const Kept own = take_with_cotangents(micro_batch);
  ReplayedBlocks made = run(plan_->backward, own.symbols);
  const auto first = made.begin() + plan_->counts.weights;
  if (plan_->counts.received > 0) input_gradients.insert_or_assign(micro_batch, ReplayedBlocks(first, made.end()));
  made.erase(first, made.end());
  add_gradients(std::move(made));
}

TWILL_BODY void StageReplay::input_gradient(int micro_batch) {
  Kept own = take_with_cotangents(micro_batch);
  if (plan_->counts.received > 0) {
    ReplayedBlocks made = run(plan_->input_gradient, own.symbols);
    std::ptrdiff_t gradients = 0;
    const compile::TableView table = plan_->inference.view();
    for (std::size_t i = static_cast<std::size_t>(plan_->counts.given); i < table.inputs.size(); ++i)
      gradients += is_floating(table.inputs[i].dtype) ? 1 : 0;
    const auto first = made.begin() + gradients;
    std::move(first, made.end(), std::back_inserter(own.operands));
    made.erase(first, made.end());
    input_gradients.insert_or_assign(micro_batch, std::move(made));
  }
  for (std::size_t i = 0; i < own.operands.size(); ++i)
    if (!plan_->weights_read(i)) own.operands[i] = {};
  kept_.insert_or_assign(micro_batch, std::move(own));
}

TWILL_BODY void StageReplay::weight_gradient(int micro_batch) {
  const Kept own = std::move(kept_.extract(micro_batch).mapped());
  if (plan_->counts.weights > 0) add_gradients(run(plan_->weight_gradient, own.symbols));
}

TWILL_BODY void StageReplay::add_gradients(ReplayedBlocks made) {
  if (gradients_.empty()) {
    gradients_ = std::move(made);
    for (const ReplayedBlock& block : gradients_) block.memory->become(Bytes::gradients);
    return;
  }
  for (std::size_t i = rests_.size(); i < made.size(); ++i)
    rests_.push_back(
        size_of(made[i].dtype) < sizeof(float)
            ? ReplayedBlock{ledger_->allocate(Bytes::gradients, made[i].count * 4), made[i].count, DType::float32}
            : ReplayedBlock{});
}

TWILL_BODY ReplayedBlocks StageReplay::make_inputs(const graph::SymbolValues& symbols) const {
  const compile::TableView table = plan_->inference.view();
  ReplayedBlocks blocks{};
  for (std::size_t i = static_cast<std::size_t>(plan_->counts.given); i < table.inputs.size(); ++i)
    blocks.push_back(make(Bytes::communication, table.inputs[i].dtype, table.inputs[i].shape, symbols));
  return blocks;
}

TWILL_BODY ReplayedBlocks StageReplay::make_cotangents(const graph::SymbolValues& symbols) const {
  ReplayedBlocks blocks{};
  for (const int id : plan_->inference.graph().outputs) {
    const graph::Node& node = plan_->inference.graph().node(id);
    if (is_floating(node.dtype)) blocks.push_back(make(Bytes::communication, node.dtype, node.shape, symbols));
  }
  return blocks;
}

TWILL_BODY ReplayedBlock StageReplay::make_cotangent_of(const ReplayedBlock& result) const {
  const std::int64_t bytes = result.count * static_cast<std::int64_t>(size_of(result.dtype));
  return {ledger_->allocate(Bytes::activations, bytes), result.count, result.dtype};
}

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA
