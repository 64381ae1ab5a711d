#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Training steps to the same bits on any number of ranks: each rank runs its shards of the batch one after another as
// one planned program, adds up their gradients along the tree of shards, and updates the weights like a
// `DistributedStep`, whose buckets, parts and states it shares. So gradient accumulation on one device, replicas,
// threads and processes, and ZeRO's stages agree in every bit of weights and states. What would depend on the number of
// ranks is refused by name. Not in twill.hpp. Read next: parallel/data/shard_sums.hpp.

#include <twill/compile/in_one_order.hpp>
#include <twill/compile/table_for.hpp>
#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/device/gpu/library_options.hpp>
#include <twill/nn/device_trace.hpp>
#include <twill/parallel/data/distributed.hpp>
#include <twill/parallel/data/distributed_update.hpp>
#include <twill/parallel/data/reproducible.hpp>
#include <twill/parallel/data/row_shares.hpp>
#include <twill/parallel/data/scatter.hpp>
#include <twill/parallel/data/shard_buffers.hpp>
#include <twill/parallel/data/shard_meeting.hpp>
#include <twill/parallel/data/shard_memory.hpp>
#include <twill/parallel/data/shard_sums.hpp>
#include <twill/parallel/data/weight_parts.hpp>
#include <twill/parallel/data/zero_stage.hpp>
#include <twill/parallel/group/rank_sums.hpp>
#include <twill/training/train_step.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// Refuses fewer shards than ranks. throws: ValueError
void require_shards(const Reproducible& policy, int ranks);

/// Refuses rows that are not those of this rank's shards. throws: ValueError naming both
void require_rows_of_shards(const Reproducible& policy, const Shares& shares, std::int64_t rows, int rank, int ranks);

/// Refuses programs with results of another type. throws: ValueError
void require_one_type(const compile::TableView& table, DType dtype);

/// Refuses updates of parts that sum over all of them. throws: ValueError
void require_elementwise(const compile::TableView& update);

/// The tensor itself if its first element begins a cache line, as in every allocation, else a copy that does: no kernel
/// meets another alignment on another rank.
template <AnyTensor X> [[nodiscard]] X on_cache_line(X x) {
  constexpr std::uintptr_t line = 64;
  return reinterpret_cast<std::uintptr_t>(x.data()) % line == 0 ? x : x.clone();
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Runs whole steps of one rank. `Model` is a `DistributedDataParallel`, or a replica that looks like one.
template <class Network, class Model, class L, optim::Rule R, int Stage>
class ReproducibleStep : public training::TrainingState<R, detail::DistributedUpdate<Network, Model, R, Stage>> {
  using D = typename Network::device_type;
  using T = typename Network::Element;
  using M = nn::traced_model_t<Network>;
  using Update = detail::DistributedUpdate<Network, Model, R, Stage>;
  using Base = training::TrainingState<R, Update>;
  using Base::steps_;
  using Weights = typename Update::Weights;
  static constexpr bool has_parts = Update::has_parts;
  static_assert(sizeof(T) >= sizeof(float),
                "twill: Reproducible: gradients of weights in half precision are rounded for each shard; keep the "
                "weights in float and compute in half");

  template <class... Targets> using Plain = training::LossGradient<M, T, L, R, Targets...>;
  template <class X> using share_t = decltype(scattered<0>(std::declval<const X&>(), Rows{}, std::declval<const D&>()));

public:
  /// The program of one shard for arguments of these types, for inspection.
  template <AnyTensor... Tensors>
  using source = compile::InOneOrder<training::source_for<Plain, M, share_t<Tensors>...>>;

  using Base::rule;

  /// Steps of a distributed network by a loss and a rule.
  /// throws: ValueError if there are fewer shards than ranks, for `Share::even`, for a rule that sums over elements
  /// with a stage of ZeRO, for layers divided over ranks, and on GPUs unless `LibraryOptions::is_deterministic` is set
  ReproducibleStep(Model& model, L, R given, const Reproducible& policy)
      : Base{std::move(given), model},
        model_{&model},
        policy_{policy},
        device_{model.module().device()},
        row_shares_{model},
        update_scalars_{Update::table().run_scalars},
        rule_numbers_{update_scalars_},
        loss_{device_, sizeof(T)},
        update_{this->states_} {
    model.telling_others([&] {
      detail::require_shards(policy, model.size());
      if (!model.module().state()->groups.all().empty())
        throw ValueError("Reproducible: layers divided over ranks add up in the order of those; train without a group "
                         "of ranks that share the model");
      if (model.options().share == Share::even)
        throw ValueError("Reproducible: gradients are weighted by rows; leave .share at parallel::Share::rows");
      if constexpr (!HostDevice<D> && D::has_memory)
        if (!library_options().is_deterministic)
          throw ValueError("Reproducible: libraries for GPUs may choose other algorithms in each run; call "
                           "set_library_options({.is_deterministic = true}) before the first step");
      if constexpr (Stage > 0) detail::require_elementwise(Update::table());
    });
  }

  /// The rows of a batch that this rank brings to its step.
  [[nodiscard]] Rows rows_of(std::int64_t rows) const { return policy_.rows_of(rows, model_->rank(), model_->size()); }

  /// One step of this rank's rows, `rows_of(batch)`. Arguments: the model's inputs, then the loss's targets; the first
  /// axis of each counts rows. Returns the loss of all ranks.
  /// throws: ShapeError, DeviceError, OutOfMemoryError, here and on all ranks; ValueError if the rows are not those of
  /// the rank's shards, or if the model's numbers depend on the number of ranks; CommunicatorError naming another rank
  template <AnyTensor First, AnyTensor... Rest>
  training::StepLoss<T, D> operator()(const First& first, const Rest&... rest) {
    static_assert(First::rank > 0, "twill: train_step: the first input has no axis of rows");
    model_->telling_others([&] {
      nn::check_inputs<nn::CallOf<"train_step", M>, T, D, L, share_t<First>, share_t<Rest>...>();
      compile::require_device(training::call_of_step<M>("train_step"), device_, first, rest...);
      if constexpr (nn::arguments_fit<M, T, D, L, share_t<First>, share_t<Rest>...>) // else refused
        step(first, rest...);
    });
    return {loss_, steps_, steps_};
  }

  /// Makes the weights of the network whole, see `DistributedStep`. All ranks call this together.
  /// throws: CommunicatorError
  void gather_weights() {
    if constexpr (has_parts)
      if (update_.has_weights()) model_->telling_others([&] { update_.weights().gather(); });
  }

  /// The memory of steps on tensors of these types and shapes on this rank's device, before anything runs.
  template <AnyTensor... Tensors> [[nodiscard]] compile::MemoryUse memory(const Tensors&... tensors) const {
    const compile::TableView table = compile::TableFor<source<Tensors...>, D>::view();
    const std::int64_t rows = std::max<std::int64_t>(common_rows(tensors...).value_or(1), 1);
    const auto symbols_of = [&](std::int64_t count) {
      std::array shapes{tensors.shape()...};
      for (Dims& shape : shapes) shape[0] = count;
      return compile::resolve_symbols(table, shapes);
    };
    compile::MemoryUse use = compile::memory_use(table, symbols_of(rows));
    use.arena = use.working = 0;
    update_.add_memory(use, table);
    const std::array row_bytes{static_cast<std::int64_t>(sizeof(typename Tensors::value_type)) * tensors.elements() /
                               rows...};
    const Buckets layout = fill_buckets(table, model_->options().buckets, Stage == 0 ? 0 : model_->size());
    const detail::ShardMemory shards =
        detail::shard_memory(table, symbols_of(rows), layout,
                             {.policy = policy_,
                              .rank = model_->rank(),
                              .ranks = model_->size(),
                              .all_rows = detail::rows_of_all(policy_, rows, model_->rank(), model_->size()),
                              .row_bytes = row_bytes,
                              .element_bytes = sizeof(T)});
    for (const std::vector<std::int64_t>& counts : shards.arenas) {
      std::int64_t most = 0;
      for (const std::int64_t count : counts) {
        const compile::MemoryUse of_shard = compile::memory_use(table, symbols_of(count));
        most = std::max(most, of_shard.arena);
        use.working = std::max(use.working, of_shard.working);
      }
      use.arena += most;
    }
    for (const std::int64_t bytes : shards.during) use.arena += compile::pool_bytes(bytes);
    for (const std::int64_t bytes : shards.kept) use.kept += compile::pool_bytes(bytes);
    use.kept += compile::pool_bytes(sizeof(T)) + compile::pool_bytes(static_cast<std::int64_t>(row_shares_.bytes()));
    if constexpr (requires { model_->staged_bytes(); })
      use.kept += compile::pool_bytes(static_cast<std::int64_t>(model_->staged_bytes()));
    return use;
  }

private:
  struct Program : training::StepProgram<M, D> {
    using training::StepProgram<M, D>::StepProgram;
    std::optional<GatherPlan> gathers{};
  };

  /// The shards of the rank that has most.
  [[nodiscard]] int most_shards() const { return 1 + (policy_.shards - 1) / model_->size(); }

  template <AnyTensor... Tensors> void step(const Tensors&... tensors) {
    using Source = source<Tensors...>;
    const compile::TableView table = compile::TableFor<Source, D>::view();
    const std::int64_t rows = common_rows(tensors...).value_or(0);
    const Shares shares = row_shares_.exchange(rows, 0);
    detail::require_rows_of_shards(policy_, shares, rows, model_->rank(), model_->size());
    const bool meets = compile::adds_over_ranks(table);
    if (!sums_) make(table, meets);
    if constexpr (has_parts) update_.weights().cut();
    if (meets)
      run_together<Source>(shares, tensors...);
    else
      run_in_turn<Source>(shares, tensors...);
    sums_->reduce(update_.gradients(), Stage > 0);
    update();
    if (!buffers_->empty()) model_->synchronise_buffers();
  }

  /// Allocates what depends on the program.
  void make(const compile::TableView& table, bool meets) {
    detail::require_one_type(table, dtype_of<T>);
    if (meets && has_parts)
      throw ValueError(
          "Reproducible: zero<3> fetches weights during a run, and a model that sums over ranks inside its "
          "run, as nn::batch_norm with .is_synchronised does, runs its shards at once; use zero<2>");
    if constexpr (HostDevice<D>)
      if (meets && cpu::current_worker != nullptr)
        throw ValueError("Reproducible: a model that sums over ranks inside its run, as nn::batch_norm with "
                         ".is_synchronised does, is not for DataParallel or tasks of a device; use ranks with "
                         "DistributedDataParallel");
    update_.make(table);
    buffers_.emplace(table);
    if (meets) meeting_.emplace(*model_, device_, policy_);
    sums_.emplace(*model_, device_, update_.gradients().layout(), policy_, meets);
  }

  [[nodiscard]] ShardRange own_shards() const { return policy_.shards_of(model_->rank(), model_->size()); }

  /// Runs the shards of the rank one after another.
  template <compile::Source S, AnyTensor... Tensors> void run_in_turn(const Shares& shares, const Tensors&... tensors) {
    Program& program = programs_.template next<S>(std::span<const D>{&device_, 1}, model_->module().run_scalars(),
                                                  compile::Capture::automatic);
    if (!buffers_->empty()) buffers_->begin(*model_->module().state(), 1);
    const ShardRange own = own_shards();
    for (int shard = own.begin; shard < own.begin + most_shards(); ++shard) {
      if (shard < own.end) {
        const std::size_t place = sums_->take_place();
        if constexpr (has_parts) {
          FetchWeights<Weights> fetch{update_.weights(), begin_fetching(program)};
          run(program, shares, shard, 0, place, &fetch, tensors...);
          update_.weights().end();
        } else {
          run(program, shares, shard, 0, place, nullptr, tensors...);
        }
        sums_->push(shard, place);
      } else if constexpr (has_parts) {
        fetch_nothing(program);
      }
    }
  }

  /// Runs the shards of the rank together, from one sum over all shards to the next.
  template <compile::Source S, AnyTensor... Tensors>
  void run_together(const Shares& shares, const Tensors&... tensors) {
    using Table = compile::TableFor<S, D>;
    using Turn = typename ShardMeeting<Model, D>::Turn;
    const ShardRange own = own_shards();
    const auto count = static_cast<std::size_t>(own.count());
    static constexpr auto view = &Table::view;
    if (together_of_ != view) together_.clear();
    together_of_ = view;
    while (together_.size() < count)
      together_.push_back(std::make_unique<Program>(std::span<const D>{&device_, 1}, Table::view(),
                                                    Table::template kernels<team_t<D>>(),
                                                    model_->module().run_scalars()));
    buffers_->begin(*model_->module().state(), count);
    std::vector<std::size_t> places{};
    for (std::size_t i = 0; i < count; ++i) places.push_back(sums_->take_place());
    meeting_->run_all([&](std::size_t place, Turn& turn) {
      Program& program = *together_[place];
      program.prepare(model_->module().run_scalars(), compile::Capture::never);
      AddUpRankSums callback{program.executor.table(), [&](const Call& call) { turn.sum(call.target); }};
      run(program, shares, own.begin + static_cast<int>(place), place, places[place], &callback, tensors...);
    });
    for (std::size_t i = 0; i < count; ++i) sums_->push(own.begin + static_cast<int>(i), places[i]);
  }

  /// The loss and the gradients of one shard, weighted by its rows. `copy` is that of the buffers that it writes.
  template <AnyTensor... Tensors>
  void run(Program& program, const Shares& shares, int shard, std::size_t copy, std::size_t place,
           compile::HostCallback* callback, const Tensors&... tensors) {
    Rows rows = policy_.rows_of_shard(shares.all_rows, shard);
    program.run_scalars.set(training::loss_weight_scalar,
                            static_cast<double>(rows.count) / static_cast<double>(shares.all_rows));
    if (program.draws) program.set_draw(shares.draw);
    const std::vector<void*> outputs = sums_->addresses(place);
    const std::vector<void*> parameters =
        buffers_->parameters(*model_->module().state(), update_.parameters(), shard, copy);
    const std::int64_t first_row = std::exchange(rows.begin, rows.begin - shares.first_row);
    program.run(model_->module().layer_hooks().get(),
                {.parameters = parameters, .outputs = outputs, .first_row = first_row, .callback = callback},
                detail::on_cache_line(scattered<0>(tensors, rows, device_))...);
  }

  const GatherPlan& begin_fetching(Program& program) {
    if (!program.gathers) program.gathers = plan_gathers(program.executor.table(), update_.gradients().layout());
    update_.weights().begin(*program.gathers);
    return *program.gathers;
  }

  /// Sends this rank's parts of the weights to ranks that have one shard more.
  void fetch_nothing(Program& program) {
    FetchWeights<Weights> fetch{update_.weights(), begin_fetching(program)};
    for (const int place : fetch.places()) fetch.act(place, {});
    update_.weights().end();
  }

  void update() {
    rule_numbers_.write(rule, steps_ + 1, update_scalars_);
    update_.run(update_scalars_.bits());
    copy_bytes(device_, loss_.data(), device_, update_.gradients().addresses()[0], sizeof(T), CopyOptions{});
    model_->module().state()->note_update();
    ++steps_;
  }

  Model* model_;
  Reproducible policy_;
  D device_;
  RowShares<Model> row_shares_;
  compile::RunScalars update_scalars_;
  training::RuleNumbers<R> rule_numbers_;
  memory::Buffer<D> loss_;
  training::StepPrograms<Program> programs_{};
  Update& update_;
  std::vector<std::unique_ptr<Program>> together_{}; ///< of shards that meet in their runs, for each its arena
  compile::TableView (*together_of_)() = nullptr;    ///< the source of these programs
  std::optional<ShardMeeting<Model, D>> meeting_{};
  std::optional<ShardBuffers<D>> buffers_{};
  std::optional<ShardSums<Model, T, D>> sums_{}; ///< from the first step on
};

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// A step of one rank to bits that do not depend on the number of ranks; each brings `step.rows_of(batch)`.
template <class Network, parallel::Communicator C, class L, optim::Rule R>
[[nodiscard]] auto train_step(DistributedDataParallel<Network, C>& model, L loss, R rule,
                              parallel::Reproducible policy) {
  return parallel::ReproducibleStep<Network, DistributedDataParallel<Network, C>, L, R, 0>{model, loss, std::move(rule),
                                                                                           policy};
}

/// Such a step with a stage of ZeRO, `parallel::zero<1>`, `zero<2>` or `zero<3>`.
template <class Network, parallel::Communicator C, class L, optim::Rule R, int Stage>
[[nodiscard]] auto train_step(DistributedDataParallel<Network, C>& model, L loss, R rule, parallel::Zero<Stage>,
                              parallel::Reproducible policy) {
  return parallel::ReproducibleStep<Network, DistributedDataParallel<Network, C>, L, R, Stage>{model, loss,
                                                                                               std::move(rule), policy};
}

}}} // namespace twill::v0::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/data/reproducible_step.ipp>
#endif
