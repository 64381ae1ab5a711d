// SPDX-License-Identifier: Apache-2.0
//
// Pipelines under `parallel::Reproducible` against one device, bit by bit: an MLP with dropout, batch norm and a value that
// skips a stage, in two and three stages, by several schedules, with uneven shards; in one process, and with ranks of their own; and
// a run that is interrupted.

#include "tests/parallel/data/reproducible_runs.hpp"

#include <twill/nn/batch_norm.hpp>
#include <twill/nn/dropout.hpp>
#include <twill/nn/linear.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/pipeline/model/cut.hpp>
#include <twill/parallel/pipeline/model/state.hpp>
#include <twill/parallel/pipeline/run/reproducible_rank_step.hpp>
#include <twill/parallel/pipeline/run/reproducible_step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

using namespace twill;

namespace {

/// The value `low` is read three times, by two of three stages, and a shard's statistics are its own.
struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 7> x) {
    const auto low = nn::dropout(tanh(nn::linear(x, 19, "hidden")), 0.3);
    const auto high = relu(nn::batch_norm(nn::linear(low, 19, "more"), "norm")) + low;
    return nn::linear(high * low, 5, "output");
  }
};
using Halves = pipeline::CutBefore<Mlp, "output">;
using Thirds = pipeline::CutBefore<Mlp, "more", "output">;
using Network = nn::Network<Mlp, Cpu, float>;
template <class S, class Cut> using Pipe = pipeline::BasicPipeline<S, float, Cpu, Cut>;

constexpr parallel::Reproducible policy{.shards = 5};
constexpr int steps = 20;
const optim::Adam rule{{.rate = 0.01}};

/// 23 rows: shards of 4, 5, 4, 5 and 5.
test::LabelledRows<float, 7> batch(int step) { return {23, 5, Cpu{0}, static_cast<unsigned>(step % 7)}; }

struct Run {
  std::vector<double> losses{};
  nn::StateDict weights{};
  nn::StateDict states{};
  RandomDraw draw{};

  friend bool operator==(const Run& left, const Run& right) {
    return left.losses == right.losses && left.draw == right.draw && test::are_equal(left.weights, right.weights) &&
           test::are_equal(left.states, right.states);
  }
};

/// The steps after those of `from`, up to a number.
template <class Step> Run train(Step& step, const auto& weights, int last, Run from) {
  if (!from.losses.empty()) step.load_state_dict(from.states), generator(Cpu{0}).set_state(from.draw);
  for (auto i = static_cast<int>(from.losses.size()); i < last; ++i) {
    const auto data = batch(i);
    from.losses.push_back(step(data.x, data.label).item());
  }
  return {from.losses, weights(), step.state_dict(), generator(Cpu{0}).state()};
}

Run on_one_device(int last, const Run& from = {}) {
  manual_seed_all(7);
  Network network{Cpu{0}};
  if (!from.losses.empty()) nn::load_state_dict(network, from.weights);
  auto step = train_step(network, nn::cross_entropy, rule, policy);
  return train(
      step, [&] { return nn::state_dict(network); }, last, from);
}

const Run& one() {
  static const Run run = on_one_device(steps);
  return run;
}

template <class S, class Cut>
Run on_pipeline(const std::vector<Cpu>& devices, pipeline::Checkpointing mode = pipeline::Checkpointing::never,
                int last = steps, const Run& from = {}) {
  manual_seed_all(7);
  Pipe<S, Cut> pipe{devices};
  if (!from.losses.empty()) pipeline::load_state_dict(pipe, from.weights);
  auto step = train_step(pipe, nn::cross_entropy, rule, {.micro_batches = 5, .checkpointing = mode}, policy);
  const Run run = train(
      step, [&] { return pipeline::state_dict(pipe); }, last, from);
  std::apply([](auto&... stage) { CHECK((stage.is_idle() && ...)); }, pipe.all()); // nothing of a step is left behind
  return run;
}

/// The end of one rank that has its own stages, with the states of all.
template <class S, class Cut> std::vector<Run> on_ranks(int ranks) {
  manual_seed_all(7);
  const RandomDraw weights = generator(Cpu{0}).next();
  std::vector<std::unique_ptr<Pipe<S, Cut>>> pipes{};
  for (int rank = 0; rank < ranks; ++rank) pipes.push_back(std::make_unique<Pipe<S, Cut>>(Cpu{rank}, rank, weights));
  std::vector<Run> ends(pipes.size());
  auto world = test::thread_group(ranks);
  parallel::run_ranks(world, [&](auto& communicator) {
    Pipe<S, Cut>& pipe = *pipes[static_cast<std::size_t>(communicator.rank())];
    auto step = train_step(pipe, communicator, nn::cross_entropy, rule, policy);
    Run& end = ends[static_cast<std::size_t>(communicator.rank())];
    for (int i = 0; i < steps; ++i) {
      const auto data = batch(i);
      end.losses.push_back(step(data.x, data.label).item());
    }
    end.weights = pipeline::state_dict(pipe);
    end.states = step.state_dict();
  });
  return ends;
}

/// All forward passes, then the backward passes of all micro-batches, the last one first.
struct LastFirst : pipeline::GPipe {
  static constexpr std::string_view name = "last first";
  static constexpr List<pipeline::Action> order(int rank, int, int micro_batches) {
    List<pipeline::Action> order;
    for (int i = 0; i < micro_batches; ++i) order.push_back(pipeline::forward(rank, i));
    for (int i = micro_batches; i-- > 0;) order.push_back(pipeline::backward(rank, i));
    return order;
  }
};

const std::vector<Cpu> two{Cpu{0}, Cpu{1}};
const std::vector<Cpu> three{Cpu{0}, Cpu{1}, Cpu{0}};

} // namespace

TEST_CASE("a pipeline of two or three stages trains to the bits of one device", "[parallel][PAR-9]") {
  CHECK(on_pipeline<pipeline::GPipe, Halves>(two) == one());
  CHECK(on_pipeline<pipeline::OneForwardOneBackward, Thirds>(three) == one());
  CHECK(on_pipeline<pipeline::OneForwardOneBackward, Thirds>(three, pipeline::Checkpointing::always) == one());
}

TEST_CASE("the order in which a schedule computes gradients is not in the bits", "[parallel][PAR-9]") {
  CHECK(on_pipeline<LastFirst, Thirds>(three) == one());
}

TEST_CASE("a pipeline that is made and stepped draws as often as one network", "[parallel][PAR-9]") {
  const auto draws = [](const auto& run) {
    manual_seed_all(7);
    run();
    return generator(Cpu{0}).state().step;
  };
  const auto expected = draws([] { static_cast<void>(on_one_device(2)); });
  CHECK(expected == 3); // the weights, and dropout of each step
  CHECK(draws([] { static_cast<void>(on_pipeline<pipeline::GPipe, Thirds>(three, {}, 2)); }) == expected);
  CHECK(draws([] { Pipe<pipeline::GPipe, Thirds> stages{Cpu{0}, 0, generator(Cpu{0}).next()}; }) == 1);
}

TEST_CASE("ranks with stages of their own train to the bits of one device", "[parallel][PAR-9]") {
  std::size_t weights = 0;
  for (const Run& rank : on_ranks<pipeline::ZeroBubbleH1, Halves>(2)) {
    CHECK(rank.losses == one().losses);
    CHECK(test::are_equal(rank.states, one().states));
    for (const auto& [name, tensor] : rank.weights.entries())
      CHECK(std::ranges::equal(tensor.bytes, one().weights.find(name)->bytes));
    weights += rank.weights.size();
  }
  CHECK(weights == one().weights.size());
}

TEST_CASE("a run interrupted in a pipeline goes on elsewhere to the same bits", "[parallel][PAR-9]") {
  const Run half = on_pipeline<pipeline::GPipe, Halves>(two, pipeline::Checkpointing::never, 10);
  CHECK(on_one_device(steps, half) == one());
  CHECK(on_pipeline<pipeline::OneForwardOneBackward, Thirds>(three, pipeline::Checkpointing::never, steps, half) ==
        one());
}
