// SPDX-License-Identifier: Apache-2.0
//
// Experts in the first stage of a pipeline, divided over two ranks, and two replicas of it: their auxiliary losses are carried
// to the last stage, and the losses of steps in micro-batches are those of one device.

#include "tests/parallel/model/experts.suite.hpp"

#include <twill/parallel/data/chunk.hpp>
#include <twill/parallel/model/parallel_model.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <vector>

using namespace twill;

TEST_CASE("experts in an early stage of a pipeline train to the numbers of one device", "[parallel][PAR-7]") {
  using Grid = parallel::Mesh<parallel::Axis<"data">, parallel::Axis<"pipe", 2>, parallel::Axis<"expert", 2>>;
  const test::ExpertNumbers one = test::train_whole_experts(Cpu{0});
  auto ranks = parallel::thread_communicators(std::vector<Cpu>(8, Cpu{0}), {.timeout_ms = 20'000});
  std::vector<std::vector<double>> losses(8);
  parallel::run_ranks(ranks, [&]<class C>(C& world) {
    ParallelModel<Grid, pipeline::GPipe, C, test::CarriedExperts<2>, double> model{world, RandomDraw{7, 0}};
    const test::Tokens tokens{world.device()};
    auto step = train_step(model, nn::with_carried_losses(nn::mse), optim::Sgd{{.rate = 0.5}}, {.micro_batches = 2});
    const auto replica = static_cast<std::size_t>(model.groups().template coordinate<"data">());
    const parallel::Rows own = parallel::chunk_rows(tokens.x.size(0), 2)[replica];
    for (std::size_t i = 0; i < one.losses.size(); ++i)
      losses[static_cast<std::size_t>(world.rank())].push_back(
          step(parallel::rows_of<0>(tokens.x, own), parallel::rows_of<0>(tokens.y, own)));
  });
  for (const std::vector<double>& found : losses) {
    REQUIRE(found.size() == one.losses.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(one.losses[i]).epsilon(1e-13));
  }
}
