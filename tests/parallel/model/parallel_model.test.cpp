// SPDX-License-Identifier: Apache-2.0
//
// Models on meshes of ranks: replicas, stages, divided layers and every combination of them take the steps of one network.
#include "tests/parallel/model/parallel_model.suite.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/nn/batch_norm.hpp>
#include <twill/nn/stored_tensor.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <catch2/catch.hpp>

#include <random>
#include <string>
#include <type_traits>
#include <vector>

using namespace twill;
using namespace twill::test;
using parallel::Axis;
using parallel::Mesh;

namespace {

std::vector<parallel::ThreadCommunicator<Cpu>> group_of(int ranks) {
  std::vector<Cpu> devices;
  for (int rank = 0; rank < ranks; ++rank) devices.push_back(Cpu{rank % Cpu::count()});
  return parallel::thread_communicators(devices, {.timeout_ms = 60'000});
}

template <class M, int N, class S = pipeline::ZeroBubbleH1>
void check_ranks(int ranks, const WholeRun& whole, pipeline::StepOptions options,
                 pipeline::ReplicaOptions replicas = {}) {
  auto world = group_of(ranks);
  parallel::run_ranks(world, [&](auto& member) { check_on_mesh<M, S, N>(member, whole, options, replicas); });
}

TEST_CASE("replicas of pipelines of divided layers take the steps of one network", "[parallel][PAR-7]") {
  const std::uint64_t seed = test_seed();
  INFO("seed " << seed);
  const WholeRun whole = train_one_network(seed, 11, 3);
  check_ranks<Cube, 2>(8, whole, {.micro_batches = 3}); // 6 rows and 5: 2, 2, 2 and 2, 2, 1
  check_ranks<Cube, 2>(8, whole, {.micro_batches = 3, .checkpointing = pipeline::Checkpointing::always},
                       {.buckets = {.first_bucket_bytes = 1, .bucket_bytes = 1}});
  check_ranks<Mesh<Axis<"tensor", 2>, Axis<"pipe", 2>>, 2>(4, whole, {.micro_batches = 4});
}

TEST_CASE("the same model trains on a mesh of any of the axes", "[parallel][PAR-7]") {
  const std::uint64_t seed = test_seed();
  INFO("seed " << seed);
  const WholeRun whole = train_one_network(seed, 11, 2);
  check_ranks<Mesh<Axis<"data">, Axis<"pipe", 2>>, 1>(4, whole, {.micro_batches = 3});
  check_ranks<Mesh<Axis<"pipe">>, 1>(2, whole, {.micro_batches = 4});
  check_ranks<Mesh<Axis<"data", 3>>, 1>(3, whole, {.micro_batches = 2}); // 4, 4 and 3 rows
  check_ranks<Mesh<Axis<"data", 2>, Axis<"tensor">>, 2>(4, whole, {.micro_batches = 2});
  check_ranks<Mesh<Axis<"tensor", 2>>, 2>(2, whole, {.micro_batches = 1});
}

TEST_CASE("replicas reduce a stage's gradients in one call for each bucket", "[parallel][PAR-4][PAR-7]") {
  const WholeRun whole = train_one_network(1, 8, 1);
  std::vector<std::int64_t> calls(4);
  for (const std::int64_t limit : {1, 1 << 20}) {
    auto world = group_of(4);
    parallel::run_ranks(world, [&](auto& member) {
      using C = std::remove_cvref_t<decltype(member)>;
      using Grid = Mesh<Axis<"data">, Axis<"pipe", 2>>;
      ParallelModel<Grid, pipeline::ZeroBubbleH1, C, Meshed<1>, double> model{
          member, whole.draw, {.buckets = {.first_bucket_bytes = limit, .bucket_bytes = limit}}};
      auto step = train_step(model, nn::cross_entropy, meshed_rule, {.micro_batches = 2});
      step(parallel::rows_of<0>(whole.x, {0, 4}), parallel::rows_of<0>(whole.labels, {0, 4}));
      calls[static_cast<std::size_t>(member.rank())] =
          model.groups().template along<"data">().traffic()[parallel::Operation::all_reduce].calls;
    });
    // The last stage adds up the loss, too.
    CHECK(calls == (limit == 1 ? std::vector<std::int64_t>{3, 6, 3, 6} : std::vector<std::int64_t>{1, 2, 1, 2}));
  }
}

/// Normalises by the statistics of all replicas, in both stages.
struct Normalised {
  static constexpr graph::Value forward(Input<Dim<"batch">, 6> x) {
    const graph::Value y = nn::batch_norm(nn::linear(x, 5, "first"), "norm1", {.is_synchronised = true});
    const graph::Value z = nn::linear(nn::stage_boundary(tanh(y)), 4, "second");
    return nn::linear(tanh(nn::batch_norm(z, "norm2", {.is_synchronised = true})), 3, "head");
  }
};

TEST_CASE("replicas of pipelines normalise by all their rows, and start from the buffers of the first",
          "[parallel][PAR-7]") {
  const WholeRun data = train_one_network(test_seed(), 11, 1);
  manual_seed(Cpu{0}, 3);
  const RandomDraw draw = generator(Cpu{0}).next();
  manual_seed(Cpu{0}, 3);
  nn::Network<Normalised, Cpu, double> whole{Cpu{0}};
  training::Optimiser optimiser{whole, meshed_rule};
  for (int i = 0; i < 2; ++i) {
    whole.zero_grad();
    nn::cross_entropy(whole.forward(data.x), data.labels).backward();
    optimiser.step();
  }
  const nn::StateDict wanted = nn::state_dict(whole);
  auto world = group_of(4);
  parallel::run_ranks(world, [&](auto& member) {
    using C = std::remove_cvref_t<decltype(member)>;
    using Grid = Mesh<Axis<"data", 2>, Axis<"pipe", 2>>;
    ParallelModel<Grid, pipeline::OneForwardOneBackward, C, Normalised, double> model{member, draw};
    const int replica = model.groups().template coordinate<"data">();
    const parallel::Rows own = rows_of_replica(11, replica, 2);
    auto step = train_step(model, nn::cross_entropy, meshed_rule, {.micro_batches = 1});
    for (int i = 0; i < 2; ++i) {
      if (replica == 1) // nobody asks for the second one's
        model.pipeline().for_each_stage([](auto& network) {
          for (const auto& view : network.parameters())
            if (view.name.ends_with("running_mean")) *static_cast<double*>(view.buffer.data()) = 9;
        });
      step(parallel::rows_of<0>(data.x, own), parallel::rows_of<0>(data.labels, own));
    }
    require_close(state_dict(model), wanted);
  });
}

struct Lower {
  static constexpr graph::Value forward(Input<Dim<"batch">, 6> x) {
    return tanh(nn::linear(x, 5, "lower")); // draws nothing
  }
};
struct Upper {
  static constexpr graph::Value forward(Input<Dim<"batch">, 5> x) {
    return nn::linear(nn::dropout(x, 0.25), 3, "upper");
  }
};

/// The states of a rule that belong to weights.
nn::StateDict without_count(const nn::StateDict& states) {
  nn::StateDict chosen{};
  for (const auto& [name, tensor] : states.entries())
    if (name != "steps" && !name.starts_with(training::options_prefix)) chosen.add(name, tensor);
  return chosen;
}

TEST_CASE("stages that are models of their own train as they do one after the other on one device",
          "[parallel][PAR-7]") {
  const WholeRun data = train_one_network(test_seed(), 9, 1);
  manual_seed(Cpu{0}, 5);
  const RandomDraw draw = generator(Cpu{0}).next();
  manual_seed(Cpu{0}, 5);
  nn::Network<Lower, Cpu, double> lower{Cpu{0}};
  nn::Network<Upper, Cpu, double> upper{Cpu{0}};
  const optim::Adam rule{{.rate = 0.1}};
  training::Optimiser of_lower{lower, rule};
  training::Optimiser of_upper{upper, rule};
  for (int i = 0; i < 2; ++i) {
    lower.zero_grad(), upper.zero_grad();
    nn::cross_entropy(upper.forward(lower.forward(data.x)), data.labels).backward();
    of_lower.step(), of_upper.step();
  }
  nn::StateDict wanted{};
  const nn::StateDict first = nn::state_dict(lower);
  const nn::StateDict second = nn::state_dict(upper);
  for (const auto& [name, tensor] : first.entries()) wanted.add("0." + name, tensor);
  for (const auto& [name, tensor] : second.entries()) wanted.add("1." + name, tensor);
  auto world = group_of(4);
  parallel::run_ranks(world, [&](auto& member) {
    using C = std::remove_cvref_t<decltype(member)>;
    using Grid = Mesh<Axis<"pipe", 2>, Axis<"data", 2>>;
    ParallelModel<Grid, pipeline::OneForwardOneBackward, C, pipeline::InStages<Lower, Upper>, double> model{member,
                                                                                                            draw};
    const parallel::Rows own = rows_of_replica(9, model.groups().template coordinate<"data">(), 2);
    auto step = train_step(model, nn::cross_entropy, rule, {.micro_batches = 2});
    for (int i = 0; i < 2; ++i) step(parallel::rows_of<0>(data.x, own), parallel::rows_of<0>(data.labels, own));
    const nn::StateDict state = state_dict(model);
    require_close(state, wanted);
    load_state_dict(model, state);
    // What the rule keeps has the names of the weights, the numbers of the stages among them.
    const nn::StateDict kept = step.state_dict();
    for (const char* name : {"lower.weight.exp_avg", "lower.bias.exp_avg_sq"})
      require_of_mesh(kept.find(join_text({"0.", name})) != nullptr, "a state has no number of its stage");
    require_close(without_count(nn::part(kept, "1.")), without_count(of_upper.state_dict()));
    step.load_state_dict(kept);
    require_of_mesh(message_of<ValueError>([&] {
                      step.load_state_dict(nn::part(kept, "1."));
                    }).starts_with("load_state_dict: the state of a rule has no count of 'steps'"),
                    "a part of a state is loaded");
  });
}

TEST_CASE("a rank that throws is named on every rank of a mesh", "[parallel][PAR-7][PAR-9]") {
  const WholeRun whole = train_one_network(1, 8, 1);
  auto world = group_of(8);
  std::vector<std::string> told(8);
  const auto run = [&] {
    parallel::run_ranks(world, [&](auto& member) {
      using C = std::remove_cvref_t<decltype(member)>;
      ParallelModel<Cube, pipeline::ZeroBubbleH1, C, Meshed<2>, double> model{member, whole.draw};
      const auto loss = [&](const auto& output, const auto& labels) {
        if (member.rank() == 6) throw ValueError("no more");
        return nn::cross_entropy(output, labels);
      };
      auto step = train_step(model, loss, meshed_rule, {.micro_batches = 2});
      try {
        step(parallel::rows_of<0>(whole.x, {0, 4}), parallel::rows_of<0>(whole.labels, {0, 4}));
      } catch (const Error& error) {
        told[static_cast<std::size_t>(member.rank())] = error.what();
        throw;
      }
    });
  };
  CHECK(message_of<ValueError>(run) == "no more");
  for (std::size_t rank = 0; rank < told.size(); ++rank) {
    CAPTURE(rank);
    if (rank != 6) CHECK(told[rank].starts_with("rank 6 on cpu"));
    CHECK(told[rank].ends_with("no more"));
  }
}

TEST_CASE("meshes and models that do not fit are refused with both numbers", "[parallel][PAR-7]") {
  const auto refusal = [](int ranks, auto make) {
    auto world = group_of(ranks);
    return message_of<ValueError>([&] { parallel::run_ranks(world, make); });
  };
  using C = parallel::ThreadCommunicator<Cpu>;
  CHECK(refusal(3, [](C& member) {
          ParallelModel<Mesh<Axis<"pipe">>, pipeline::ZeroBubbleH1, C, Meshed<1>, double>{member, RandomDraw{}};
        }) == "ParallelModel: ZB-H1 with 2 stages runs on 2 ranks, the axis \"pipe\" has 3");
  CHECK(refusal(3, [](C& member) {
          ParallelModel<Mesh<Axis<"tensor">>, pipeline::ZeroBubbleH1, C, Meshed<2>, double>{member, RandomDraw{}};
        }) == "rank_group: the axis 'tensor' has 2 ranks, the communicator 3");
  // A replica without enough rows ends the step on all.
  const WholeRun whole = train_one_network(1, 4, 1);
  CHECK(refusal(2, [&](C& member) {
          ParallelModel<Mesh<Axis<"data">>, pipeline::ZeroBubbleH1, C, Meshed<1>, double> model{member, whole.draw};
          auto step = train_step(model, nn::cross_entropy, meshed_rule, {.micro_batches = 2});
          const parallel::Rows own{member.rank() == 0 ? 0 : 3, member.rank() == 0 ? 3 : 1};
          step(parallel::rows_of<0>(whole.x, own), parallel::rows_of<0>(whole.labels, own));
        }) == "train_step: 1 rows make 1 micro-batches, not 2");
}

} // namespace
