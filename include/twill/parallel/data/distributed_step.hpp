#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Distributed training steps of one rank of a `DistributedDataParallel`: forward, loss and backward as one planned
// program that writes gradients into buckets, reductions that overlap with it, and an update that waits for each bucket
// only when it reads it. The ranks first exchange their numbers of rows: losses and gradients are those of the mean
// over all rows, for uneven shards and ranks without rows too, and dropout draws equal one device's. Read next:
// parallel/data/distributed_update.hpp.

#include <twill/compile/table_for.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/device_trace.hpp>
#include <twill/parallel/data/batch_sums.hpp>
#include <twill/parallel/data/bucket_memory.hpp>
#include <twill/parallel/data/distributed.hpp>
#include <twill/parallel/data/distributed_sources.hpp>
#include <twill/parallel/data/distributed_update.hpp>
#include <twill/parallel/data/row_shares.hpp>
#include <twill/parallel/data/weight_parts.hpp>
#include <twill/parallel/data/zero_stage.hpp>
#include <twill/parallel/group/rank_sums.hpp>
#include <twill/training/train_step.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Runs whole steps of one rank. All ranks make the same steps.
template <class Network, Communicator C, class L, optim::Rule R, class Z = Zero<0>>
class DistributedStep : public training::TrainingState<
                            R, detail::DistributedUpdate<Network, DistributedDataParallel<Network, C>, R, Z::stage>> {
  using D = typename Network::device_type;
  using T = typename Network::Element;
  using M = nn::traced_model_t<Network>;
  using Model = DistributedDataParallel<Network, C>;
  using Update = detail::DistributedUpdate<Network, Model, R, Z::stage>;
  using Base = training::TrainingState<R, Update>;
  using Base::steps_;
  using Memory = typename Update::Memory;
  using Weights = typename Update::Weights;
  static constexpr bool has_parts = Update::has_parts;
  static constexpr bool adds_up = Z::stage < 2; ///< batches, before the exchange

  template <class... Targets> using Plain = training::LossGradient<M, T, L, R, Targets...>;
  template <class... Targets> using Adding = AddToSums<M, T, L, R, Targets...>;
  template <class... Targets> using Finishing = FinishSums<M, T, L, R, Targets...>;

public:
  /// The program of a step on tensors of these types, for inspection.
  template <AnyTensor... Tensors> using source = training::source_for<Plain, M, Tensors...>;

  using Base::rule;

  /// During its life steps are summed on this rank without exchange, except for the model's own sums over ranks; the
  /// next step after it is that of all their rows.
  class NoSync {
  public:
    /// Suspends a step's exchange until it is destroyed.
    explicit NoSync(DistributedStep& step) : step_{&step}, before_{std::exchange(step.is_silent_, true)} {}
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;
    ~NoSync() { step_->is_silent_ = before_; }

  private:
    DistributedStep* step_;
    bool before_;
  };

  /// Steps of a distributed network by a loss and a rule.
  DistributedStep(Model& model, L, R given)
      : Base{std::move(given), model},
        model_{&model},
        device_{model.module().device()},
        row_shares_{model},
        update_scalars_{Update::table().run_scalars},
        rule_numbers_{update_scalars_},
        loss_{device_, sizeof(T)},
        update_{this->states_} {}

  /// One step of this rank's rows. Arguments: the model's inputs, then the loss's targets; the first axis of the first
  /// counts rows. Returns the loss of all ranks, during `no_sync` that of these rows.
  /// throws: ShapeError, DeviceError, OutOfMemoryError, here and on all ranks; ValueError if no rank has rows;
  /// CommunicatorError naming another rank
  template <AnyTensor First, AnyTensor... Rest>
  training::StepLoss<T, D> operator()(const First& first, const Rest&... rest) {
    static_assert(First::rank > 0, "twill: train_step: the first input has no axis of rows");
    model_->telling_others([&] {
      nn::check_inputs<nn::CallOf<"train_step", M>, T, D, L, First, Rest...>();
      compile::require_device(called(), device_, first, rest...);
      if constexpr (nn::arguments_fit<M, T, D, L, First, Rest...>) { // else refused
        if constexpr (adds_up)
          if (is_silent_) return add(first, rest...);
        step(first, rest...);
      }
    });
    ++runs_;
    return {loss_, runs_, runs_};
  }

  /// Makes the weights of the network whole, to read them, to run the network or to save them, until the next step
  /// divides them again. All ranks call this together. Nothing if weights stay whole. throws: CommunicatorError
  void gather_weights() {
    if constexpr (has_parts)
      if (update_.has_weights()) model_->telling_others([&] { update_.weights().gather(); });
  }

  /// During the result's life, gradients are summed on each rank and not exchanged.
  [[nodiscard]] NoSync no_sync() {
    static_assert(adds_up, "twill: no_sync: sums of gradients are whole on every rank; share out stage 1 at most");
    return NoSync{*this};
  }

  /// The buckets. throws: ValueError before the first exchanged step, which makes them
  [[nodiscard]] const Buckets& buckets() const {
    if (!update_.is_made()) throw ValueError("buckets: there was no step yet that could have made them");
    return update_.gradients().layout();
  }

  /// The memory of steps on tensors of these types and shapes on this rank's device, before anything runs.
  template <AnyTensor... Tensors> [[nodiscard]] compile::MemoryUse memory(const Tensors&... tensors) const {
    const compile::TableView table = compile::TableFor<source<Tensors...>, D>::view();
    const std::array<Dims, sizeof...(Tensors)> shapes{tensors.shape()...};
    compile::MemoryUse use = compile::memory_use(table, compile::resolve_symbols(table, shapes));
    update_.add_memory(use, table);
    use.kept += compile::pool_bytes(sizeof(T)) + compile::pool_bytes(static_cast<std::int64_t>(row_shares_.bytes())) +
                compile::pool_bytes(static_cast<std::int64_t>(model_->staged_bytes()));
    return use;
  }

private:
  struct Program : training::StepProgram<M, D> {
    using training::StepProgram<M, D>::StepProgram;
    std::optional<GatherPlan> gathers{};
  };

  template <AnyTensor... Tensors> void step(const Tensors&... tensors) {
    const std::int64_t rows = first_extent(tensors...);
    const Shares shares = row_shares_.exchange(sums_.rows() + rows, sums_.batches());
    if (shares.all_rows == 0) training::require_rows(called(), std::array{tensors.shape()...}); // on every rank
    if (model_->options().broadcasts_buffers) model_->synchronise_buffers();
    update_.make(compile::TableFor<source<Tensors...>, D>::view());
    if constexpr (has_parts) update_.weights().cut();
    if (adds_up && shares.finishes) {
      if constexpr (adds_up) finish<Tensors...>(shares, rows, tensors...);
    } else if (rows > 0 || !RankSums{compile::TableFor<source<Tensors...>, D>::view()}.empty()) {
      reduce<source<Tensors...>>(shares, share_of(rows, shares.all_rows), rows > 0, tensors...);
    } else {
      reduce_nothing<source<Tensors...>>();
    }
    update();
    sums_.reset();
  }

  /// A step after batches that were summed, here or on another rank.
  template <AnyTensor... Tensors> void finish(const Shares& shares, std::int64_t rows, const Tensors&... tensors) {
    if (sums_.empty()) sums_.begin(rows);
    const bool is_even = model_->options().share == Share::even;
    sums_.finish(is_even ? (sums_.rows() + rows) * model_->size() : shares.all_rows);
    using Source = training::source_for<Finishing, M, Tensors...>;
    if (rows == 0 && RankSums{compile::TableFor<Source, D>::view()}.empty()) return reduce_sums();
    reduce<Source>(shares, sums_.weight_of(rows), true, tensors...);
  }

  static constexpr compile::CallName called() { return training::call_of_step<M>("train_step"); }

  template <class... Tensors> static std::int64_t first_extent(const Tensors&... tensors) {
    return std::get<0>(std::tie(tensors...)).shape()[0];
  }

  /// The share of a number of rows among all.
  [[nodiscard]] double share_of(std::int64_t rows, std::int64_t all) const {
    if (model_->options().share == Share::even) return 1.0 / model_->size();
    return all > 0 ? static_cast<double>(rows) / static_cast<double>(all) : 0;
  }

  /// The program of a source, prepared for the next run.
  template <compile::Source S> Program& next() {
    return programs_.template next<S>(std::span<const D>{&device_, 1}, model_->module().run_scalars(),
                                      compile::Capture::automatic);
  }

  /// Runs a backward pass into the buckets and reduces each when it is complete.
  template <compile::Source S, AnyTensor... Tensors>
  void reduce(const Shares& shares, double weight, bool counts, const Tensors&... tensors) {
    Program& program = next<S>();
    StartBuckets<Memory> callback{update_.gradients(), program.executor.table(), counts};
    if constexpr (has_parts) {
      FetchWeights<Weights> fetch{update_.weights(), begin_fetching(program)};
      compile::BothHostCallbacks both{fetch, callback};
      run(program, shares.draw, shares.first_row, weight, update_.gradients().addresses(), &both, tensors...);
      update_.weights().end();
    } else {
      run(program, shares.draw, shares.first_row, weight, update_.gradients().addresses(), &callback, tensors...);
    }
  }

  const GatherPlan& begin_fetching(Program& program) {
    if (!program.gathers) program.gathers = plan_gathers(program.executor.table(), update_.gradients().layout());
    update_.weights().begin(*program.gathers);
    return *program.gathers;
  }

  /// The step of a rank without rows: it adds nothing. Of divided weights it sends its own part.
  template <compile::Source S> void reduce_nothing() {
    if constexpr (has_parts) {
      Program& program = next<S>();
      StartBuckets<Memory> callback{update_.gradients(), program.executor.table(), false};
      FetchWeights<Weights> fetch{update_.weights(), begin_fetching(program)};
      compile::BothHostCallbacks both{fetch, callback};
      for (const int place : both.places()) both.act(place, {});
      update_.weights().end();
    } else {
      update_.gradients().start_empty();
    }
  }

  /// The step of a rank without rows but with earlier sums, if there are any.
  void reduce_sums() {
    Memory& gradients = update_.gradients();
    for (std::size_t bucket = 0; bucket < gradients.size(); ++bucket) {
      gradients.clear(bucket);
      sums_.put_into(gradients, bucket);
      gradients.start(bucket);
    }
  }

  /// Adds a batch to this rank's sums.
  template <AnyTensor... Tensors> void add(const Tensors&... tensors) {
    using S = training::source_for<Adding, M, Tensors...>;
    const std::int64_t rows = first_extent(tensors...);
    Program& program = next<S>();
    AddUpRankSums callback{program.executor.table(), [this](const Call& call) { model_->run(call); }};
    if (rows == 0 && callback.empty()) return;
    // If sums over ranks mix gradients of all, the rows of all have equal weight.
    if (sums_.empty()) sums_.begin(callback.empty() ? rows : row_shares_.most(rows));
    void* output = loss_.data();
    training::DrawOfRun draw{program, *model_->module().state()};
    run(program, program.draws ? draw.take() : RandomDraw{}, sums_.rows(), sums_.weight_of(rows), {&output, 1},
        &callback, tensors...);
    sums_.count(rows);
  }

  template <AnyTensor... Tensors>
  void run(Program& program, const RandomDraw& draw, std::int64_t first_row, double weight,
           std::span<void* const> outputs, compile::HostCallback* callback, const Tensors&... tensors) {
    program.run_scalars.set(training::loss_weight_scalar, weight);
    program.run_scalars.set_if_present(training::continues_scalar, sums_.empty() ? 0 : 1);
    program.run_scalars.set_if_present(training::sum_scale_scalar, sums_.scale());
    if (program.draws) program.set_draw(draw);
    program.run(model_->module().layer_hooks().get(),
                {.parameters = parameters_of(program),
                 .outputs = outputs,
                 .first_row = first_row,
                 .callback = callback,
                 .groups = &model_->module().state()->groups},
                tensors...);
  }

  /// The weights, the states read by a backward pass, and the sums if the program has them.
  [[nodiscard]] std::span<void* const> parameters_of(const Program& program) {
    const auto infos = program.executor.table().parameters;
    if (infos.back().name.view() != "train.loss_sum") return update_.parameters();
    if constexpr (optim::ScaledRule<R>)
      if (!update_.is_made()) throw ValueError("no_sync: the first step of a scaled rule is not silent");
    return sums_.with_sums(device_, infos, trainable(),
                           update_.is_made() ? update_.parameters() : model_->module().state()->addresses());
  }

  [[nodiscard]] static std::size_t trainable() {
    const auto infos = Network::parameter_infos();
    return static_cast<std::size_t>(
        std::count_if(infos.begin(), infos.end(), [](const auto& info) { return info.role == graph::Role::weight; }));
  }

  void update() {
    rule_numbers_.write(rule, steps_ + 1, update_scalars_);
    update_.run(update_scalars_.bits());
    copy_bytes(device_, loss_.data(), device_, update_.gradients().addresses()[0], sizeof(T), CopyOptions{});
    model_->module().state()->note_update();
    ++steps_;
  }

  Model* model_;
  D device_;
  RowShares<Model> row_shares_;
  compile::RunScalars update_scalars_;
  training::RuleNumbers<R> rule_numbers_;
  memory::Buffer<D> loss_;
  BatchSums<T, D> sums_{};
  training::StepPrograms<Program> programs_{};
  Update& update_;
  std::int64_t runs_ = 0;
  bool is_silent_ = false;
};

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// One rank's training step: `auto step = train_step(distributed, nn::cross_entropy, rule);`, then `step(image, label)`
/// for the rank's share of each batch. The model has to outlive it.
template <class Network, parallel::Communicator C, class L, optim::Rule R>
[[nodiscard]] auto train_step(DistributedDataParallel<Network, C>& model, L loss, R rule) {
  return parallel::DistributedStep<Network, C, L, R>{model, loss, std::move(rule)};
}

/// A step with the optimiser's states divided over the ranks, `parallel::zero<1>`, the reduced gradients as well,
/// `parallel::zero<2>`, or the weights as well, `parallel::zero<3>`: in parts between steps, see `gather_weights`.
template <class Network, parallel::Communicator C, class L, optim::Rule R, int Stage>
[[nodiscard]] auto train_step(DistributedDataParallel<Network, C>& model, L loss, R rule, parallel::Zero<Stage>) {
  return parallel::DistributedStep<Network, C, L, R, parallel::Zero<Stage>>{model, loss, std::move(rule)};
}

}}} // namespace twill::v0::TWILL_ISA
