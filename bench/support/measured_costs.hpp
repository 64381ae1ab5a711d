#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Costs of a pipeline's stages, measured: each rank computes its stages on one micro-batch again and again, on its own
// device, all ranks at the same time, because that is how they will share memory and cores, and then a few times in
// turn, because at the ends of a step they do not. Inputs and gradients are those of a real pass. The medians go into
// `simulate_hindered`, which knows how many micro-batches and ranks there will be. Read next:
// bench/support/hindered.hpp.

#include "bench/support/hindered.hpp"

#include <twill/core/clock.hpp>
#include <twill/parallel/pipeline/model/pipeline.hpp>
#include <twill/parallel/pipeline/run/costs.hpp>
#include <twill/parallel/pipeline/run/runner.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

using namespace twill;
namespace stages = twill::pipeline::detail;

/// How stages are timed.
struct MeasureOptions {
  int rounds = 5;                                            ///< at least, of each stage; the median counts
  StageCheckpointing checkpointing = {};                     ///< as the pipeline will run
  WeightOrders weight_orders = WeightOrders::made_each_time; ///< as the pipeline will run
};

/// Seconds of the kinds of work of one stage, one number for each round.
struct StageSamples {
  std::vector<double> forward{}, first{}, second{}; ///< second: the gradient of the weights where it is computed apart
  std::vector<double> alone{};                      ///< all of them, while no other rank computes
};

[[nodiscard]] inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

/// A pipeline in which every stage is taken for the only one of its rank, so that each can be run by itself.
template <class P, class L, class X, class Y> class StageBench {
  using D = typename P::device_type;
  using S = typename P::ScheduleType;
  using Runner = stages::ModelRunner<P, const L, X, Y>;

public:
  StageBench(P& pipeline, const L& loss, const X& x, const Y& targets, std::int64_t rows, const MeasureOptions& options)
      : pipeline_{pipeline}, options_{options}, pieces_{{0, rows}} {
    schedule_.ranks = schedule_.stages = P::stages;
    schedule_.micro_batches = 1;
    for (int stage = 0; stage < P::stages; ++stage) schedule_.rank_of.push_back(stage);
    runners_.reserve(static_cast<std::size_t>(P::stages));
    for (int stage = 0; stage < P::stages; ++stage)
      runners_.push_back({pipeline, schedule_, loss, pieces_, x, targets, stage, options_.checkpointing});
  }

  /// Passes a micro-batch through all stages and back, and keeps what goes between them.
  void pass() {
    Message made;
    for_each_stage([&](int number, auto& stage) {
      if (number > 0) {
        fill(stage, runner(number).input(number, 0), number - 1, made);
        inputs_[at(number)] = stage.inputs.at(0);
      }
      runner(number).run_forward(number, 0);
      made = runner(number).output(number, 0);
    });
    for (int number = P::stages; number-- > 0;)
      visit(number, [&](auto& stage) {
        if (number + 1 < P::stages) {
          fill(stage, runner(number).output_gradient(number, 0), number + 1, made);
          cotangents_[at(number)] = stage.cotangents.at(0);
        }
        back(number, stage);
        if (number > 0) made = runner(number).input_gradient(number, 0);
      });
    for_each_stage([](int, auto& stage) { stage.forget_micro_batches(); });
  }

  /// Runs all ranks at the same time, until each has made its rounds, and then one after the other.
  [[nodiscard]] std::vector<StageSamples> rounds() {
    std::vector<StageSamples> samples(static_cast<std::size_t>(P::stages));
    std::atomic<int> left{P::ranks};
    auto communicators = parallel::thread_communicators(pipeline_.devices());
    parallel::run_ranks(communicators, [&](auto& communicator) {
      communicator.run(parallel::Call::barrier());
      try {
        for (int round = 0; round < options_.rounds || left.load() > 0; ++round) {
          for_each_stage([&](int number, auto& stage) {
            if (S::rank_of(number, P::ranks) == communicator.rank()) one_round(number, stage, samples[at(number)]);
          });
          if (round + 1 == options_.rounds) --left;
        }
        for (int rank = 0; rank < P::ranks; ++rank) {
          communicator.run(parallel::Call::barrier());
          if (rank == communicator.rank()) rounds_alone(rank, samples);
        }
      } catch (...) { // this rank's rounds are not waited for
        left = 0;
        throw;
      }
    });
    return samples;
  }

private:
  [[nodiscard]] static std::size_t at(int number) { return static_cast<std::size_t>(number); }
  [[nodiscard]] Runner& runner(int number) { return runners_[at(number)]; }

  template <class F> void visit(int number, F f) {
    int next = 0;
    std::apply([&](auto&... stage) { ((next++ == number ? f(stage) : void()), ...); }, pipeline_.all());
  }
  template <class F> void for_each_stage(F f) {
    for (int number = 0; number < P::stages; ++number) visit(number, [&](auto& stage) { f(number, stage); });
  }

  void rounds_alone(int rank, std::vector<StageSamples>& samples) {
    for (int round = 0; round < std::min(options_.rounds, 3); ++round)
      for_each_stage([&](int number, auto& stage) {
        if (S::rank_of(number, P::ranks) != rank) return;
        StageSamples own{};
        one_round(number, stage, own);
        samples[at(number)].alone.push_back(own.forward[0] + own.first[0] + own.second[0]);
      });
  }

  /// Copies what a neighbour has made to where a stage takes it.
  template <class Stage> void fill(const Stage& stage, const Message& to, int neighbour, const Message& from) {
    const D& other = pipeline_.devices()[at(S::rank_of(neighbour, P::ranks))];
    for (std::size_t i = 0; i < to.size(); ++i)
      copy_bytes(stage.network.device(), to[i].data, other, from[i].data, to[i].bytes(), CopyOptions{});
    synchronize(stage.network.device());
  }

  /// The backward pass of a stage, as its schedule would have it; the time at which its first part was done.
  template <class Stage> double back(int number, Stage& stage) {
    if constexpr (requires { stage.weight_gradient(0); }) {
      runner(number).run_input_gradient(number, 0);
      const double between = steady_seconds();
      runner(number).run_weight_gradient(number, 0);
      return between;
    } else {
      runner(number).run_backward(number, 0);
      return steady_seconds();
    }
  }

  template <class Stage> void one_round(int number, Stage& stage, StageSamples& samples) {
    if (number > 0) stage.inputs.insert_or_assign(0, inputs_[at(number)]);
    const double start = steady_seconds();
    runner(number).run_forward(number, 0);
    samples.forward.push_back(steady_seconds() - start);
    if (number + 1 < P::stages) {
      stage.outputs.clear();
      stage.cotangents.insert_or_assign(0, cotangents_[at(number)]);
    }
    const double turn = steady_seconds();
    const double between = back(number, stage);
    samples.first.push_back(between - turn);
    samples.second.push_back(steady_seconds() - between);
    stage.forget_micro_batches();
  }

  P& pipeline_;
  MeasureOptions options_;
  std::vector<parallel::Rows> pieces_;
  Schedule schedule_{};
  std::vector<Runner> runners_{};
  std::array<Blocks<D>, static_cast<std::size_t>(P::stages)> inputs_{};
  std::array<Blocks<D>, static_cast<std::size_t>(P::stages)> cotangents_{};
};

/// The values of all buffers, such as running means, which measuring changes.
template <class P> class KeptBuffers {
public:
  explicit KeptBuffers(P& pipeline) : pipeline_{pipeline} {
    visit([&](const auto& buffer, const auto& device) {
      std::vector<char> bytes(buffer.bytes());
      copy_bytes(Cpu{}, bytes.data(), device, buffer.data(), bytes.size(), CopyOptions{});
      kept_.push_back(std::move(bytes));
    });
  }
  void put_back() {
    std::size_t next = 0;
    visit([&](const auto& buffer, const auto& device) {
      const std::vector<char>& bytes = kept_[next++];
      copy_bytes(device, buffer.data(), Cpu{}, bytes.data(), bytes.size(), CopyOptions{});
    });
  }

private:
  template <class F> void visit(F f) {
    pipeline_.for_each_stage([&](auto& network) {
      synchronize(network.device());
      const auto& state = *network.state();
      for (std::size_t i = 0; i < state.infos.size(); ++i)
        if (state.infos[i].role == graph::Role::buffer) f(state.buffers[i], network.device());
    });
  }

  P& pipeline_;
  std::vector<std::vector<char>> kept_{};
};

/// The costs of a pipeline's stages: bytes counted, times measured. The batch is one micro-batch of the rows that a
/// step will have, the model's inputs, then the targets. Buffers are left as they were; gradients are given up, a draw
/// is used up.
/// requires: all stages are here    throws: what stages throw
template <ScheduleKind S, FloatingScalar T, ComputeDevice D, class... Parts, class L, AnyTensor... Batch>
[[nodiscard]] HinderedCosts measured_costs(BasicPipeline<S, T, D, Parts...>& pipeline, const L& loss,
                                           const MeasureOptions& options, const Batch&... batch) {
  static_assert(sizeof...(Batch) >= 2, "bench: costs are measured with the model's inputs and the targets");
  using P = BasicPipeline<S, T, D, Parts...>;
  const std::tuple<const Batch&...> all{batch...};
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto x = std::tie(std::get<I>(all)...);
    const auto& targets = std::get<sizeof...(I)>(all);
    const std::array<Dims, sizeof...(I)> shapes{std::get<I>(all).shape()...};
    List<StageCost> costs = stage_bytes<P>(shapes, options.checkpointing);
    List<double> alone_share(costs.size(), 1);
    KeptBuffers<P> buffers{pipeline};
    stages::begin_step(pipeline, {.micro_batches = 2, .weight_orders = options.weight_orders});
    StageBench<P, L, std::remove_cv_t<decltype(x)>, std::remove_cvref_t<decltype(targets)>> bench{
        pipeline, loss, x, targets, stages::rows_of_batch(x, targets), options};
    bench.pass();
    const auto samples = bench.rounds();
    for (std::size_t stage = 0; stage < samples.size(); ++stage) {
      const double first = median(samples[stage].first);
      const double second = median(samples[stage].second);
      costs[stage].forward_s = median(samples[stage].forward);
      costs[stage].input_gradient_s = first;
      if constexpr (stages::splits_gradients<S, P::ranks>()) costs[stage].weight_gradient_s = second;
      const double together = costs[stage].forward_s + first + second;
      if (P::ranks > 1 && together > 0) alone_share[stage] = std::min(1.0, median(samples[stage].alone) / together);
    }
    buffers.put_back();
    stages::drop_orders(pipeline);
    pipeline.for_each_stage([](auto& network) { network.zero_grad(); });
    return HinderedCosts{costs, alone_share};
  }
  (std::make_index_sequence<sizeof...(Batch) - 1>{});
}

} // namespace bench
