// SPDX-License-Identifier: Apache-2.0
//
// Pipelines under `parallel::Reproducible` against one device, bit by bit: an MLP with dropout and a value that skips a
// stage, in two and three stages, by several schedules, with uneven shards; and what is refused.

#include "tests/parallel/data/reproducible_runs.hpp"

#include <twill/nn/dropout.hpp>
#include <twill/nn/linear.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/pipeline/model/cut.hpp>
#include <twill/parallel/pipeline/model/state.hpp>
#include <twill/parallel/pipeline/run/reproducible_step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>

#include "tests/support/message_of.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace twill;
using twill::test::message_of;

namespace {

/// The value `low` is read three times, by two of three stages.
struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 7> x) {
    const auto low = nn::dropout(tanh(nn::linear(x, 19, "hidden")), 0.3);
    const auto high = relu(nn::linear(low, 19, "more")) + low;
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
};

template <class Step> void train(Step& step, Run& run) {
  manual_seed_all(11); // of dropout
  for (int i = 0; i < steps; ++i) {
    const auto data = batch(i);
    const auto loss = step(data.x, data.label);
    if constexpr (requires { loss.item(); })
      run.losses.push_back(loss.item());
    else
      run.losses.push_back(loss);
  }
  run.states = step.state_dict();
}

const Run& one() {
  static const Run run = [] {
    Run made{};
    manual_seed_all(7);
    Network network{Cpu{0}};
    auto step = train_step(network, nn::cross_entropy, rule, policy);
    train(step, made);
    made.weights = nn::state_dict(network);
    return made;
  }();
  return run;
}

template <class S, class Cut> void check_as_one_device(const std::vector<Cpu>& devices) {
  INFO(S::name << ", " << devices.size() << " stages");
  Run run{};
  manual_seed_all(7);
  Pipe<S, Cut> pipe{devices};
  // region: step
  auto step = train_step(pipe, nn::cross_entropy, rule, parallel::Reproducible{.shards = 5});
  // end region
  train(step, run);
  CHECK(run.losses == one().losses);
  CHECK(test::are_equal(pipeline::state_dict(pipe), one().weights));
  CHECK(test::are_equal(run.states, one().states));
  std::apply([](auto&... stage) { CHECK((stage.is_idle() && ...)); }, pipe.all());
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
  check_as_one_device<pipeline::GPipe, Halves>(two);
  check_as_one_device<pipeline::GPipe, Thirds>(three);
  check_as_one_device<pipeline::OneForwardOneBackward, Thirds>(three);
}

TEST_CASE("the order in which a schedule computes gradients is not in the bits", "[parallel][PAR-9]") {
  check_as_one_device<LastFirst, Thirds>(three);
  check_as_one_device<pipeline::ZeroBubbleH1, Halves>(two);
}
