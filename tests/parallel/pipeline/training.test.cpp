// SPDX-License-Identifier: Apache-2.0
//
// Pipelines of models against one network of the whole: gradients in float64, losses, updated weights, uneven micro-batches,
// two stages on a rank.
#include "tests/support/test_seed.hpp"
#include "tests/training/models.hpp"

#include <twill/memory/statistics.hpp>
#include <twill/nn/linear.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/pipeline/model/state.hpp>
#include <twill/parallel/pipeline/run/costs.hpp>
#include <twill/parallel/pipeline/run/step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace twill;
using namespace twill::test;
using graph::Value;
using pipeline::Schedule;

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

struct Short {
  static constexpr Value forward(Input<Dim<"batch">, 5> x) {
    return nn::linear(tanh(nn::linear(x, 6, "lower")), 3, "head");
  }
};

// region: stages
template <class S> using FourStages = pipeline::BasicPipeline<S, double, Cpu, Lower, Hidden, Hidden, Head>;
// end region
template <class S> using TwoStages = pipeline::BasicPipeline<S, double, Cpu, Lower, Head>;

/// Calls `f(own, given)` for each weight of the stages and the one of the whole that it is: the order is that of the model.
template <class Reference, class P, class F> void for_each_pair(const Reference& whole, P& pipe, F f) {
  const auto given = whole.parameters();
  std::size_t next = 0;
  pipe.for_each_stage([&](auto& network) {
    for (const auto& own : network.parameters()) f(own, given.at(next++));
  });
  CHECK(next == given.size());
}

template <class Reference, class P> void share_weights(const Reference& whole, P& pipe) {
  for_each_pair(whole, pipe, [](const auto& own, const auto& given) {
    copy_bytes(Cpu{0}, own.buffer.data(), Cpu{0}, given.buffer.data(), given.buffer.bytes(), CopyOptions{});
  });
}

/// The largest difference of what `pick` takes from each weight, relative to the largest value.
template <class Reference, class P, class Pick> double difference(const Reference& whole, P& pipe, Pick pick) {
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

template <class P, class Model>
void check_training(int micro_batches, std::int64_t rows, std::vector<Cpu> devices,
                    pipeline::Checkpointing checkpointing = pipeline::Checkpointing::never) {
  INFO(P::ScheduleType::name << ", " << micro_batches << " micro-batches of " << rows << " rows, seed " << test_seed());
  const auto x = random_rows<double, 5>(Cpu{0}, rows);
  const auto labels = random_labels(Cpu{0}, rows, 3);
  nn::Network<Model, Cpu, double> whole{Cpu{0}};
  P pipe{devices};
  share_weights(whole, pipe);
  const optim::MomentumSgd rule{{.rate = 0.1}};
  // region: step
  auto step =
      train_step(pipe, nn::cross_entropy, rule, {.micro_batches = micro_batches, .checkpointing = checkpointing});
  // end region
  training::Optimiser optimiser{whole, rule};
  std::vector<double> expected_losses{};
  std::vector<training::StepLoss<double, Cpu>> losses{}; // known, so that later steps overwrite none
  for (int i = 0; i < 3; ++i) {
    whole.zero_grad();
    const auto loss = nn::cross_entropy(whole.forward(x), labels);
    loss.backward();
    const double expected = loss.item();
    CHECK(step.gradients(x, labels) == Approx(expected).epsilon(1e-12));
    CHECK(difference(whole, pipe, [](const auto& view) { return view.gradient; }) < 1e-12);
    const auto own = step(x, labels);
    static_assert(std::is_same_v<decltype(own), const training::StepLoss<double, Cpu>>);
    expected_losses.push_back(expected), losses.push_back(own);
    optimiser.step();
    CHECK(difference(whole, pipe, [](const auto& view) { return view.buffer; }) < 1e-12);
  }
  for (std::size_t i = 0; i < losses.size(); ++i) CHECK(losses[i].item() == Approx(expected_losses[i]).epsilon(1e-12));
  CHECK(step.timeline().ranks.size() == devices.size());
  std::apply([](auto&... stage) { CHECK((stage.is_idle() && ...)); }, pipe.all()); // nothing of a step is left behind
}

template <class S> void check_four(int micro_batches, std::int64_t rows, std::vector<Cpu> devices) {
  check_training<FourStages<S>, Whole>(micro_batches, rows, std::move(devices));
}
template <class S> void check_two(int micro_batches, std::int64_t rows, std::vector<Cpu> devices) {
  check_training<TwoStages<S>, Short>(micro_batches, rows, std::move(devices));
}

TEST_CASE("a pipeline of four stages trains as one network does", "[parallel][PAR-6]") {
  const std::vector<Cpu> four{Cpu{0}, Cpu{1}, Cpu{0}, Cpu{1}};
  check_four<pipeline::GPipe>(4, 12, four);
  check_four<pipeline::OneForwardOneBackward>(5, 13, four); // 3, 3, 3, 3, 1
  check_four<pipeline::OneForwardOneBackward>(1, 6, four);
  check_four<pipeline::ZeroBubbleH1>(5, 13, four);
  check_four<pipeline::ZeroBubbleH2>(7, 20, four); // 3, ..., 3, 2
}

TEST_CASE("two stages on each rank train as one network does", "[parallel][PAR-6]") {
  check_four<pipeline::Interleaved<2>>(4, 11, {Cpu{0}, Cpu{1}});
  check_four<pipeline::ZeroBubbleV>(4, 11, {Cpu{0}, Cpu{1}});
}

TEST_CASE("a pipeline of two stages trains as one network does", "[parallel][PAR-6]") {
  const std::vector<Cpu> two{Cpu{0}, Cpu{1}};
  check_two<pipeline::GPipe>(3, 8, two); // 3, 3, 2
  check_two<pipeline::OneForwardOneBackward>(3, 8, two);
  check_two<pipeline::Interleaved<1>>(2, 7, two);
  check_two<pipeline::ZeroBubbleH1>(3, 8, two);
  check_two<pipeline::ZeroBubbleH2>(3, 8, two);
  check_two<pipeline::ZeroBubbleV>(2, 7, {Cpu{0}});
}

/// One's own schedule: GPipe, but the last micro-batch goes back first.
struct LastInFirstOut {
  static constexpr std::string_view name = "last in, first out";
  static constexpr int stages_per_rank = 1;
  static constexpr int rank_of(int stage, int) { return stage; }
  static constexpr List<pipeline::Action> order(int rank, int, int micro_batches) {
    List<pipeline::Action> order;
    for (int m = 0; m < micro_batches; ++m) order.push_back(pipeline::forward(rank, m));
    for (int m = micro_batches; m-- > 0;) order.push_back(pipeline::backward(rank, m));
    return order;
  }
};
static_assert(pipeline::verified<LastInFirstOut, 4, 8>);

TEST_CASE("a schedule of one's own is proved and trains like any other", "[parallel][PAR-6]") {
  check_two<LastInFirstOut>(3, 8, {Cpu{0}, Cpu{1}});
}

TEST_CASE("forward passes that are computed again give the same gradients", "[parallel][PAR-6]") {
  using pipeline::Checkpointing;
  const std::vector<Cpu> two{Cpu{0}, Cpu{1}};
  for (const Checkpointing checkpointing : {Checkpointing::except_last, Checkpointing::always}) {
    check_training<TwoStages<pipeline::OneForwardOneBackward>, Short>(3, 8, two, checkpointing);
    check_training<TwoStages<pipeline::ZeroBubbleH1>, Short>(3, 8, two, checkpointing);
  }
}

/// Bytes of a stage's device between the actions of one micro-batch of four rows: more than before it, but for gradients.
template <class D> void check_bytes_held(D device) {
  using P = pipeline::BasicPipeline<pipeline::ZeroBubbleH1, double, D, Lower, Hidden, Hidden, Head>;
  using S = std::tuple_element_t<1, typename P::Stages>;
  const pipeline::StageCost counted = pipeline::stage_bytes<P>(std::array{Dims(4, 5)})[1];
  S stage{device};
  const auto symbols = S::symbols_of_rows(4);
  std::int64_t before = 0;
  const auto held = [&] {
    synchronize(device);
    return memory_allocated(device) - before;
  };
  before = held();
  stage.context = stage.network.context_of_next_run();
  stage.inputs[0] = stage.make_inputs(symbols);
  CHECK(held() == 512);
  stage.forward(0, {}, symbols, 0);
  CHECK(counted.kept_bytes == 1024); // x, and y for the derivative of tanh
  CHECK(held() == counted.kept_bytes);
  stage.outputs.clear(); // the result itself is what is kept
  CHECK(held() == counted.kept_bytes);
  stage.cotangents[0] = stage.make_cotangents(symbols);
  stage.input_gradient(0);
  stage.input_gradients.clear();
  CHECK(counted.between_bytes == 1024); // x, and dy (1 - y y)
  CHECK(held() == counted.between_bytes);
  stage.weight_gradient(0);
  stage.network.zero_grad();
  CHECK(held() == 0);
}

TEST_CASE("a stage holds the bytes that its programs read, between all its actions", "[parallel][PAR-6]") {
  check_bytes_held(Meta{7});
  check_bytes_held(Cpu{1});
}

/// What each rank holds at most of its micro-batches, when it carries out its part of a schedule alone.
template <class S> void check_peaks(int ranks, int micro_batches, pipeline::Checkpointing checkpointing) {
  INFO(S::name << ", checkpointing " << static_cast<int>(checkpointing));
  using P = pipeline::BasicPipeline<S, double, Meta, Lower, Hidden, Hidden, Head>;
  std::vector<Meta> devices;
  for (int rank = 0; rank < ranks; ++rank) devices.push_back(Meta{20 + rank});
  P pipe{devices};
  const Schedule schedule = pipeline::table<S>(ranks, micro_batches);
  const auto predicted =
      pipeline::peak_kept_bytes(schedule, pipeline::stage_bytes<P>(std::array{Dims(4, 5)}, checkpointing));
  for (int rank = 0; rank < ranks; ++rank) {
    const Meta device = devices[static_cast<std::size_t>(rank)];
    const std::int64_t before = memory_allocated(device);
    std::int64_t peak = 0;
    const auto carry_out = [&](auto& stage, const pipeline::Action& action) {
      using Stage = std::remove_cvref_t<decltype(stage)>;
      const auto symbols = Stage::symbols_of_rows(4);
      const int m = action.micro_batch;
      if (action.work == pipeline::Work::forward) {
        stage.context = stage.network.context_of_next_run();
        pipeline::Blocks<Meta> given;
        if (Stage::counts.given > 0)
          given.push_back({{}, nullptr, Dims(4, 5), DType::float64}); // the batch is not the stage's
        else
          stage.inputs[m] = stage.make_inputs(symbols);
        stage.forward(m, std::move(given), symbols, 0,
                      checkpointing == pipeline::Checkpointing::always ? pipeline::Recompute::yes
                                                                       : pipeline::Recompute::no);
      } else {
        if (action.work != pipeline::Work::weight_gradient) stage.cotangents[m] = stage.make_cotangents(symbols);
        if (action.work == pipeline::Work::backward) stage.backward(m);
        if constexpr (requires { stage.input_gradient(m); }) {
          if (action.work == pipeline::Work::input_gradient) stage.input_gradient(m);
          if (action.work == pipeline::Work::weight_gradient) stage.weight_gradient(m);
        }
      }
      stage.outputs.clear();
      stage.input_gradients.clear();
      stage.network.zero_grad();
      peak = std::max(peak, memory_allocated(device) - before);
    };
    for (const pipeline::Action& action : schedule.order(rank)) {
      int number = 0;
      std::apply([&](auto&... stage) { ((number++ == action.stage ? carry_out(stage, action) : void()), ...); },
                 pipe.all());
    }
    CHECK(peak == predicted[static_cast<std::size_t>(rank)]);
  }
}

TEST_CASE("the peak of what each rank keeps is known to the byte, for all schedules", "[parallel][PAR-6]") {
  using pipeline::Checkpointing;
  for (const Checkpointing checkpointing : {Checkpointing::never, Checkpointing::always}) {
    check_peaks<pipeline::GPipe>(4, 6, checkpointing);
    check_peaks<pipeline::OneForwardOneBackward>(4, 6, checkpointing);
    check_peaks<pipeline::Interleaved<2>>(2, 6, checkpointing);
    check_peaks<pipeline::ZeroBubbleH1>(4, 6, checkpointing);
    check_peaks<pipeline::ZeroBubbleH2>(4, 8, checkpointing);
    check_peaks<pipeline::ZeroBubbleV>(2, 6, checkpointing);
  }
}

TEST_CASE("rows that do not fill the micro-batches, and devices of another number, are refused", "[parallel][PAR-6]") {
  FourStages<pipeline::GPipe> pipe{{Cpu{0}, Cpu{0}, Cpu{1}, Cpu{1}}};
  auto step = train_step(pipe, nn::cross_entropy, optim::Sgd{{.rate = 0.1}}, {.micro_batches = 4});
  CHECK_THROWS_WITH(step(random_rows<double, 5>(Cpu{0}, 3), random_labels(Cpu{0}, 3, 3)),
                    "train_step: 3 rows make 3 micro-batches, not 4");
  CHECK_THROWS_WITH(FourStages<pipeline::GPipe>({Cpu{0}, Cpu{1}}),
                    "Pipeline: GPipe with 4 stages runs on 4 devices, got 2");
  CHECK_THROWS_WITH(FourStages<pipeline::GPipe>(Cpu{0}, 4, RandomDraw{}), "Pipeline: a rank is in [0, 4), got 4");
}

TEST_CASE("the state of one rank's stages has the names of the whole, and loads from the state of all",
          "[parallel][IO-3]") {
  FourStages<pipeline::GPipe> all{{Cpu{0}, Cpu{0}, Cpu{0}, Cpu{0}}};
  FourStages<pipeline::GPipe> one{Cpu{0}, 2, RandomDraw{}};
  const nn::StateDict expected = pipeline::state_dict(all);
  pipeline::load_state_dict(one, expected);
  const nn::StateDict found = pipeline::state_dict(one);
  REQUIRE(found.size() == 2);
  for (const auto& [name, tensor] : found.entries()) {
    INFO(name);
    CHECK(name.starts_with("2.hidden."));
    REQUIRE(expected.find(name) != nullptr);
    CHECK(std::ranges::equal(tensor.bytes, expected.find(name)->bytes));
  }
}

} // namespace

TEST_CASE("a pipeline refuses an empty batch", "[parallel][PAR-6]") {
  TwoStages<pipeline::GPipe> stages{{Cpu{0}, Cpu{1}}};
  auto step = train_step(stages, nn::cross_entropy, optim::Sgd{}, {.micro_batches = 1});
  CHECK_THROWS_WITH(step(random_rows<double, 5>(Cpu{0}, 0), random_labels(Cpu{0}, 0, 3)),
                    Catch::StartsWith("train_step(Lower): the batch is empty"));
}
