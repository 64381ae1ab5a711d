// SPDX-License-Identifier: Apache-2.0
//
// Models whose ranks are processes: data parallel with nothing, states, gradients or weights shared out, layers and
// sequences divided, stages of a pipeline beside replicas and with divided layers. Every process plays the same with
// threads for ranks, too: losses, norms and weights have the same bits; and they are one network's within 1e-12. Part of
// suites.mpi.cpp.

#include "tests/parallel/mpi/models.hpp"
#include "tests/parallel/model/experts.suite.hpp"
#include "tests/parallel/model/parallel_model.suite.hpp"
#include "tests/parallel/model/ring_attention.suite.hpp"
#include "tests/support/four_devices.hpp"
#include "tests/training/models.hpp"

#include <twill/memory/statistics.hpp>
#include <twill/nn/batch_norm.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/data/distributed_step.hpp>
#include <twill/parallel/data/reproducible_replicas.hpp>
#include <twill/parallel/fit/estimate.hpp>
#include <twill/parallel/group/rank_group.hpp>
#include <twill/parallel/pipeline/model/cut.hpp>
#include <twill/parallel/pipeline/run/reproducible_rank_step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

using namespace twill;
using namespace twill::parallel;

namespace {

using Numbers = std::vector<double>;

void append(Numbers& all, const nn::StateDict& state) {
  for (const auto& [name, tensor] : state.entries()) {
    const auto count = static_cast<std::size_t>(tensor.shape.elements());
    all.resize(all.size() + count);
    std::memcpy(all.data() + all.size() - count, tensor.bytes.data(), count * sizeof(double));
  }
}

/// What `play(communicator)` gives has the same bits for this process and for the thread of the same rank.
template <class Play> Numbers play_both(const std::string& what, MpiCommunicator<>& world, Play play) {
  auto own = world.split(0, world.rank());
  const Numbers found = play(own);
  std::vector<Cpu> devices{};
  for (int rank = 0; rank < world.size(); ++rank) devices.push_back(Cpu{rank});
  auto threads = thread_communicators(devices, {.timeout_ms = 60'000});
  Numbers wanted{};
  run_ranks(threads, [&](auto& communicator) {
    Numbers each = play(communicator);
    if (communicator.rank() == world.rank()) wanted = std::move(each);
  });
  test::require_of_mesh(found.size() == wanted.size() && found.size() > 1, what + ": another number of numbers");
  test::require_of_mesh(std::memcmp(found.data(), wanted.data(), found.size() * sizeof(double)) == 0,
                        what + ": processes and threads differ in a bit");
  barrier(world); // nobody is inside a call of its own meanwhile
  return found;
}

void require_near(const std::string& what, const Numbers& found, const Numbers& wanted) {
  test::require_of_mesh(found.size() == wanted.size(), what + ": another number of numbers");
  for (std::size_t i = 0; i < found.size(); ++i)
    test::require_close(found[i], wanted[i], what + ", number " + std::to_string(i));
}

// Data parallelism ---------------------------------------------------------------------------------------------------

struct Normed {
  static constexpr auto forward(Input<Dim<"batch">, 6> x) {
    const auto hidden = nn::batch_norm(nn::linear(x, 9, "hidden"), "norm", {.is_synchronised = true});
    return nn::linear(nn::dropout(tanh(hidden), 0.25), 3, "output");
  }
};

nn::Network<Normed, Cpu, double> network_on(Cpu device, std::uint64_t seed) {
  return nn::Network<Normed, Cpu, double>{device, {}, RandomDraw{seed, 0}};
}
const optim::Adam adam{{.rate = 0.01, .epsilon = 1e-4}};

template <int Stage> void check_data_parallel(MpiCommunicator<>& world, const test::WholeRun& batch) {
  const std::string what = "zero<" + std::to_string(Stage) + ">";
  auto one = network_on(Cpu{0}, 7);
  auto step_of_one = train_step(one, nn::cross_entropy, adam);
  Numbers wanted{};
  manual_seed(Cpu{0}, 5);
  for (int i = 0; i < 3; ++i) wanted.push_back(step_of_one(batch.x, batch.labels).item());
  append(wanted, nn::state_dict(one));
  const auto play = [&](auto& communicator) {
    const Cpu device = communicator.device();
    auto network = network_on(device, 7 + static_cast<std::uint64_t>(communicator.rank())); // rank 0's count
    DistributedDataParallel model{network, communicator, {.buckets = {100, 500}}};
    auto step = train_step(model, nn::cross_entropy, adam, zero<Stage>);
    const Rows own = test::rows_of_replica(batch.x.shape()[0], communicator.rank(), communicator.size());
    const auto x = rows_of<0>(batch.x, own).to(device);
    const auto labels = rows_of<0>(batch.labels, own).to(device);
    manual_seed(device, 5);
    Numbers found{};
    for (int i = 0; i < 3; ++i) found.push_back(step(x, labels).item());
    step.gather_weights();
    append(found, nn::state_dict(network));
    return found;
  };
  require_near(what, play_both(what, world, play), wanted);
}

/// Processes take the bytes and send what was estimated for them.
template <int Stage> void check_estimate(MpiCommunicator<>& world, const test::WholeRun& batch) {
  using Step = training::WholeStep<Normed, double, std::remove_const_t<decltype(nn::cross_entropy)>, optim::Adam,
                                   compile::argument_t<Tensor<std::int64_t, Cpu, Shape<dyn>>>>;
  const std::int64_t rows = batch.x.shape()[0];
  const BucketOptions buckets{100, 500};
  fit::Estimator estimator{fit::traces_of<Step, double>, {{"batch", rows}}, {}, buckets};
  const fit::Report report = estimator.report({.data = world.size(), .zero = Stage});
  static_cast<void>(play_both("estimates of zero<" + std::to_string(Stage) + ">", world, [&](auto& communicator) {
    const Cpu device = communicator.device();
    const Rows own = test::rows_of_replica(rows, communicator.rank(), communicator.size());
    const auto x = rows_of<0>(batch.x, own).to(device).contiguous();
    const auto labels = rows_of<0>(batch.labels, own).to(device).contiguous();
    const std::int64_t before = memory_allocated(device);
    auto network = network_on(device, 7);
    DistributedDataParallel model{network, communicator, {.buckets = buckets}};
    auto step = train_step(model, nn::cross_entropy, adam, zero<Stage>);
    static_cast<void>(step(x, labels).item());
    reset_peak_memory_stats(device);
    static_cast<void>(step(x, labels).item());
    const fit::RankReport& expected = report.ranks[static_cast<std::size_t>(communicator.rank())];
    const Numbers found{static_cast<double>(max_memory_allocated(device) - before),
                        static_cast<double>(memory_allocated(device) - before)};
    test::require_of_mesh(
        found == Numbers{static_cast<double>(expected.bytes.total()), static_cast<double>(expected.held_bytes)},
        "the bytes of a process are not those that were estimated");
    return found;
  }));
}

/// Under the policy processes have the bits of one rank with all shards, and within rounding the numbers of one batch.
void check_reproducible(MpiCommunicator<>& world, const test::WholeRun& batch) {
  auto whole = network_on(Cpu{0}, 7);
  auto step_of_whole = train_step(whole, nn::cross_entropy, adam);
  manual_seed(Cpu{0}, 5);
  for (int i = 0; i < 20; ++i) static_cast<void>(step_of_whole(batch.x, batch.labels));
  Numbers near{};
  append(near, nn::state_dict(whole));
  const auto play = [&](auto& communicator) {
    const Cpu device = communicator.device();
    auto network = network_on(device, 7);
    DistributedDataParallel model{network, communicator};
    auto step = train_step(model, nn::cross_entropy, adam, zero<2>, Reproducible{.shards = 5});
    const Rows own = step.rows_of(batch.x.shape()[0]);
    const auto x = rows_of<0>(batch.x, own).to(device);
    const auto labels = rows_of<0>(batch.labels, own).to(device);
    manual_seed(device, 5);
    for (int i = 0; i < 20; ++i) static_cast<void>(step(x, labels));
    Numbers found{};
    append(found, nn::state_dict(network));
    return found;
  };
  const Numbers found = play_both("reproducible", world, play);
  auto one = thread_communicators(std::vector{Cpu{0}});
  const Numbers wanted = play(one[0]);
  test::require_of_mesh(std::memcmp(found.data(), wanted.data(), found.size() * sizeof(double)) == 0,
                        "reproducible: processes and one rank differ in a bit");
  require_near("reproducible", found, near);
  barrier(world);
}

// Divided layers -----------------------------------------------------------------------------------------------------

/// Pairs of ranks, each a divided model of its own that draws what the one network drew.
void check_divided(MpiCommunicator<>& world, const test::WholeRun& batch) {
  const auto play = [&](auto& communicator) {
    const Cpu device = communicator.device();
    auto pair = communicator.split(communicator.rank() / 2, communicator.rank());
    kernel::RankGroups groups{};
    groups.add(rank_group<test::Meshed<2>::Ranks>(pair));
    nn::Network<test::Meshed<2>, Cpu, double> network{device, groups, batch.draw};
    auto step = train_step(network, nn::cross_entropy, test::meshed_rule);
    Numbers found{};
    for (std::size_t i = 0; i < batch.losses.size(); ++i)
      found.push_back(step(batch.x.to(device), batch.labels.to(device)).item());
    append(found, nn::state_dict(network)); // this rank's part
    return found;
  };
  Numbers found = play_both("divided layers", world, play);
  found.resize(batch.losses.size());
  require_near("divided layers", found, batch.losses);
}

/// Pairs of ranks, whose tokens travel to their experts.
void check_experts(MpiCommunicator<>& world) {
  const auto play = [](auto& communicator) {
    auto pair = communicator.split(communicator.rank() / 2, communicator.rank());
    const test::ExpertNumbers own = test::train_divided_experts<test::ExchangedExperts<2>>(pair);
    Numbers found = own.losses;
    found.insert(found.end(), own.results.begin(), own.results.end());
    for (const Numbers& weight : own.weights) found.insert(found.end(), weight.begin(), weight.end());
    return found;
  };
  const test::ExpertNumbers one = test::train_whole_experts(Cpu{0});
  Numbers found = play_both("experts", world, play), wanted = one.losses;
  wanted.insert(wanted.end(), one.results.begin(), one.results.end());
  found.resize(wanted.size());
  require_near("experts", found, wanted);
}

// Divided sequences --------------------------------------------------------------------------------------------------

/// Ring attention of pairs of ranks, with its gradients.
void check_ring(MpiCommunicator<>& world) {
  using Pair = test::RingModel<2, true, graph::SequenceDivision::zigzag>;
  const auto whole = [](const std::string& name) {
    const bool is_wide = name == "v" || name == "g";
    std::vector<double> values(
        static_cast<std::size_t>(Pair::batch * Pair::heads * Pair::rows * (is_wide ? Pair::value_width : Pair::width)));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i) * name[0]);
    return values;
  };
  static_cast<void>(play_both("ring attention", world, [&](auto& communicator) {
    auto pair = communicator.split(communicator.rank() / 2, communicator.rank());
    return test::run_ring<Pair>(pair, whole);
  }));
}

// Pipelines ----------------------------------------------------------------------------------------------------------

template <class M, pipeline::ScheduleKind S, int N>
void check_pipeline(const std::string& what, MpiCommunicator<>& world, const test::WholeRun& batch) {
  Numbers wanted{};
  for (std::size_t i = 0; i < batch.losses.size(); ++i) wanted.insert(wanted.end(), {batch.losses[i], batch.norms[i]});
  append(wanted, batch.state);
  const auto play = [&]<Communicator C>(C& communicator) {
    ParallelModel<M, S, C, test::Meshed<N>, double> model{communicator, batch.draw};
    Rows own{0, batch.x.shape()[0]};
    if constexpr (M::template has<"data">)
      own = test::rows_of_replica(own.count, model.groups().template coordinate<"data">(),
                                  model.groups().mesh().template size<"data">());
    const Cpu device = communicator.device();
    const auto x = rows_of<0>(batch.x, own).to(device);
    const auto labels = rows_of<0>(batch.labels, own).to(device);
    auto step = train_step(model, nn::cross_entropy, test::meshed_rule, {.micro_batches = 3});
    Numbers found{};
    for (std::size_t i = 0; i < batch.losses.size(); ++i) {
      found.push_back(step(x, labels).item());
      found.push_back(step.gradient_norm());
    }
    append(found, state_dict(model)); // of all ranks
    return found;
  };
  require_near(what, play_both(what, world, play), wanted);
}

/// Both stages use one weight, and the second one's shards meet.
struct Dropped {
  static constexpr auto forward(Input<Dim<"batch">, 6> x) {
    const auto shared = nn::parameter(x.graph(), "shared", {6, 6}, nn::initialise::fan_in_uniform(6));
    const auto lower = nn::dropout(tanh(nn::linear(x, shared)), 0.25);
    const auto upper = nn::batch_norm(nn::linear(lower, 6, "upper"), "norm", {.is_synchronised = true});
    return nn::linear(tanh(nn::linear(upper, shared)), 3, "output");
  }
};

/// Under the policy pairs of ranks, a stage each, have the bits of one device.
void check_reproducible_pipeline(MpiCommunicator<>& world, const test::WholeRun& batch) {
  constexpr Reproducible policy{.shards = 5};
  nn::Network<Dropped, Cpu, double> whole{Cpu{0}, {}, RandomDraw{7, 0}};
  auto step_of_whole = train_step(whole, nn::cross_entropy, adam, policy);
  auto pair = world.split(world.rank() / 2, world.rank());
  pipeline::BasicPipeline<pipeline::OneForwardOneBackward, double, Cpu, pipeline::CutBefore<Dropped, "upper">> pipe{
      Cpu{0}, pair.rank(), RandomDraw{7, 0}};
  auto step = train_step(pipe, pair, nn::cross_entropy, adam, policy);
  const auto losses_of = [&](auto& each) {
    Numbers losses{};
    manual_seed(Cpu{0}, 5);
    for (int i = 0; i < 10; ++i) losses.push_back(each(batch.x, batch.labels).item());
    return losses;
  };
  bool agree = losses_of(step) == losses_of(step_of_whole);
  const nn::StateDict found = step.state_dict(), wanted = step_of_whole.state_dict();
  for (const auto& [name, tensor] : wanted.entries())
    agree = agree && found.find(name) != nullptr && std::ranges::equal(found.find(name)->bytes, tensor.bytes);
  test::require_of_mesh(agree, "reproducible: a pipeline of processes and one device differ in a bit");
}

} // namespace

void check_models() {
  auto world = mpi_communicator(MPI_COMM_WORLD, Cpu{}, {.timeout_ms = 60'000});
  const test::WholeRun batch = test::train_one_network(7, 11, 3);
  check_data_parallel<0>(world, batch);
  check_data_parallel<1>(world, batch);
  check_data_parallel<2>(world, batch);
  check_data_parallel<3>(world, batch);
  check_estimate<0>(world, batch);
  check_estimate<1>(world, batch);
  check_estimate<2>(world, batch);
  check_estimate<3>(world, batch);
  check_reproducible(world, batch);
  check_reproducible_pipeline(world, batch);
  check_divided(world, batch);
  check_experts(world);
  check_ring(world);
  using Replicated = Mesh<Axis<"data">, Axis<"pipe", 2>>; // one replica of two processes, two of four
  check_pipeline<Replicated, pipeline::OneForwardOneBackward, 1>("1F1B beside replicas", world, batch);
  using Divided = Mesh<Axis<"pipe", 2>, Axis<"tensor", 2>>;
  if (world.size() == 4)
    check_pipeline<Divided, pipeline::ZeroBubbleH1, 2>("ZB-H1 of divided layers", world, batch);
  else
    check_pipeline<Replicated, pipeline::ZeroBubbleH1, 1>("ZB-H1", world, batch);
}

void check_cube() {
  auto world = mpi_communicator(MPI_COMM_WORLD, Cpu{}, {.timeout_ms = 60'000});
  test::check_cube(world);
}
