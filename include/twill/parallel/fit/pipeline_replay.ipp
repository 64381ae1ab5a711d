#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/fit/pipeline_replay.hpp.

#include <twill/parallel/data/chunk.hpp>
#include <twill/parallel/data/shards.hpp>
#include <twill/parallel/fit/counting_communicator.hpp>
#include <twill/parallel/fit/held.hpp>
#include <twill/parallel/fit/layer_traffic.hpp>
#include <twill/parallel/fit/pipeline_replay.hpp>
#include <twill/parallel/fit/stage_replay.hpp>
#include <twill/parallel/group/turns.hpp>
#include <twill/parallel/pipeline/model/ties.hpp>
#include <twill/parallel/pipeline/run/run.hpp>
#include <twill/parallel/pipeline/run/runner.hpp>
#include <twill/parallel/pipeline/run/shard_runner.hpp>
#include <twill/parallel/pipeline/run/stage_optimisers.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace twill { inline namespace v0 { namespace parallel { namespace fit::detail { inline namespace TWILL_ISA {

/// The copies of the batch on a rank.
[[nodiscard]] inline std::vector<std::int64_t> copies_on(const PipelineSetting& setting, int rank) {
  const auto place = static_cast<std::size_t>(rank);
  return place < setting.batch_copies.size() ? setting.batch_copies[place] : std::vector<std::int64_t>{};
}

/// The weights of each stage.
[[nodiscard]] inline std::vector<ListView<graph::ParameterInfo>> infos_of(const PipelineSetting& setting) {
  std::vector<ListView<graph::ParameterInfo>> infos{};
  for (const StagePlan& stage : *setting.stages) infos.push_back(stage.inference.view().parameters);
  return infos;
}

/// The gradients of shared weights that a rank receives from later stages, one at a time, and those that it sends, as
/// `pipeline::RankTies` moves them.
inline void replay_ties(const PipelineSetting& setting, int rank, Ledger& ledger, CountingCommunicator& communicator) {
  const auto infos = infos_of(setting);
  for (const pipeline::TiedWeight& tied : pipeline::tied_weights(infos)) {
    const graph::ParameterInfo& info = infos[tied.owners[0].stage][tied.owners[0].index];
    const auto move = [&](std::size_t from, std::size_t to) {
      const int sender = setting.schedule->rank(static_cast<int>(tied.owners[from].stage));
      const int receiver = setting.schedule->rank(static_cast<int>(tied.owners[to].stage));
      if (rank == sender && sender != receiver)
        communicator.run(Call::send({nullptr, info.shape.elements().factor, info.dtype}, receiver));
      return rank == receiver;
    };
    for (std::size_t i = tied.owners.size() - 1; i > 0; --i)
      if (move(i, i - 1))
        static_cast<void>(ledger.allocate(Bytes::communication, compile::bytes_of(info.dtype, info.shape, {})));
    for (std::size_t i = 1; i < tied.owners.size(); ++i) static_cast<void>(move(0, i)); // the sum
  }
}

/// Replays the stages of one rank, like `pipeline::detail::ModelRunner` runs them.
class ReplayRunner {
  using Tree = pipeline::detail::ShardTree<ReplayedBlocks>;

public:
  ReplayRunner(const PipelineSetting& setting, int rank, Ledger& ledger)
      : setting_{&setting},
        rank_{rank},
        ledger_{&ledger},
        trees_(setting.stages->size(), Tree{setting.schedule->micro_batches}),
        meetings_(setting.stages->size()),
        shared_(setting.stages->size()),
        tied_(setting.stages->size()) {
    const auto infos = infos_of(setting);
    for (const pipeline::TiedWeight& weight : pipeline::tied_weights(infos))
      for (const auto& [stage, index] : weight.owners)
        shared_[stage].push_back(static_cast<std::size_t>(
            std::count_if(infos[stage].begin(), infos[stage].begin() + static_cast<std::ptrdiff_t>(index),
                          [](const graph::ParameterInfo& info) { return info.role == graph::Role::weight; })));
    for (std::size_t i = 0; i < setting.stages->size(); ++i) {
      stages_.emplace_back();
      if (!is_here(static_cast<int>(i))) continue;
      stages_.back().emplace((*setting.stages)[i], ledger);
      stages_.back()->keeps_orders = setting.keeps_orders;
      if (!setting.adds_along_tree) continue;
      copy_buffers(static_cast<int>(i)); // from before the step
      if (!compile::adds_over_ranks((*setting.stages)[i].forward.view())) continue;
      meetings_[i].emplace(setting.pieces.size());
      stages_.back()->meet = [&turns = *meetings_[i]] { turns.pause(); };
    }
  }

  void run_forward(int stage, int m) {
    run_when_all_are_there(stage, m, [&, stage](int own) {
      if (stage > 0 && is_here(stage - 1))
        at(stage).inputs.insert_or_assign(own, std::move(at(stage - 1).outputs.extract(own).mapped()));
      if (setting_->adds_along_tree && own > 0) copy_buffers(stage); // shard 0 writes the network's own
      at(stage).forward(
          own, symbols(stage, own), [&](int input) { return setting_->has_input(input, rank_, rows(own)); },
          recomputes(stage, own));
    });
  }
  void run_backward(int stage, int m) {
    run_when_all_are_there(stage, m, [&, stage](int own) {
      find_cotangents(stage, own);
      at(stage).backward(own);
      add_gradients(stage, own);
    });
  }
  void run_input_gradient(int stage, int m) {
    run_when_all_are_there(stage, m, [&, stage](int own) {
      find_cotangents(stage, own);
      at(stage).input_gradient(own);
    });
  }
  void run_weight_gradient(int stage, int m) {
    run_when_all_are_there(stage, m, [&, stage](int own) {
      at(stage).weight_gradient(own);
      add_gradients(stage, own);
    });
  }

  [[nodiscard]] pipeline::Message input(int stage, int m) {
    return message_of(at(stage).inputs.insert_or_assign(m, at(stage).make_inputs(symbols(stage, m))).first->second);
  }
  [[nodiscard]] pipeline::Message output(int stage, int m) { return message_of(at(stage).outputs.at(m)); }
  [[nodiscard]] pipeline::Message output_gradient(int stage, int m) {
    return message_of(
        at(stage).cotangents.insert_or_assign(m, at(stage).make_cotangents(symbols(stage, m))).first->second);
  }
  [[nodiscard]] pipeline::Message input_gradient(int stage, int m) {
    return message_of(at(stage).input_gradients.at(m));
  }
  void output_is_sent(int stage, int m) { at(stage).outputs.erase(m); }
  void input_gradient_is_sent(int stage, int m) { at(stage).input_gradients.erase(m); }

  /// Ends the step, after all gradients: orders of weights and copies of buffers are dropped, sums along the tree are
  /// the stages', with those of weights that stages share, which are exchanged shard by shard.
  void finish(CountingCommunicator& communicator) {
    std::vector<Tree> sums(stages_.size(), Tree{setting_->schedule->micro_batches});
    for (int shard = 0; setting_->adds_along_tree && shard < setting_->schedule->micro_batches; ++shard) {
      replay_ties(*setting_, rank_, *ledger_, communicator);
      for_each_here([&](std::size_t i) { push(sums[i], shard, std::exchange(tied_[i][shard], {})); });
    }
    for_each_here([&](std::size_t i) {
      stages_[i]->drop_orders();
      if (!setting_->adds_along_tree) return;
      ReplayedBlocks all = trees_[i].take();
      ReplayedBlocks tied = sums[i].take();
      for (std::size_t k = 0; k < tied.size(); ++k)
        if (tied[k].count > 0) all[k] = std::move(tied[k]);
      stages_[i]->leave_gradients(std::move(all));
    });
    buffers_.clear();
  }

  /// The bytes that it has sent to ranks that divide its layers.
  [[nodiscard]] std::int64_t layer_bytes() const {
    std::int64_t sum = 0;
    for (const auto& stage : stages_) sum += stage ? stage->layer_bytes() : 0;
    return sum;
  }
  /// The most that one operation takes of a GPU's pool.
  [[nodiscard]] std::int64_t operation_bytes() const {
    std::int64_t most = 0;
    for (const auto& stage : stages_) most = std::max(most, stage ? stage->operation_bytes() : 0);
    return most;
  }

private:
  [[nodiscard]] static pipeline::Message message_of(const ReplayedBlocks& blocks) {
    return pipeline::detail::message_of(blocks);
  }
  [[nodiscard]] StageReplay& at(int stage) { return *stages_[static_cast<std::size_t>(stage)]; }
  [[nodiscard]] bool is_here(int stage) const { return setting_->schedule->rank(stage) == rank_; }
  [[nodiscard]] std::int64_t rows(int m) const { return setting_->pieces[static_cast<std::size_t>(m)].count; }
  [[nodiscard]] graph::SymbolValues symbols(int stage, int m) const { return setting_->symbols(stage, rows(m)); }
  [[nodiscard]] bool recomputes(int stage, int m) const {
    const pipeline::Checkpointing mode = setting_->checkpointing(stage);
    const bool is_last = m + 1 == setting_->schedule->micro_batches;
    return mode == pipeline::Checkpointing::always || (mode == pipeline::Checkpointing::except_last && !is_last);
  }

  /// Replays a pass of one micro-batch, or of all when the last one comes if these meet: `run(micro_batch)`.
  template <class Run> void run_when_all_are_there(int stage, int m, const Run& run) {
    auto& meeting = meetings_[static_cast<std::size_t>(stage)];
    if (!meeting) return run(m);
    if (m + 1 < setting_->schedule->micro_batches) return;
    meeting->run_all([&](std::size_t place) { run(static_cast<int>(place)); });
  }

  /// Copies of the buffers that the stage writes, as `ShardBuffers` makes them.
  void copy_buffers(int stage) {
    const compile::TableView table = (*setting_->stages)[static_cast<std::size_t>(stage)].forward.view();
    for (const std::size_t i : parallel::detail::written_buffers(table))
      buffers_.push_back(ledger_->allocate(
          Bytes::gradients, compile::bytes_of(table.parameters[i].dtype, table.parameters[i].shape, {})));
  }

  /// Gradients of shards go into the tree, those of weights that stages share are kept.
  void add_gradients(int stage, int m) {
    if (!setting_->adds_along_tree) return;
    const auto number = static_cast<std::size_t>(stage);
    ReplayedBlocks all = at(stage).take_gradients();
    ReplayedBlocks kept(all.size());
    for (const std::size_t weight : shared_[number]) kept[weight] = std::exchange(all[weight], {});
    tied_[number].insert_or_assign(m, std::move(kept));
    push(trees_[number], m, std::move(all));
  }
  static void push(Tree& tree, int m, ReplayedBlocks gradients) {
    tree.push(m, std::move(gradients), [](const ReplayedBlocks&, const ReplayedBlocks&) {});
  }
  template <class F> void for_each_here(const F& f) const {
    for (std::size_t i = 0; i < stages_.size(); ++i)
      if (stages_[i]) f(i);
  }

  void find_cotangents(int stage, int m) {
    if (stage + 1 == setting_->schedule->stages) {
      const ReplayedBlocks results = std::move(at(stage).outputs.extract(m).mapped());
      { const Ledger::Entry loss = ledger_->allocate(Bytes::working, setting_->loss_bytes(rows(m))); }
      at(stage).cotangents.insert_or_assign(m, ReplayedBlocks{at(stage).make_cotangent_of(results[0])});
    } else if (is_here(stage + 1)) {
      at(stage).cotangents.insert_or_assign(m, std::move(at(stage + 1).input_gradients.extract(m).mapped()));
    }
  }

  const PipelineSetting* setting_;
  int rank_;
  Ledger* ledger_;
  std::vector<std::optional<StageReplay>> stages_{};             ///< none for those of other ranks
  std::vector<Tree> trees_;                                      ///< of each stage
  std::vector<std::optional<parallel::detail::Turns>> meetings_; ///< of the shards of stages that add over all
  std::vector<std::vector<std::size_t>> shared_;    ///< of each stage: gradients of weights that another one shares
  std::vector<std::map<int, ReplayedBlocks>> tied_; ///< of each stage and shard: those gradients
  std::vector<Ledger::Entry> buffers_{};            ///< copies for the shards
};
static_assert(pipeline::StageRunner<ReplayRunner>);

/// The part of a rank's step beside micro-batches: weights, states, memory in which replicas sum gradients, updates.
class HeldByRank {
public:
  HeldByRank(const PipelineSetting& setting, Ledger& ledger, int rank)
      : setting_{&setting}, ledger_{&ledger}, replicas_{setting.replica, std::max(setting.replicas, 1)} {
    for (std::size_t i = 0; i < setting.stages->size(); ++i)
      if (setting.schedule->rank(static_cast<int>(i)) == rank) add((*setting.stages)[i]);
  }

  /// The updates of the stages, after all gradients, one by one.
  void update(int rank) {
    for (std::size_t i = 0; i < setting_->stages->size(); ++i) {
      if (setting_->schedule->rank(static_cast<int>(i)) != rank) continue;
      const StagePlan& stage = (*setting_->stages)[i];
      {
        const PlannedProgram& program = setting_->zero_stage > 0 ? stage.update_of_parts : stage.update;
        const Ledger::Entry during = ledger_->allocate(Bytes::working, program.arena({}));
        layer_bytes_ += layer_traffic(program, {}, {}).sent_bytes;
      }
      if (setting_->zero_stage == 0) continue;
      std::int64_t most = 0;
      for (const Bucket& bucket : buckets_of(stage).buckets) {
        most = std::max(most, bucket.bytes());
        replicas_.run(Call::all_gather({nullptr, bucket.count / replicas_.size(), bucket.dtype},
                                       {nullptr, bucket.count, bucket.dtype}));
      }
      const Ledger::Entry fetched = ledger_->allocate(Bytes::communication, most);
    }
  }

  /// The bytes that this rank sends to replicas in a step.
  [[nodiscard]] std::int64_t summed_bytes() const { return replicas_.traffic().total().sent_bytes; }
  /// The bytes that its updates send to ranks that divide its layers.
  [[nodiscard]] std::int64_t layer_bytes() const { return layer_bytes_; }

private:
  [[nodiscard]] Buckets buckets_of(const StagePlan& stage) const {
    return pipeline::detail::weight_buckets(stage.inference.view().parameters, setting_->buckets, replicas_.size());
  }

  void add(const StagePlan& stage) {
    hold_weights(*ledger_, stage.inference.view());
    if (setting_->zero_stage == 0)
      hold_states(*ledger_, stage.update.view());
    else
      hold_parts_of_states(*ledger_, stage.update_of_parts.view(),
                           parts_of(buckets_of(stage), replicas_.rank(), replicas_.size()));
    if (setting_->replicas == 0) return;
    for (const Bucket& bucket : hold_travelling(stage, graph::Role::weight))
      replicas_.run(Call::all_reduce({nullptr, bucket.count, bucket.dtype}));
    if (setting_->broadcasts_buffers) static_cast<void>(hold_travelling(stage, graph::Role::buffer));
  }

  /// Holds memory of tensors that are sent as one; a single one is sent from where it is. Returns what is sent.
  [[nodiscard]] std::vector<Bucket> hold_travelling(const StagePlan& stage, graph::Role role) {
    const auto infos = stage.inference.view().parameters;
    parallel::detail::BucketFiller filler{setting_->buckets, 1};
    std::vector<Bucket> sent{};
    std::vector<int> tensors{}; // in each
    for (std::size_t k = infos.size(); k-- > 0;) {
      if (infos[k].role != role) continue;
      const std::int64_t count = infos[k].shape.elements().factor;
      const auto number = static_cast<std::size_t>(filler.add(infos[k].dtype, count).bucket);
      sent.resize(std::max(sent.size(), number + 1));
      tensors.resize(sent.size());
      sent[number].dtype = infos[k].dtype;
      sent[number].count += count;
      ++tensors[number];
    }
    for (std::size_t i = 0; i < sent.size(); ++i)
      if (tensors[i] > 1) ledger_->hold(Bytes::communication, sent[i].bytes());
    return sent;
  }

  const PipelineSetting* setting_;
  Ledger* ledger_;
  CountingCommunicator replicas_;
  std::int64_t layer_bytes_ = 0;
};

}}}}} // namespace twill::v0::parallel::fit::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

TWILL_BODY std::vector<RankReport> report_of_pipeline(const PipelineSetting& setting) {
  std::vector<RankReport> ranks{};
  for (int rank = 0; rank < setting.schedule->ranks; ++rank) {
    Ledger ledger{};
    detail::HeldByRank held{setting, ledger, rank};
    CountingCommunicator communicator{rank, setting.schedule->ranks};
    detail::ReplayRunner runner{setting, rank, ledger};
    std::vector<Ledger::Entry> batch{};
    for (const std::int64_t bytes : detail::copies_on(setting, rank))
      batch.push_back(ledger.allocate(Bytes::communication, bytes));
    static_cast<void>(pipeline::run(*setting.schedule, communicator, runner));
    runner.finish(communicator);
    batch.clear();
    if (!setting.adds_along_tree) detail::replay_ties(setting, rank, ledger, communicator);
    held.update(rank);
    RankReport& report = ranks.emplace_back(ledger.report());
    report.sent_to = communicator.sent_to();
    report.sent_bytes = communicator.traffic()[Operation::send].sent_bytes;
    report.layer_bytes = held.layer_bytes() + runner.layer_bytes();
    report.summed_bytes = held.summed_bytes();
    report.operation_bytes = runner.operation_bytes();
  }
  return ranks;
}

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA
