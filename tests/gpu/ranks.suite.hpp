#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Ranks that are threads with a GPU each: gradients in buckets, shared out or not, divided layers, stages of a pipeline. The
// numbers are those of one GPU. On a machine with one GPU there is one rank, and what needs several is skipped.

#include <tests/support/skip.hpp>
#include <tests/support/suite.hpp>
#include <tests/training/models.hpp>

#include <twill/memory/statistics.hpp>
#include <twill/nn/batch_norm.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/nn/tensor_parallel.hpp>
#include <twill/optim/clip.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/data/distributed_step.hpp>
#include <twill/parallel/model/tensor_parallel.hpp>
#include <twill/parallel/pipeline/model/state.hpp>
#include <twill/parallel/pipeline/run/step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/threads/ranks.hpp>
#ifndef __CUDACC__ // estimates are for host compilers
#include <twill/parallel/fit/estimate.hpp>
#include <twill/parallel/fit/replica.hpp>
#endif

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace twill::test { namespace ranks_suite {

using D = TestedDevice;

inline void require_near(const std::vector<double>& left, const std::vector<double>& right) {
  require_equal(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i) require_close(left[i], right[i], 1e-12, 1e-12);
}

/// Whether there is a GPU for each of two ranks; says so if not.
inline bool has_two() {
  if (D::count() < 2) skip("this machine has one GPU");
  return D::count() > 1;
}

// Distributed data parallelism ---------------------------------------------------------------------------------------

/// With statistics of all ranks' rows in the middle of the pass.
struct Normed {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    const auto hidden = nn::batch_norm(nn::linear(x, 9, "hidden"), "norm", {.is_synchronised = true});
    return nn::linear(tanh(hidden), 3, "output");
  }
};

inline constexpr std::int64_t all_rows = 13;
inline constexpr parallel::BucketOptions small_buckets{.first_bucket_bytes = 100, .bucket_bytes = 500};

/// The rows of a rank: with three ranks the first has none.
inline parallel::Rows rows_of_rank(int rank, int ranks) {
  if (ranks < 3) return ranks == 1 ? parallel::Rows{0, 13} : parallel::Rows{rank * 8, rank == 0 ? 8 : 5};
  return rank == 0 ? parallel::Rows{0, 0} : parallel::Rows{(rank - 1) * 8, rank == 1 ? 8 : 5};
}

template <class M> nn::Network<M, D, double> network_on(const D& device, double dropout) {
  manual_seed_all(7);
  nn::Network<M, D, double> network{device};
  if constexpr (std::same_as<M, DropoutClassifier>) network.set("dropout", dropout);
  return network;
}

/// The losses of some steps, then the weights, of the only rank or of all, which have to agree.
template <class M, int Stage, class Rule, class Play>
std::vector<double> distributed(const Rule& rule, Play play, double dropout = 0.5) {
  const int ranks = std::min(D::count(), 3);
  std::vector<D> devices{};
  for (int rank = 0; rank < ranks; ++rank) devices.push_back(D{rank});
  auto communicators = parallel::thread_communicators(devices, {.timeout_ms = 60'000});
  std::vector<nn::Network<M, D, double>> networks{};
  for (const D& device : devices) networks.push_back(network_on<M>(device, dropout));
  std::vector<std::vector<double>> found(devices.size());
  manual_seed_all(3);
  parallel::run_ranks(communicators, [&](auto& communicator) {
    auto& network = networks[static_cast<std::size_t>(communicator.rank())];
    DistributedDataParallel model{network, communicator, {.buckets = small_buckets}};
    auto step = train_step(model, nn::cross_entropy, rule, parallel::zero<Stage>);
    found[static_cast<std::size_t>(communicator.rank())] =
        play(step, communicator.device(), rows_of_rank(communicator.rank(), ranks));
    step.gather_weights();
  });
  for (std::size_t rank = 0; rank < found.size(); ++rank) {
    const auto weights = weights_of(networks[rank]);
    found[rank].insert(found[rank].end(), weights.begin(), weights.end());
    require(found[rank] == found[0]);
  }
  return found[0];
}

/// The same on one GPU.
template <class M, class Rule> std::vector<double> alone(const Rule& rule, int steps, double dropout = 0.5) {
  auto network = network_on<M>(D{0}, dropout);
  auto step = train_step(network, nn::cross_entropy, rule);
  const auto x = random_rows<double, 5>(D{0}, all_rows);
  const auto label = random_labels(D{0}, all_rows, 3);
  std::vector<double> found{};
  manual_seed_all(3);
  for (int i = 0; i < steps; ++i) found.push_back(step(x, label).item());
  const auto weights = weights_of(network);
  found.insert(found.end(), weights.begin(), weights.end());
  return found;
}

inline auto inputs_of(const parallel::Rows& rows, const D& device) {
  return parallel::rows_of<0>(random_rows<double, 5>(Cpu{0}, all_rows), rows).contiguous().to(device);
}
inline auto labels_of(const parallel::Rows& rows, const D& device) {
  return parallel::rows_of<0>(random_labels(Cpu{0}, all_rows, 3), rows).contiguous().to(device);
}

/// Steps that speak.
inline constexpr auto play_steps = [](auto& step, const D& device, const parallel::Rows& rows) {
  std::vector<double> losses{};
  const auto x = inputs_of(rows, device);
  const auto label = labels_of(rows, device);
  for (int i = 0; i < 3; ++i) losses.push_back(step(x, label).item());
  return losses;
};

inline void buckets() {
  const optim::MomentumSgd rule{{.rate = 0.1}};
  const auto expected = alone<DropoutClassifier>(rule, 3);
  require_near(distributed<DropoutClassifier, 0>(rule, play_steps), expected);
}
const Case buckets_case{"ranks on GPUs reduce gradients in buckets and train as one does", &buckets};

inline void shared_out() {
  const auto rule = optim::clip_norm(optim::MomentumSgd{{.rate = 0.1}}, 0.5);
  const auto expected = alone<Normed>(rule, 3);
  require_near(distributed<Normed, 1>(rule, play_steps), expected);
  require_near(distributed<Normed, 2>(rule, play_steps), expected);
  require_near(distributed<Normed, 3>(rule, play_steps), expected);
}
const Case shared_out_case{
    "ranks on GPUs share out states, gradients and weights, and sum statistics in the middle of a pass", &shared_out};

inline void silent() {
  const optim::MomentumSgd rule{{.rate = 0.1}};
  const auto expected = alone<DropoutClassifier>(rule, 2, 0);
  const auto found = distributed<DropoutClassifier, 0>(
      rule,
      [](auto& step, const D& device, const parallel::Rows& rows) {
        const std::int64_t half = rows.count / 2;
        const parallel::Rows first{rows.begin, half};
        const parallel::Rows second{rows.begin + half, rows.count - half};
        std::vector<double> losses{};
        for (int i = 0; i < 2; ++i) {
          {
            const auto silence = step.no_sync();
            static_cast<void>(step(inputs_of(first, device), labels_of(first, device)));
          }
          losses.push_back(step(inputs_of(second, device), labels_of(second, device)).item());
        }
        return losses;
      },
      0);
  require_near(found, expected);
}
const Case silent_case{"silent steps on GPUs and one that speaks are one step on all their rows", &silent};

#ifndef __CUDACC__
/// Steps of ranks take the bytes of their pools that were estimated for them.
template <class M, int Stage, class Rule> void held_as_estimated(const Rule& rule) {
  using namespace parallel::fit;
  using Labels = Tensor<std::int64_t, D, Shape<dyn>>;
  using Step = training::WholeStep<M, double, std::remove_const_t<decltype(nn::cross_entropy)>, Rule,
                                   compile::argument_t<Labels>>;
  constexpr Traces traces = traces_of<Step, double, D>;
  const PlannedProgram gradient{traces.gradient({}), "the step"};
  const PlannedProgram update{Stage > 0 ? traces.update_of_parts() : traces.update(), "the update"};
  const int ranks = std::min(D::count(), 3);
  std::vector<std::int64_t> expected{}, before{};
  for (int rank = 0; rank < ranks; ++rank) {
    const std::int64_t rows = rows_of_rank(rank, ranks).count;
    const RankReport own = report_of_rank(gradient, update, {{"batch", rows}}, rank, ranks, Stage, small_buckets,
                                          sizeof(double), traces.is_for_gpus);
    expected.push_back(own.bytes.total() + compile::pool_bytes(rows * 40) + compile::pool_bytes(rows * 8)); // its batch
    synchronize(D{rank});
    before.push_back(memory_allocated(D{rank}));
  }
  static_cast<void>(distributed<M, Stage>(rule, [&](auto& step, const D& device, const parallel::Rows& rows) {
    const auto x = inputs_of(rows, device);
    const auto label = labels_of(rows, device);
    static_cast<void>(step(x, label));
    synchronize(device);
    reset_peak_memory_stats(device);
    static_cast<void>(step(x, label));
    synchronize(device);
    for (std::size_t rank = 0; rank < before.size(); ++rank)
      if (device == D{static_cast<int>(rank)} && rows.count > 0)
        require_equal(max_memory_allocated(device) - before[rank], expected[rank]);
    return std::vector<double>{};
  }));
}
inline void estimated() {
  held_as_estimated<DropoutClassifier, 0>(optim::MomentumSgd{{.rate = 0.1}});
  const auto rule = optim::clip_norm(optim::MomentumSgd{{.rate = 0.1}}, 0.5);
  held_as_estimated<Normed, 1>(rule);
  held_as_estimated<Normed, 2>(rule);
  held_as_estimated<Normed, 3>(rule);
}
const Case estimated_case{"ranks on GPUs hold the bytes that were estimated without a device", &estimated};
#endif

// Divided layers -----------------------------------------------------------------------------------------------------

struct Wide {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    return nn::linear(tanh(nn::linear(x, 8, "wide")), 3, "narrow");
  }
};
using TwoRanks = RankAxis<"tensor", 2>;
struct Divided {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    return nn::row_linear<TwoRanks>(tanh(nn::column_linear<TwoRanks>(x, 8, "wide")), 3, "narrow");
  }
};

inline void divided() {
  if (!has_two()) return;
  manual_seed_all(7);
  TensorParallel<Divided, TwoRanks, D, double> model{{D{0}, D{1}}, {.timeout_ms = 60'000}};
  nn::Network<Wide, D, double> one{D{1}};
  nn::load_state_dict(one, model.state_dict());
  const auto x = random_rows<double, 5>(D{0}, 7);
  const auto label = random_labels(D{0}, 7, 3);
  require_near(to_vector(model.infer(x)), to_vector(one.infer(x.to(D{1}))));
  const optim::MomentumSgd rule{{.rate = 0.1}};
  auto step = train_step(model, nn::cross_entropy, rule);
  auto step_of_one = train_step(one, nn::cross_entropy, rule);
  for (int i = 0; i < 4; ++i)
    require_close(step(x, label), step_of_one(x.to(D{1}), label.to(D{1})).item(), 1e-12, 1e-12);
  model.load_state_dict(nn::state_dict(one)); // and back
  require_near(to_vector(model.infer(x)), to_vector(one.infer(x.to(D{1}))));
  const compile::CaptureReport report = step.rank_step(0).capture_report();
  require(report.graph_runs == 0 && report.plain_runs == 4);
  require_equal(report.reason, std::string{"the program calls groups of ranks between its launches"});
}
const Case divided_case{"a model divided among two GPUs trains as on one; its steps are not captured, and say why",
                        &divided};

// Pipelines ----------------------------------------------------------------------------------------------------------

struct Lower {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) { return tanh(nn::linear(x, 6, "lower")); }
};
struct Head {
  static constexpr auto forward(Input<Dim<"batch">, 6> x) { return nn::linear(x, 3, "head"); }
};
struct Whole {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    return nn::linear(tanh(nn::linear(x, 6, "0.lower")), 3, "1.head");
  }
};

/// All weights, in the order of their names.
inline std::vector<double> numbers_of(const nn::StateDict& state) {
  std::vector<double> all{};
  for (const auto& [name, tensor] : state.entries()) {
    std::vector<double> values(static_cast<std::size_t>(tensor.shape.elements()));
    std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(double));
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

/// Places are the devices of two stages.
template <class S, class Places, class Devices>
void staged(const Devices& devices, pipeline::Checkpointing checkpointing) {
  nn::Network<Whole, D, double> one{D{0}};
  pipeline::BasicPipeline<S, double, Places, Lower, Head> stages{devices};
  pipeline::load_state_dict(stages, nn::state_dict(one));
  const auto x = random_rows<double, 5>(Cpu{0}, 8);
  const auto label = random_labels(Cpu{0}, 8, 3);
  const auto rule = optim::clip_norm(optim::MomentumSgd{{.rate = 0.1}}, 0.5);
  auto step_of_one = train_step(one, nn::cross_entropy, rule);
  auto step = train_step(stages, nn::cross_entropy, rule,
                         {.micro_batches = 3, .checkpointing = checkpointing, .timeout_ms = 60'000}); // 3, 3, 2 rows
  for (int i = 0; i < 3; ++i)
    require_close(step(x.to(D{0}), label.to(D{0})), step_of_one(x.to(D{0}), label.to(D{0})).item(), 1e-12, 1e-12);
  require_near(numbers_of(pipeline::state_dict(stages)), numbers_of(nn::state_dict(one)));
}
inline void stages() {
  if (!has_two()) return;
  const std::vector<D> two{D{0}, D{1}};
  staged<pipeline::OneForwardOneBackward, D>(two, pipeline::Checkpointing::except_last);
  staged<pipeline::ZeroBubbleH1, D>(two, pipeline::Checkpointing::never);
}
const Case stages_case{"stages on GPUs train as one network does, on an uneven last micro-batch, too", &stages};

#ifndef __CUDACC__
/// Both stages as one model.
struct Marked {
  static constexpr graph::Value forward(Input<Dim<"batch">, 5> x) {
    return nn::linear(nn::stage_boundary(tanh(nn::linear(x, 6, "lower"))), 3, "head");
  }
};

/// Steps of two stages on three micro-batches take the bytes that were estimated for them.
template <class S> void stages_held_as_estimated(std::string_view schedule, pipeline::Checkpointing checkpointing) {
  const auto rule = optim::clip_norm(optim::MomentumSgd{{.rate = 0.1}}, 0.5);
  using Labels = Tensor<std::int64_t, D, Shape<dyn>>;
  using Step = training::WholeStep<Marked, double, std::remove_const_t<decltype(nn::cross_entropy)>,
                                   std::remove_const_t<decltype(rule)>, compile::argument_t<Labels>>;
  parallel::fit::Estimator estimator{parallel::fit::traces_of<Step, double, D>, {{"batch", 8}}};
  const auto report =
      estimator.report({.pipeline = 2, .schedule = schedule, .micro_batches = 3, .checkpointing = checkpointing});
  const std::vector<D> two{D{0}, D{1}};
  const auto x = random_rows<double, 5>(D{0}, 8);
  const auto label = random_labels(D{1}, 8, 3);
  std::vector<std::int64_t> before{};
  for (const D& device : two) synchronize(device), before.push_back(memory_allocated(device));
  pipeline::BasicPipeline<S, double, D, Lower, Head> stages{two};
  auto step = train_step(stages, nn::cross_entropy, rule,
                         {.micro_batches = 3, .checkpointing = checkpointing, .timeout_ms = 60'000});
  static_cast<void>(step(x, label));
  for (const D& device : two) synchronize(device), reset_peak_memory_stats(device);
  static_cast<void>(step(x, label));
  const auto outside = static_cast<std::int64_t>(gpu::allowance_bytes + gpu::allowance_counters * sizeof(unsigned));
  for (std::size_t rank = 0; rank < 2; ++rank) {
    synchronize(two[rank]);
    require_equal(max_memory_allocated(two[rank]) - before[rank], report.ranks[rank].bytes.total() - outside);
    require_equal(memory_allocated(two[rank]) - before[rank], report.ranks[rank].held_bytes);
  }
}
inline void estimated_stages() {
  if (!has_two()) return;
  stages_held_as_estimated<pipeline::OneForwardOneBackward>("1f1b", pipeline::Checkpointing::except_last);
  stages_held_as_estimated<pipeline::ZeroBubbleH1>("zb-h1", pipeline::Checkpointing::never);
}
const Case estimated_stages_case{"stages on GPUs hold the bytes that were estimated without a device",
                                 &estimated_stages};
#endif

inline void mixed() {
  using Places = pipeline::On<Cpu, D>;
  staged<pipeline::OneForwardOneBackward, Places>(Places{Cpu{0}, D{0}}, pipeline::Checkpointing::never);
}
const Case mixed_case{"a stage on a host device and one on a GPU train as one network does on the GPU", &mixed};

}} // namespace twill::test::ranks_suite
