#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Data-parallel training steps with the loss inside the replicas: each device runs forward, loss and backward on its
// rows as one planned program, all devices sum their gradients, and each updates its own copy of the weights. All
// devices have equal work and memory, the first no more than the others. Losses and gradients are weighted by rows, so
// the step equals one device's for uneven shards too. Read next: parallel/data/data_parallel.hpp.

#include <twill/compile/table_for.hpp>
#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/nn/device_trace.hpp>
#include <twill/parallel/data/balance.hpp>
#include <twill/parallel/data/data_parallel.hpp>
#include <twill/parallel/group/collectives.hpp>
#include <twill/parallel/group/rank_sums.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/training/train_step.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// The states of a rule on all replicas, which are equal. `Update` is the source of an update of all weights.
template <class Network, class Update> class ReplicaStates {
  using D = typename Network::device_type;

public:
  explicit ReplicaStates(const Replicas<D>& replicas) {
    for (std::size_t rank = 0; rank < replicas.devices().size(); ++rank) ranks_.emplace_back(replicas.state(rank));
  }
  /// Those of one replica.
  [[nodiscard]] training::OptimiserState<D>& of(std::size_t rank) { return ranks_[rank]; }

  [[nodiscard]] double item(std::string_view name) const { return ranks_.front().item(name); }
  [[nodiscard]] nn::StateDict state_dict(std::int64_t steps) const { return ranks_.front().state_dict(steps); }
  [[nodiscard]] std::int64_t load(const nn::StateDict& state) {
    std::int64_t steps = 0;
    for (training::OptimiserState<D>& rank : ranks_)
      steps = rank.load_state_dict(state, [] { return compile::TableFor<Update, D>::view().parameters; });
    return steps;
  }

private:
  std::vector<training::OptimiserState<D>> ranks_{};
};

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Runs whole steps of a network on several devices.
template <class Network, class L, optim::Rule R>
class DataParallelStep
    : public training::TrainingState<R, detail::ReplicaStates<Network, training::update_of_t<Network, R>>> {
  using D = typename Network::device_type;
  static_assert(Network::slots == 1, "twill: data_parallel_step: the model puts parts into several device slots, a "
                                     "replica has one device; train it without replicas");
  using T = typename Network::Element;
  using M = nn::traced_model_t<Network>;
  using UpdateSource = training::update_of_t<Network, R>;
  using Base = training::TrainingState<R, detail::ReplicaStates<Network, UpdateSource>>;
  using Base::states_, Base::steps_;

  template <class... Targets> using Gradient = training::LossGradient<M, T, L, R, Targets...>;
  template <class X> using share_t = decltype(scattered<0>(std::declval<const X&>(), Rows{}, std::declval<const D&>()));

public:
  /// The program of one replica for arguments of these types, for inspection.
  template <AnyTensor... Tensors> using source = training::source_for<Gradient, M, share_t<Tensors>...>;

  using Base::rule;

  /// Steps of a wrapped network by a loss and a rule, the loss computed inside the replicas.
  DataParallelStep(DataParallel<Network>& model, L, R given)
      : Base{std::move(given), *model.replicas()}, model_{&model} {
    const auto& replicas = *model.replicas();
    auto communicators = thread_communicators(replicas.devices(), {.timeout_ms = model.timeout_ms()});
    for (std::size_t rank = 0; rank < replicas.devices().size(); ++rank)
      ranks_.push_back(std::make_unique<Rank>(replicas.devices()[rank], replicas.state(rank),
                                              std::move(communicators[rank]), states_.of(rank)));
    synchronise();
  }

  /// Copies the module's weights to all replicas; needed after changes by other code.
  void synchronise() { model_->replicas()->replicate(ranks_.size()); }

  /// One step. Arguments: the model's inputs, then the loss's targets, which may be on any device of the kind.
  /// throws: ValueError if the batch is empty
  /// throws: a replica's exception, naming it, or a TimeoutError naming a missing one, after that has ended. The step
  /// is then unusable: weights of some replicas may be new. Make another, from the module's weights or a checkpoint.
  template <AnyTensor... Tensors> training::StepLoss<T, D> operator()(const Tensors&... tensors) {
    nn::check_inputs<nn::CallOf<"train_step", M>, T, D, L, share_t<Tensors>...>();
    if constexpr (nn::arguments_fit<M, T, D, L, share_t<Tensors>...>) // else refused
      run(tensors...);
    return {ranks_.front()->results, steps_, steps_};
  }

  /// The work of each replica in the last step, and the bytes in use on its device.
  /// throws: ValueError before the first step; on GPUs, if `measures_balance` was not set before the last step
  [[nodiscard]] Balance balance() const {
    if (!was_measured_)
      throw ValueError(steps_ == 0 ? "balance: there was no step yet"
                                   : "balance: the last step was not measured, since a GPU would have to be waited "
                                     "for; set step.measures_balance = true before it");
    Balance result{};
    for (const auto& rank : ranks_)
      result.replicas.push_back({twill::to_string(rank->device), rank->rows, rank->seconds,
                                 static_cast<std::int64_t>(memory_allocated(rank->device))});
    return result;
  }

  /// Whether the last program of each replica runs as a captured graph, and if not, why.
  [[nodiscard]] std::vector<compile::CaptureReport> capture_reports() const {
    std::vector<compile::CaptureReport> reports{};
    for (const auto& rank : ranks_)
      reports.push_back(rank->programs.capture_report("this replica has had no rows yet"));
    return reports;
  }

  compile::Capture capture = compile::Capture::automatic; ///< whether programs become graphs, if devices have them
  bool measures_balance = false; ///< on GPUs: steps wait for their devices and measure `balance`, as on hosts

private:
  template <AnyTensor... Tensors> void run(const Tensors&... tensors) {
    using Source = source<Tensors...>;
    const auto& devices = model_->devices();
    training::require_rows(Source::called(), std::array{tensors.shape()...});
    const std::int64_t rows = common_rows(tensors...).value_or(1);
    const bool is_measured = HostDevice<D> || measures_balance;
    const auto pieces = chunk_rows(rows, static_cast<std::int64_t>(devices.size()));
    nn::RunContext context = model_->module().context_of_next_run();
    ++steps_;
    run_on_replicas(devices, devices.size(), [&](std::size_t rank) {
      Rank& own = *ranks_[rank];
      try {
        if (is_measured) synchronize(devices[rank]);
        const double start = is_measured ? steady_seconds() : 0;
        if (rank < pieces.size() || sums_over_ranks<Source>()) {
          const Rows piece = rank < pieces.size() ? pieces[rank] : Rows{rows, 0};
          const double weight = static_cast<double>(piece.count) / static_cast<double>(rows);
          own.template run<Source>(context, piece.begin, weight, capture,
                                   scattered<0>(tensors, piece, devices[rank])...);
        }
        if (rank >= pieces.size()) own.clear(); // a replica without rows adds nothing
        if (is_measured) {
          synchronize(devices[rank]);
          own.seconds = steady_seconds() - start;
          own.rows = rank < pieces.size() ? pieces[rank].count : 0;
        }
        // Replicas without memory run one after another and have nothing to sum.
        if constexpr (D::has_memory) own.add_up();
        own.update(rule, steps_, capture);
      } catch (...) {
        own.communicator.fail(std::current_exception());
        throw;
      }
    });
    was_measured_ = is_measured;
  }

  /// Whether replicas meet inside a program, including those without rows.
  template <compile::Source S> [[nodiscard]] static bool sums_over_ranks() {
    static const bool result = !RankSums{compile::TableFor<S, D>::view()}.empty();
    return result;
  }

  /// One replica: its programs, and one buffer with the loss and all gradients, which one call sums.
  struct Rank {
    Rank(D on, std::shared_ptr<nn::NetworkState<D>> network, ThreadCommunicator<D> member,
         training::OptimiserState<D>& of_rule)
        : device{on}, state{std::move(network)}, communicator{std::move(member)}, optimiser{&of_rule} {
      constexpr std::size_t line = 64;
      std::size_t bytes = line;
      std::vector<std::size_t> offsets{};
      const auto place = [&](bool wide) { // those of the network's type first, so that each type is one run of elements
        std::size_t weight = 0;
        for (const graph::ParameterInfo& info : state->infos) {
          if (info.role != graph::Role::weight) continue;
          offsets.resize(std::max(offsets.size(), weight + 1));
          if ((info.dtype != dtype_of<T>) == wide) {
            offsets[weight] = bytes;
            bytes += (nn::NetworkState<D>::bytes_of(info) + line - 1) / line * line;
          }
          ++weight;
        }
      };
      place(false);
      count = static_cast<std::int64_t>(bytes / sizeof(T));
      place(true);
      wide_count = static_cast<std::int64_t>(bytes / sizeof(float)) -
                   count * std::int64_t{sizeof(T)} / std::int64_t{sizeof(float)};
      results = memory::Buffer<D>(device, bytes);
      auto* first = static_cast<std::byte*>(results.data());
      outputs.push_back(first);
      for (std::size_t offset : offsets) outputs.push_back(first + offset);
      clear();
    }

    [[nodiscard]] T* sums() const { return static_cast<T*>(results.data()); }

    /// Sums the loss and all gradients of all replicas.
    void add_up() {
      all_reduce(communicator, sums(), count);
      if constexpr (sizeof(T) < sizeof(float)) // weights that a model of half precision keeps in float32
        if (wide_count > 0) all_reduce(communicator, reinterpret_cast<float*>(sums() + count), wide_count);
    }

    /// The padding is summed as well, so it starts as zeros.
    void clear() {
      Tensor<T, D, Shape<dyn>>(results, sums(), Dims(static_cast<std::int64_t>(results.bytes() / sizeof(T))), Dims(1))
          .fill(T{});
    }

    template <compile::Source S, AnyTensor... Shares>
    void run(const nn::RunContext& context, std::int64_t first_row, double weight, compile::Capture allowed,
             const Shares&... shares) {
      auto& program = programs.template next<S>(std::span<const D>{&device, 1}, context.run_scalars, allowed);
      program.run_scalars.set(training::loss_weight_scalar, weight);
      AddUpRankSums sums{program.executor.table(), [this](const Call& call) { communicator.run(call); }};
      program.run(context.on_layers.get(),
                  {.parameters = optimiser->addresses(updates.table().parameters),
                   .outputs = outputs,
                   .first_row = first_row,
                   .callback = sums.empty() ? nullptr : &sums},
                  shares...);
    }

    void update(const R& given, std::int64_t step, compile::Capture allowed) {
      updates.run(std::span<const D>{&device, 1}, given, step,
                  {.inputs = std::span{outputs}.subspan(1),
                   .parameters = optimiser->addresses(updates.table().parameters),
                   .inputs_stay = true},
                  allowed);
      state->note_update();
    }

    D device;
    std::shared_ptr<nn::NetworkState<D>> state;
    ThreadCommunicator<D> communicator;
    training::OptimiserState<D>* optimiser;
    training::UpdateProgram<R, UpdateSource, D> updates{compile::Arena::kept};
    training::StepPrograms<training::StepProgram<M, D>> programs{};
    memory::Buffer<D> results{}; ///< the loss, then the gradients, each on its own cache lines
    std::vector<void*> outputs{};
    std::int64_t count = 0;      ///< of elements of T
    std::int64_t wide_count = 0; ///< of float32 after them, in models of half precision
    std::int64_t rows = 0;       ///< of the last measured step
    double seconds = 0;          ///< of it
  };

  DataParallel<Network>* model_;
  std::vector<std::unique_ptr<Rank>> ranks_{};
  bool was_measured_ = false; ///< the last step
};

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// A data-parallel training step, as planned programs: `auto step = train_step(parallel, nn::cross_entropy, rule);`,
/// then `step(image, label)` for each batch. The model has to outlive it.
template <class Network, class L, optim::Rule R>
[[nodiscard]] auto train_step(DataParallel<Network>& model, L loss, R rule) {
  return parallel::DataParallelStep<Network, L, R>{model, loss, std::move(rule)};
}

}}} // namespace twill::v0::TWILL_ISA
