// SPDX-License-Identifier: Apache-2.0
//
// Models on meshes of ranks: replicas, stages, divided layers and every combination of them take the steps of one network.
#include "tests/parallel/parallel_model.suite.hpp"
#include "tests/support/message_of.hpp"

#include <twill/parallel/ranks.hpp>
#include <twill/parallel/threads.hpp>

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
  const std::uint64_t seed = std::random_device{}();
  INFO("seed " << seed);
  const WholeRun whole = train_one_network(seed, 11, 3);
  check_ranks<Cube, 2>(8, whole, {.micro_batches = 3}); // 6 rows and 5: 2, 2, 2 and 2, 2, 1
  check_ranks<Cube, 2>(8, whole, {.micro_batches = 3, .checkpointing = pipeline::Checkpointing::always},
                       {.buckets = {.first_bucket_bytes = 1, .bucket_bytes = 1}});
  check_ranks<Mesh<Axis<"tensor", 2>, Axis<"pipe", 2>>, 2>(4, whole, {.micro_batches = 4});
}

TEST_CASE("the same model trains on a mesh of any of the axes", "[parallel][PAR-7]") {
  const std::uint64_t seed = std::random_device{}();
  INFO("seed " << seed);
  const WholeRun whole = train_one_network(seed, 11, 2);
  check_ranks<Mesh<Axis<"data">, Axis<"pipe", 2>>, 1>(4, whole, {.micro_batches = 3});
  check_ranks<Mesh<Axis<"pipe">>, 1>(2, whole, {.micro_batches = 4});
  check_ranks<Mesh<Axis<"data", 3>>, 1>(3, whole, {.micro_batches = 2}); // 4, 4 and 3 rows
  check_ranks<Mesh<Axis<"data", 2>, Axis<"tensor">>, 2>(4, whole, {.micro_batches = 2});
  check_ranks<Mesh<Axis<"tensor", 2>>, 2>(2, whole, {.micro_batches = 1});
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
          ParallelModel<Mesh<Axis<"pipe">>, pipeline::ZeroBubbleH1, C, Meshed<1>, double>{member, Draw{}};
        }) == "ParallelModel: ZB-H1 with 2 stages runs on 2 ranks, the axis \"pipe\" has 3");
  CHECK(refusal(3, [](C& member) {
          ParallelModel<Mesh<Axis<"tensor">>, pipeline::ZeroBubbleH1, C, Meshed<2>, double>{member, Draw{}};
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
