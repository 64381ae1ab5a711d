// SPDX-License-Identifier: Apache-2.0
//
// Models cut into stages against themselves as one network: values that skip a stage, weights that two stages use, clipping
// over all stages, states, and cuts that the library finds, against all that there are.
#include "tests/support/late_device.hpp"
#include "tests/support/test_seed.hpp"
#include "tests/training/models.hpp"

#include <twill/nn/linear.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/nn/weight_norm.hpp>
#include <twill/optim/clip.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/model/parallel_model.hpp>
#include <twill/parallel/pipeline/model/balance.hpp>
#include <twill/parallel/pipeline/model/state.hpp>
#include <twill/parallel/pipeline/run/step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace twill;
using namespace twill::test;
using graph::Value;

/// Three stages: `low` is made by the first and used by the last, `shared` is a weight of both.
struct Skipping {
  static constexpr Value forward(Input<Dim<"batch">, 5> x) {
    const Value shared = nn::parameter(x.graph(), "shared", {6, 6}, nn::initialise::fan_in_uniform(6));
    const Value low = nn::stage_boundary(tanh(nn::linear(tanh(nn::linear(x, 6, "lower")), shared)));
    const Value normed = nn::weight_norm(x.graph(), "middle", {6, 6}, nn::initialise::fan_in_uniform(6));
    const Value middle = nn::stage_boundary(tanh(nn::linear(low, normed)) * exp(low));
    return nn::linear(tanh(nn::linear(middle, shared)) + low, 3, "head");
  }
};
using Skips = pipeline::Cut<Skipping>;
template <class S, class C> using Stages = pipeline::BasicPipeline<S, double, Cpu, C>;

constexpr auto counts_of_middle = pipeline::stage_counts<pipeline::CutStage<Skips, 1, double>>;
static_assert(counts_of_middle.given == 0 && counts_of_middle.received == 1 && counts_of_middle.results == 2);
static_assert(pipeline::stage_counts<pipeline::CutStage<Skips, 2, double>>.received == 2);

template <class P> void check_as_one_network(int micro_batches, std::int64_t rows, const std::vector<Cpu>& devices) {
  INFO(P::ScheduleType::name << ", seed " << test_seed());
  using Model = Skipping;
  manual_seed(Cpu{0}, 7);
  nn::Network<Model, Cpu, double> whole{Cpu{0}};
  manual_seed(Cpu{0}, 7);
  P pipe{devices};
  const auto compare = [&](auto pick, double tolerance) {
    std::set<std::string> names;
    for (const auto& given : whole.parameters())
      pipe.for_each_stage([&](auto& network) {
        for (const auto& own : network.parameters()) {
          if (own.name != given.name) continue;
          names.insert(std::string{own.name});
          const auto* const mine = static_cast<const double*>(pick(own).data());
          const auto* const theirs = static_cast<const double*>(pick(given).data());
          double worst = 0;
          for (std::size_t i = 0; i < given.buffer.bytes() / sizeof(double); ++i)
            worst = std::fmax(worst, std::fabs(mine[i] - theirs[i]));
          INFO(own.name);
          CHECK(worst <= tolerance);
        }
      });
    CHECK(names.size() == whole.parameters().size());
  };
  const auto weights = [](const auto& view) { return view.buffer; };
  compare(weights, 0);

  const auto x = random_rows<double, 5>(Cpu{0}, rows);
  const auto labels = random_labels(Cpu{0}, rows, 3);
  const auto rule = optim::clip_norm(optim::MomentumSgd{{.rate = 0.1}}, 0.25);
  auto step = train_step(pipe, nn::cross_entropy, rule, {.micro_batches = micro_batches});
  training::Optimiser optimiser{whole, rule};
  for (int i = 0; i < 3; ++i) {
    whole.zero_grad();
    const auto loss = nn::cross_entropy(whole.forward(x), labels);
    loss.backward();
    CHECK(step.gradients(x, labels) == Approx(loss.item()).epsilon(1e-12));
    compare([](const auto& view) { return view.gradient; }, 1e-12);
    CHECK(step(x, labels) == Approx(loss.item()).epsilon(1e-12));
    optimiser.step();
    CHECK(step.gradient_norm() == Approx(optimiser.state(optim::gradient_norm_state)).epsilon(1e-12));
    compare(weights, 1e-12);
  }
}

TEST_CASE("a model that is cut trains as it does as one network, skips and ties included", "[parallel][PAR-6]") {
  static_assert(Stages<pipeline::ZeroBubbleH1, Skips>::stages == 3);
  const std::vector<Cpu> three{Cpu{0}, Cpu{1}, Cpu{0}};
  check_as_one_network<Stages<pipeline::ZeroBubbleH1, Skips>>(4, 11, three); // 3, 3, 3, 2
}

/// Two replicas of three ranks, each with its own stage and nothing else, see 6 and 5 rows.
TEST_CASE("ranks step their own stages over a communicator, replicas beside each other", "[parallel][PAR-7]") {
  INFO("seed " << test_seed());
  const auto x = random_rows<double, 5>(Cpu{0}, 11);
  const auto labels = random_labels(Cpu{0}, 11, 3);
  const auto rule = optim::clip_norm(optim::MomentumSgd{{.rate = 0.1}}, 0.25);
  manual_seed(Cpu{0}, 7);
  nn::Network<Skipping, Cpu, double> whole{Cpu{0}};
  manual_seed(Cpu{0}, 7);
  const RandomDraw draw = generator(Cpu{0}).next();
  training::Optimiser optimiser{whole, rule};
  double expected = 0;
  for (int i = 0; i < 2; ++i) {
    whole.zero_grad();
    const auto loss = nn::cross_entropy(whole.forward(x), labels);
    expected = loss.item();
    loss.backward();
    optimiser.step();
  }
  std::vector<double> differences(6, 1);
  std::vector<double> losses(6, 0);
  std::vector<std::size_t> messages(6, 0);
  auto world = parallel::thread_communicators(std::vector<Cpu>{Cpu{0}, Cpu{1}, Cpu{0}, Cpu{1}, Cpu{0}, Cpu{1}},
                                              {.timeout_ms = 60000});
  parallel::run_ranks(world, [&](auto& member) {
    using OnMesh = parallel::Mesh<parallel::Axis<"data", 2>, parallel::Axis<"pipe", 3>>;
    using C = std::remove_cvref_t<decltype(member)>;
    ParallelModel<OnMesh, pipeline::ZeroBubbleH1, C, Skips, double> pipe{member, draw};
    const int replica = pipe.groups().template coordinate<"data">();
    const parallel::Rows own{replica == 0 ? 0 : 6, replica == 0 ? 6 : 5};
    auto step = train_step(pipe, nn::cross_entropy, rule, {.micro_batches = 3});
    const auto rank = static_cast<std::size_t>(member.rank());
    for (int i = 0; i < 2; ++i) losses[rank] = step(parallel::rows_of<0>(x, own), parallel::rows_of<0>(labels, own));
    double worst = 0;
    pipe.pipeline().for_each_stage([&](auto& network) {
      for (const auto& mine : network.parameters())
        for (const auto& theirs : whole.parameters())
          for (std::size_t k = 0; mine.name == theirs.name && k < theirs.buffer.bytes() / sizeof(double); ++k)
            worst = std::fmax(worst, std::fabs(static_cast<const double*>(mine.buffer.data())[k] -
                                               static_cast<const double*>(theirs.buffer.data())[k]));
    });
    differences[rank] = worst;
    const pipeline::Timeline timeline = step.timeline();
    messages[rank] = pipeline::messages_of(timeline).size();
    if (!std::ranges::equal(timeline.ranks[rank % 3], step.events(), {}, &pipeline::TimedAction::action,
                            &pipeline::TimedAction::action))
      throw ValueError("a timeline of all ranks has other actions than a rank's own");
  });
  CHECK(messages == std::vector<std::size_t>(6, 2 * 2 * 3)); // two neighbours, there and back, three micro-batches
  for (const double loss : losses) CHECK(loss == Approx(expected).epsilon(1e-12));
  for (const double difference : differences) CHECK(difference < 1e-12);
}

TEST_CASE("devices whose streams run late train with the bits of those at once, forward passes kept or not",
          "[parallel][PAR-6]") {
  INFO("seed " << test_seed());
  using P = Stages<pipeline::ZeroBubbleH1, Skips>;
  using OnLate = pipeline::BasicPipeline<pipeline::ZeroBubbleH1, double, Late, Skips>;
  P pipe{{Cpu{0}, Cpu{1}, Cpu{0}}};
  OnLate late{{Late{0}, Late{1}, Late{2}}};
  pipeline::load_state_dict(late, pipeline::state_dict(pipe));
  const auto rule = optim::clip_norm(optim::MomentumSgd{{.rate = 0.1}}, 0.25);
  auto step = train_step(pipe, nn::cross_entropy, rule, {.micro_batches = 4});
  auto late_step =
      train_step(late, nn::cross_entropy, rule, {.micro_batches = 4, .checkpointing = [](int stage) {
                                                   using enum pipeline::Checkpointing;
                                                   return stage == 0 ? always : stage == 1 ? never : except_last;
                                                 }});
  for (std::uint64_t i = 0; i < 2; ++i) {
    const auto x = random_rows<double, 5>(Cpu{0}, 10, i);
    const auto labels = random_labels(Cpu{0}, 10, 3, i);
    CHECK(late_step(x.to(Late{3}), labels.to(Late{3})) == step(x, labels));
  }
  const nn::StateDict expected = pipeline::state_dict(pipe);
  const nn::StateDict found = pipeline::state_dict(late);
  for (const auto& [name, tensor] : expected.entries()) {
    INFO(name);
    CHECK(std::ranges::equal(found.find(name)->bytes, tensor.bytes));
  }
}

TEST_CASE("cuts found by balance train the same", "[parallel][PAR-6]") {
  using P = Stages<pipeline::OneForwardOneBackward, pipeline::Balanced<Skipping, 2>>;
  check_as_one_network<P>(3, 8, {Cpu{0}, Cpu{1}});
}

TEST_CASE("the state of a pipeline has each name once and loads into one network and back", "[parallel][IO-3]") {
  Stages<pipeline::ZeroBubbleH1, Skips> pipe{{Cpu{0}, Cpu{1}, Cpu{0}}};
  nn::Network<Skipping, Cpu, double> whole{Cpu{0}};
  nn::load_state_dict(whole, pipeline::state_dict(pipe));
  for (const auto& view : whole.parameters())
    pipe.for_each_stage([&](auto& network) {
      for (const auto& own : network.parameters())
        if (own.name == view.name) CHECK(std::memcmp(own.buffer.data(), view.buffer.data(), view.buffer.bytes()) == 0);
    });
  Stages<pipeline::ZeroBubbleH1, Skips> other{{Cpu{0}, Cpu{1}, Cpu{0}}};
  const nn::StateDict state = nn::state_dict(whole);
  pipeline::load_state_dict(other, state);
  const nn::StateDict again = pipeline::state_dict(other);
  REQUIRE(again.size() == state.size());
  for (const auto& [name, tensor] : state.entries()) CHECK(std::ranges::equal(again.find(name)->bytes, tensor.bytes));
  const std::vector<nn::StateDict::Entry> entries(state.entries().begin() + 1, state.entries().end());
  CHECK_THROWS_WITH(pipeline::load_state_dict(other, nn::StateDict{entries}), "load_state_dict: missing: shared");
}

// ---- balance --------------------------------------------------------------------------------------------------------
/// Layers of very different size.
struct Uneven {
  static constexpr Value forward(Input<Dim<"batch">, 8> x) {
    Value y = tanh(nn::linear(x, 64, "a"));
    y = tanh(nn::linear(y, 32, "b"));
    y = tanh(nn::linear(y, 16, "c"));
    y = tanh(nn::linear(y, 64, "d"));
    y = tanh(nn::linear(y, 8, "e"));
    return nn::linear(y, 4, "f");
  }
};

/// The slowest of three stages, for all pairs of places and for those that were chosen.
constexpr bool is_best_of_all() {
  graph::Graph graph = nn::ModelStage<Uneven, float, true>::make_graph();
  const int root = nn::ModelStage<Uneven, float, true>::build(graph).id();
  const compile::Cuts cuts{graph, root, pipeline::SizesOr32<nn::Size<"batch", 100>>::of(graph)};
  const auto slowest = [&](int first, int second) {
    const auto cost = [&](int from, int to) {
      return cuts.work(from, to) + pipeline::operations_per_byte_sent * (cuts.crossing(from) + cuts.crossing(to));
    };
    return std::max({cost(0, first), cost(first, second), cost(second, cuts.count() - 1)});
  };
  const List<int> chosen = pipeline::detail::balanced(cuts, 3);
  for (int first = 1; first + 1 < cuts.count(); ++first)
    for (int second = first + 1; second + 1 < cuts.count(); ++second)
      if (slowest(first, second) < slowest(chosen[0], chosen[1])) return false;
  return chosen.size() == 2 && chosen[0] < chosen[1];
}
static_assert(is_best_of_all());

// ---- what cannot be cut ---------------------------------------------------------------------------------------------
/// Its first stage makes nothing that the second would not make by itself.
struct CutTooEarly {
  static constexpr Value forward(Input<Dim<"batch">, 5> x) {
    const Value rows = x;
    return nn::linear(nn::stage_boundary(tanh(rows)), 3, "head");
  }
};
constexpr graph::Problem problem_of_early_cut() {
  using First = pipeline::CutStage<pipeline::Cut<CutTooEarly>, 0, double>;
  graph::Graph graph = First::make_graph();
  static_cast<void>(First::build(graph));
  return graph.fault.problem;
}
static_assert(problem_of_early_cut() == graph::Problem::stage_before_a_boundary_makes_nothing_for_the_next);
static_assert(pipeline::Balanced<Uneven, 60>::places<float>().fault.problem ==
              graph::Problem::model_has_fewer_places_to_cut_than_stages_need);

TEST_CASE("a report tells the work of each stage, and what it sends", "[parallel][PAR-6]") {
  constexpr auto reports = pipeline::stage_reports<Skips, float, nn::Size<"batch", 10>>;
  static_assert(reports.size() == 3);
  CHECK(reports[0].weight_bytes == 4 * (5 * 6 + 6 + 6 * 6));
  CHECK(reports[0].sent_bytes == 4 * 10 * 6);
  CHECK(reports[1].sent_bytes == 2 * 4 * 10 * 6);
  CHECK(reports[2].sent_bytes == 0);
  CHECK(reports[2].operations > 2 * 10 * (6 * 6 + 6 * 3));
}

} // namespace
