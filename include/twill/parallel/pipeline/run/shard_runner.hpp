#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stage runner of reproducible pipeline steps: a micro-batch is a shard of the batch, and a stage's gradients of each
// micro-batch are taken from its network and added along the tree of shards, in whatever order a schedule computes
// them. Those of a weight that stages share are kept, and added shard by shard before. Where a stage sums over the
// batch inside its run, its shards run together. Not in twill.hpp. Read next:
// parallel/pipeline/run/reproducible_step.hpp.

#include <twill/compile/table_for.hpp>
#include <twill/core/config.hpp>
#include <twill/parallel/data/reproducible.hpp>
#include <twill/parallel/data/shard_buffers.hpp>
#include <twill/parallel/data/shard_meeting.hpp>
#include <twill/parallel/pipeline/model/ties.hpp>
#include <twill/parallel/pipeline/run/runner.hpp>
#include <twill/parallel/pipeline/run/shard_loss.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// The tensor with each row on a cache line of its own, or right after the row before: shards, which are copied unless
/// they are in one piece, begin on a cache line as in every allocation, so no kernel meets another alignment.
template <class T, ComputeDevice D, class S> [[nodiscard]] Tensor<T, D, S> with_rows_apart(const Tensor<T, D, S>& x) {
  if constexpr (!HostDevice<D>) {
    return x;
  } else {
    if (x.elements() == 0) return x;
    constexpr auto line = static_cast<std::int64_t>(64 / sizeof(T));
    const Dims shape = x.shape();
    Dims strides = contiguous_strides(shape);
    strides[0] = (strides[0] + line - 1) / line * line;
    memory::Buffer<D> buffer(x.device(), static_cast<std::size_t>(shape[0] * strides[0]) * sizeof(T));
    auto* const first = static_cast<T*>(buffer.data());
    const Tensor<T, D, S> apart(std::move(buffer), first, shape, strides);
    apart.copy_from(x);
    return apart;
  }
}

/// The communicator of a stage's shards, which are all on one rank.
struct LoneRank {
  [[nodiscard]] static int rank() { return 0; }
  [[nodiscard]] static int size() { return 1; }
  static void run(const parallel::Call&) {}
};

/// One shard among those of its stage, as a replica that its programs sum over.
template <ComputeDevice D> class ShardAsReplica final : public kernel::RankGroup {
public:
  using Turn = typename parallel::ShardMeeting<LoneRank, D>::Turn;

  explicit ShardAsReplica(int shard) : RankGroup{replicas_axis}, shard_{shard} {}

  [[nodiscard]] int rank() const override { return shard_; }
  void run(const kernel::GroupCall& call) override { turn->sum({call.target, call.target_count, call.dtype}); }

  Turn* turn = nullptr; ///< of the pass that runs now

private:
  int shard_;
};

/// The gradients of a stage's weights; those that are not there have no memory.
template <HostDevice D> using StageGradients = std::vector<memory::Buffer<D>>;

/// Adds gradients of a network to others.
template <HostDevice D>
void add_gradients(nn::NetworkState<D>& state, const StageGradients<D>& left, const StageGradients<D>& right) {
  for (std::size_t i = 0; i < left.size(); ++i)
    if (left[i])
      state.add(state.device, state.infos[i].dtype, state.infos[i].shape.elements().factor, left[i].data(),
                right[i].data());
  synchronize(state.device);
}

/// The shards of one stage: its buffers, its gradients, and, where shards meet inside a run, their meeting.
template <HostDevice D> struct ShardsOfStage {
  using Gradients = StageGradients<D>;
  using Meeting = parallel::ShardMeeting<LoneRank, D>;

  ShardsOfStage(const D& device, const compile::TableView& forward, int shards)
      : gradients{shards}, tied(static_cast<std::size_t>(shards)), buffers{forward} {
    if (!compile::adds_over_ranks(forward)) return;
    meeting.emplace(alone, device, Reproducible{.shards = shards});
    for (int shard = 0; shard < shards; ++shard) replicas.push_back(std::make_shared<ShardAsReplica<D>>(shard));
  }

  ShardTree<Gradients> gradients;
  std::vector<Gradients> tied; ///< of each shard, those of weights that another stage shares
  parallel::ShardBuffers<D> buffers;
  LoneRank alone{};
  std::optional<Meeting> meeting{};
  std::vector<std::shared_ptr<ShardAsReplica<D>>> replicas{};
};

/// Runs the stages of one rank like a `ModelRunner`, whose micro-batches are all shards of the batch.
template <class P, class Losses, class X, class Y>
class ShardRunner : public ModelRunner<P, Losses, X, Y, AsOneNetwork> {
  using D = typename P::device_type;
  using Base = ModelRunner<P, Losses, X, Y, AsOneNetwork>;
  using Shards = ShardsOfStage<D>;
  using Gradients = StageGradients<D>;

public:
  /// requires: all outlive the runner
  ShardRunner(P& pipeline, const Schedule& schedule, Losses& losses, const std::vector<TiedWeight>& tied,
              const std::vector<parallel::Rows>& shards, const X& x, const Y& targets, int rank,
              const StageCheckpointing& checkpointing)
      : Base{pipeline, schedule, losses, shards, x, targets, rank, checkpointing},
        states_{pipeline.template states<D>()},
        shards_{shards},
        losses_{losses},
        tied_{tied} {
    P::for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      stages_.push_back(nullptr);
      if (!pipeline.template has<I>()) return;
      auto& stage = pipeline.template at<I>();
      using Forward = AsOneNetwork<StageForward<typename std::remove_reference_t<decltype(stage)>::Source>>;
      stages_.back() = std::make_unique<Shards>(stage.network.device(), compile::TableFor<Forward, D>::view(),
                                                schedule.micro_batches);
      stages_.back()->buffers.begin(*stage.network.state(), shards.size());
    });
  }

  void run_forward(int stage, int shard) {
    run_when_all_are_there(stage, shard, [&, stage](int own) {
      prepare(stage, own);
      Base::run_forward(stage, own);
    });
  }
  void run_backward(int stage, int shard) {
    run_when_all_are_there(stage, shard, [&, stage](int own) {
      losses_.name(own);
      Base::run_backward(stage, own);
      take_gradients(stage, own);
    });
  }
  void run_input_gradient(int stage, int shard) {
    run_when_all_are_there(stage, shard, [&, stage](int own) {
      losses_.name(own);
      Base::run_input_gradient(stage, own);
    });
  }
  void run_weight_gradient(int stage, int shard) {
    run_when_all_are_there(stage, shard, [&, stage](int own) {
      Base::run_weight_gradient(stage, own);
      take_gradients(stage, own);
    });
  }

  /// Gives the stages that are here the sums of their gradients, when all are computed. All ranks call it.
  template <parallel::Communicator C> void leave_gradients(C& communicator, const Schedule& schedule) {
    std::vector<ShardTree<Gradients>> sums(stages_.size(), ShardTree<Gradients>{schedule.micro_batches});
    const auto for_each_here = [&](const auto& f) {
      for (std::size_t stage = 0; stage < stages_.size(); ++stage)
        if (stages_[stage]) f(stage, *states_[stage]);
    };
    for (int shard = 0; shard < schedule.micro_batches && !tied_.empty(); ++shard) {
      for_each_here([&](std::size_t stage, nn::NetworkState<D>& state) {
        state.gradients = std::move(stages_[stage]->tied[static_cast<std::size_t>(shard)]);
      });
      RankTies<C, D>{communicator, schedule, states_}.add(tied_);
      for_each_here([&](std::size_t stage, nn::NetworkState<D>& state) {
        sums[stage].push(shard, std::exchange(state.gradients, Gradients(state.gradients.size())),
                         [&](const auto& left, const auto& right) { add_gradients(state, left, right); });
      });
    }
    for_each_here([&](std::size_t stage, nn::NetworkState<D>& state) {
      state.gradients = stages_[stage]->gradients.take();
      if (tied_.empty()) return;
      Gradients own = sums[stage].take();
      for (std::size_t i = 0; i < own.size(); ++i)
        if (own[i]) state.gradients[i] = std::move(own[i]);
    });
  }

private:
  [[nodiscard]] Shards& shards_of(int stage) { return *stages_[static_cast<std::size_t>(stage)]; }

  /// Runs a pass of one shard, or of all when the last one comes if these meet: `run(shard)`.
  template <class Run> void run_when_all_are_there(int stage, int shard, const Run& run) {
    Shards& own = shards_of(stage);
    if (!own.meeting) return run(shard);
    if (static_cast<std::size_t>(shard) + 1 < shards_.size()) return;
    own.meeting->run_all([&](std::size_t place, typename Shards::Meeting::Turn& turn) {
      own.replicas[place]->turn = &turn;
      run(static_cast<int>(place));
    });
  }

  /// Gives a forward pass its buffers and its place among the shards.
  void prepare(int stage, int shard) {
    Shards& shards = shards_of(stage);
    const auto place = static_cast<std::size_t>(shard);
    this->visit(stage, [&](auto, auto& own) {
      const auto& state = *own.network.state();
      if (!shards.buffers.empty())
        own.parameters_of_next = shards.buffers.parameters(state, state.addresses(), shard, place);
      if (shards.meeting) own.context.groups.add(shards.replicas[place]);
    });
  }

  void take_gradients(int stage, int shard) {
    nn::NetworkState<D>& state = *states_[static_cast<std::size_t>(stage)];
    Gradients all = std::exchange(state.gradients, Gradients(state.gradients.size()));
    Gradients& kept = shards_of(stage).tied[static_cast<std::size_t>(shard)];
    kept.resize(all.size());
    for (const TiedWeight& weight : tied_)
      for (const TiedWeight::Owner& owner : weight.owners)
        if (owner.stage == static_cast<std::size_t>(stage)) kept[owner.index] = std::move(all[owner.index]);
    shards_of(stage).gradients.push(shard, std::move(all),
                                    [&](const auto& left, const auto& right) { add_gradients(state, left, right); });
  }

  StageStates<D> states_;
  const std::vector<parallel::Rows>& shards_;
  Losses& losses_;
  const std::vector<TiedWeight>& tied_;
  std::vector<std::unique_ptr<Shards>> stages_{}; ///< those that are here
};

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA
