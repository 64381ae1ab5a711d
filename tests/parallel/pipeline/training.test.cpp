// SPDX-License-Identifier: Apache-2.0
//
// Pipelines of models against one network of the whole: gradients in float64, losses, updated weights, uneven micro-batches,
// two stages on a rank.
#include "tests/train/models.hpp"

#include <twill/nn/linear.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/pipeline/schedules.hpp>
#include <twill/parallel/pipeline/step.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

namespace {

using namespace twill;
using namespace twill::test;
using graph::Value;

struct Lower {
  static constexpr Value forward(Input<Dim<"batch">, 5> x) { return tanh(nn::linear(x, 6, "lower")); }
};
struct Hidden {
  static constexpr Value forward(Input<Dim<"batch">, 6> x) { return tanh(nn::linear(x, 6, "hidden")); }
};
struct Head {
  static constexpr Value forward(Input<Dim<"batch">, 6> x) { return nn::linear(x, 3, "head"); }
};
struct Whole {
  static constexpr Value forward(Input<Dim<"batch">, 5> x) {
    const Value low = tanh(nn::linear(x, 6, "lower"));
    return nn::linear(tanh(nn::linear(tanh(nn::linear(low, 6, "one")), 6, "two")), 3, "head");
  }
};

template <class S> using FourStages = pipeline::BasicPipeline<S, double, Cpu, Lower, Hidden, Hidden, Head>;
using Reference = nn::Network<Whole, Cpu, double>;

/// Calls `f(own, given)` for each weight of the stages and the one of the whole that it is: the order is that of the model.
template <class P, class F> void for_each_pair(const Reference& whole, P& pipe, F f) {
  const auto given = whole.parameters();
  std::size_t next = 0;
  pipe.for_each_stage([&](auto& network) {
    for (const auto& own : network.parameters()) f(own, given.at(next++));
  });
  CHECK(next == given.size());
}

template <class P> void share_weights(const Reference& whole, P& pipe) {
  for_each_pair(whole, pipe, [](const auto& own, const auto& given) {
    copy_bytes(Cpu{0}, own.buffer.data(), Cpu{0}, given.buffer.data(), given.buffer.bytes(), CopyOptions{});
  });
}

/// The largest difference of what `pick` takes from each weight, relative to the largest value.
template <class P, class Pick> double difference(const Reference& whole, P& pipe, Pick pick) {
  double worst = 0;
  double largest = 0;
  for_each_pair(whole, pipe, [&](const auto& own, const auto& given) {
    const auto* mine = static_cast<const double*>(pick(own).data());
    const auto* theirs = static_cast<const double*>(pick(given).data());
    for (std::size_t i = 0; i < given.buffer.bytes() / sizeof(double); ++i) {
      worst = std::fmax(worst, std::fabs(mine[i] - theirs[i]));
      largest = std::fmax(largest, std::fabs(theirs[i]));
    }
  });
  return worst / largest;
}

template <class S> void check_training(int micro_batches, std::int64_t rows, std::vector<Cpu> devices) {
  INFO(S::name << ", " << micro_batches << " micro-batches of " << rows << " rows, seed " << fresh_seed());
  const auto x = random_rows<double, 5>(Cpu{0}, rows);
  const auto labels = random_labels(Cpu{0}, rows, 3);
  Reference whole{Cpu{0}};
  FourStages<S> pipe{devices};
  share_weights(whole, pipe);
  const optim::MomentumSgd rule{{.rate = 0.1}};
  auto step = train_step(pipe, nn::cross_entropy, rule, {.micro_batches = micro_batches});
  train::Optimiser optimiser{whole, rule};
  for (int i = 0; i < 3; ++i) {
    whole.zero_grad();
    const auto loss = nn::cross_entropy(whole.forward(x), labels);
    loss.backward();
    const double expected = loss.item();
    CHECK(step.gradients(x, labels) == Approx(expected).epsilon(1e-12));
    CHECK(difference(whole, pipe, [](const auto& view) { return view.gradient; }) < 1e-12);
    CHECK(step(x, labels) == Approx(expected).epsilon(1e-12));
    optimiser.step();
    CHECK(difference(whole, pipe, [](const auto& view) { return view.buffer; }) < 1e-12);
  }
  CHECK(step.timeline().ranks.size() == devices.size());
  std::apply(
      [](auto&... stage) { // nothing of a step is left behind
        CHECK((stage.kept.empty() && ...));
        CHECK((stage.inputs.empty() && ...));
        CHECK((stage.outputs.empty() && ...));
        CHECK((stage.cotangents.empty() && ...));
        CHECK((stage.input_gradients.empty() && ...));
      },
      pipe.all());
}

TEST_CASE("a pipeline of four stages trains as one network does", "[parallel][PAR-6]") {
  const std::vector<Cpu> four{Cpu{0}, Cpu{1}, Cpu{0}, Cpu{1}};
  check_training<pipeline::GPipe>(4, 12, four);
  check_training<pipeline::OneForwardOneBackward>(5, 13, four); // 3, 3, 3, 3, 1
  check_training<pipeline::OneForwardOneBackward>(1, 6, four);
}

TEST_CASE("two stages on each rank train as one network does", "[parallel][PAR-6]") {
  check_training<pipeline::Interleaved<2>>(4, 11, {Cpu{0}, Cpu{1}});
}

TEST_CASE("rows that do not fill the micro-batches, and devices of another number, are refused", "[parallel][PAR-6]") {
  FourStages<pipeline::GPipe> pipe{{Cpu{0}, Cpu{0}, Cpu{1}, Cpu{1}}};
  auto step = train_step(pipe, nn::cross_entropy, optim::Sgd{{.rate = 0.1}}, {.micro_batches = 4});
  CHECK_THROWS_WITH(step(random_rows<double, 5>(Cpu{0}, 3), random_labels(Cpu{0}, 3, 3)),
                    "train_step: 3 rows make 3 micro-batches, not 4");
  CHECK_THROWS_WITH(FourStages<pipeline::GPipe>({Cpu{0}, Cpu{1}}),
                    "Pipeline: GPipe with 4 stages runs on 4 devices, got 2");
}

} // namespace
