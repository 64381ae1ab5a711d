// SPDX-License-Identifier: Apache-2.0
//
// Experts divided over ranks that are threads, beside the layer on one device: results, losses, and weights after steps,
// with tokens on every rank and with tokens that travel; replicas; the exchanges of a program; refusals.

#include "tests/parallel/model/experts.suite.hpp"

#include <twill/parallel/data/chunk.hpp>
#include <twill/parallel/data/distributed_step.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <vector>

using namespace twill;
using Reason = graph::Problem;

namespace {

/// Each rank's numbers.
template <class M> std::vector<test::ExpertNumbers> on_threads() {
  std::vector<test::ExpertNumbers> found(static_cast<std::size_t>(M::Ranks::size));
  auto communicators = parallel::thread_communicators(std::vector<Cpu>(found.size(), Cpu{0}), {.timeout_ms = 20'000});
  parallel::run_ranks(communicators, [&](auto& communicator) {
    found[static_cast<std::size_t>(communicator.rank())] = test::train_divided_experts<M>(communicator);
  });
  return found;
}

template <class M> void check_ranks(const test::ExpertNumbers& one) {
  const std::vector<test::ExpertNumbers> found = on_threads<M>();
  for (std::size_t rank = 0; rank < found.size(); ++rank) {
    CAPTURE(rank);
    CHECK(found[rank].results == one.results); // bit for bit: a token's sums have one order
    CHECK(test::greatest_difference<M>(found[rank], one, static_cast<int>(rank)) < 1e-13);
  }
}

} // namespace

TEST_CASE("experts of several ranks train to the numbers of one device", "[parallel][PAR-7]") {
  const test::ExpertNumbers one = test::train_whole_experts(Cpu{0});
  CHECK(one.losses[2] < one.losses[0]);
  check_ranks<test::ExchangedExperts<2>>(one);
  check_ranks<test::ExchangedExperts<4>>(one);
  check_ranks<test::SummedExperts<2>>(one);
}

TEST_CASE("replicas of a model with experts train to the numbers of one device", "[parallel][PAR-2]") {
  const test::ExpertNumbers one = test::train_whole_experts(Cpu{0});
  auto communicators = parallel::thread_communicators(std::vector<Cpu>(2, Cpu{0}), {.timeout_ms = 20'000});
  std::vector<test::ExpertNumbers> found(2);
  parallel::run_ranks(communicators, [&](auto& communicator) {
    const int rank = communicator.rank();
    nn::Network<test::WholeExperts, Cpu, double> network{Cpu{0}, {}, RandomDraw{7, 0}};
    DistributedDataParallel model{network, communicator};
    const test::Tokens tokens{Cpu{0}};
    const parallel::Rows own = rank == 0 ? parallel::Rows{0, 3} : parallel::Rows{3, 1}; // uneven
    found[static_cast<std::size_t>(rank)] =
        test::train_experts(network, model, parallel::rows_of<0>(tokens.x, own), parallel::rows_of<0>(tokens.y, own));
  });
  found[0].results = one.results;
  CHECK(test::greatest_difference<test::WholeExperts>(found[0], one, 0) < 1e-13);
  CHECK(found[0].weights == found[1].weights);
}

TEST_CASE("experts of a divided batch meet their tokens by two exchanges in each direction", "[parallel][PAR-7]") {
  using Ranks = RankAxis<"expert", 2>;
  const auto traced = [](const nn::ShardedMixtureOptions& options, std::int64_t experts) {
    graph::Graph graph{DType::float32};
    const graph::Value x{graph, graph.add_input(DType::float32, graph::extents_of(Dims(2, 3, 4)))};
    const graph::Value y = nn::sharded_mixture_of_experts<Ranks>(x, experts, 5, "moe", options);
    if (!graph.fault.any()) static_cast<void>(graph::gradient(nn::with_auxiliary_losses(nn::mse)(y, x), x));
    return graph;
  };
  const auto exchanges_of = [](const graph::Graph& graph) {
    REQUIRE(!graph.fault.any());
    int exchanges = 0;
    for (const graph::Node& node : graph.nodes)
      exchanges += node.operation != nullptr && graph::is_same(*node.operation, graph::all_to_all_operation) ? 1 : 0;
    return exchanges;
  };
  CHECK(exchanges_of(traced({.split_axis = 0}, 4)) == 4);
  CHECK(exchanges_of(traced({}, 4)) == 0);
  CHECK(traced({.split_axis = 1}, 4).fault.problem == Reason::tokens_of_experts_are_divided_by_groups_only);
  CHECK(traced({.split_axis = 0}, 3).fault.problem == Reason::ranks_do_not_divide_the_axis);
  CHECK(traced({.mixture = {.top_k = 5}}, 4).fault.problem == Reason::topk_exceeds_the_axis);
}
