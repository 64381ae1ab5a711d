// SPDX-License-Identifier: Apache-2.0
//
// Training to the same bits on any number of ranks: an MLP with dropout after 100 steps, weights and states, on one device
// and on ranks whose number divides that of the shards or does not, with every stage of ZeRO; a run that is interrupted
// on four ranks; the tree of shards beside that of ranks; and what is refused.

#include "tests/parallel/data/reproducible_runs.hpp"

#include <twill/nn/dropout.hpp>
#include <twill/nn/linear.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/data/distributed_step.hpp>

#include "tests/support/message_of.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace twill;
using twill::test::message_of;
using twill::test::Run;

namespace {

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 7> x) {
    const auto hidden = nn::dropout(tanh(nn::linear(x, 19, "hidden")), 0.3);
    return nn::linear(hidden, 5, "output");
  }
};

struct Task {
  using Network = nn::Network<Mlp, Cpu, float>;
  static constexpr parallel::Reproducible policy{.shards = 5};
  static constexpr std::int64_t rows = 23; // shards of 4, 5, 4, 5 and 5 rows
  static constexpr auto loss = nn::cross_entropy;
  static inline const optim::Adam rule{{.rate = 0.01}};

  static auto batch(int step) {
    const test::LabelledRows<float, 7> data{rows, 5, Cpu{0}, static_cast<unsigned>(step % 7)};
    return std::pair{data.x, data.label};
  }
};
using Runs = test::ReproducibleRuns<Task>;
using Network = Task::Network;

const Run& one() {
  static const Run run = Runs::alone(100);
  return run;
}

} // namespace

TEST_CASE("one device and any number of ranks train to the same bits", "[parallel][PAR-9]") {
  const int ranks = GENERATE(1, 2, 3, 4);
  REQUIRE(Runs::shared<0>(ranks, 100) == one());
  REQUIRE(Runs::shared<1>(ranks, 100) == one());
  REQUIRE(Runs::shared<2>(ranks, 100) == one());
  REQUIRE(Runs::shared<3>(ranks, 100) == one());
  REQUIRE(Runs::replicated(ranks, 100) == one());
}

TEST_CASE("a run interrupted on four ranks goes on elsewhere to the same bits", "[parallel][PAR-9]") {
  const Run half = Runs::shared<2>(4, 40);
  REQUIRE(Runs::shared<3>(2, 100, half) == one());
  REQUIRE(Runs::shared<0>(3, 100, half) == one());
  REQUIRE(Runs::replicated(2, 100, half) == one());
  REQUIRE(Runs::alone(100, half) == one());
}

TEST_CASE("as many ranks as shards train to the bits of ranks without the policy", "[parallel][PAR-9]") {
  const parallel::Reproducible policy{.shards = 4};
  auto communicators = test::thread_group(4);
  const auto train = [&](const auto& make) {
    manual_seed_all(7);
    std::vector<Network> networks{};
    for (const Cpu& device : test::first_devices(4)) networks.emplace_back(device);
    parallel::run_ranks(communicators, [&](auto& communicator) {
      const int rank = communicator.rank();
      DistributedDataParallel model{networks[static_cast<std::size_t>(rank)], communicator};
      auto step = make(model);
      const parallel::Rows own = policy.rows_of(Task::rows, rank, 4);
      for (int i = 0; i < 20; ++i) {
        const auto [x, label] = Task::batch(i);
        static_cast<void>(
            step(parallel::rows_of<0>(x, own).to(Cpu{rank}), parallel::rows_of<0>(label, own).to(Cpu{rank})));
      }
    });
    return nn::state_dict(networks[0]);
  };
  const auto plain = train([](auto& model) { return train_step(model, Task::loss, Task::rule); });
  const auto own = train([&](auto& model) { return train_step(model, Task::loss, Task::rule, policy); });
  REQUIRE(test::are_equal(plain, own));
  REQUIRE_FALSE(test::are_equal(plain, Runs::alone(20).weights)); // of another tree
}

TEST_CASE("what would depend on the number of ranks is refused by name", "[parallel][PAR-9]") {
  auto communicators = test::thread_group(1);
  Network network{Cpu{0}};
  DistributedDataParallel model{network, communicators[0]};
  // region: step
  auto step = train_step(model, nn::cross_entropy, optim::Adam{{.rate = 0.01}}, parallel::zero<2>,
                         parallel::Reproducible{.shards = 5});
  const parallel::Rows own = step.rows_of(23); // those of this rank in a batch of 23 rows
  // end region
  REQUIRE(own == parallel::Rows{0, 23});
  const auto [x, label] = Task::batch(0);
  const auto few = [&, x = x, label = label] {
    step(parallel::rows_of<0>(x, {0, 3}).contiguous(), parallel::rows_of<0>(label, {0, 3}).contiguous());
  };
  REQUIRE(message_of<ValueError>(few) == "Reproducible: a batch of 3 rows on all ranks does not fill 5 shards; give it "
                                         "more rows, or train with fewer .shards");
  const auto none = [&] { static_cast<void>(train_step(network, Task::loss, Task::rule, parallel::Reproducible{0})); };
  REQUIRE(message_of<ValueError>(none) ==
          "Reproducible: a batch has at least one shard for each of 1 ranks, got .shards = 0");
  const auto even = [&] {
    auto others = test::thread_group(1); // the first group has failed
    DistributedDataParallel shared{network, others[0], {.share = parallel::Share::even}};
    static_cast<void>(train_step(shared, Task::loss, Task::rule, parallel::zero<2>, Task::policy));
  };
  REQUIRE(message_of<ValueError>(even) ==
          "Reproducible: gradients are weighted by rows; leave .share at parallel::Share::rows");
}

TEST_CASE("a rank that brings other rows than those of its shards is told which are", "[parallel][PAR-9]") {
  auto communicators = test::thread_group(2);
  std::vector<Network> networks{};
  for (const Cpu& device : test::first_devices(2)) networks.emplace_back(device);
  const auto play = [&] {
    parallel::run_ranks(communicators, [&](auto& communicator) {
      const int rank = communicator.rank();
      DistributedDataParallel model{networks[static_cast<std::size_t>(rank)], communicator};
      auto step = train_step(model, Task::loss, Task::rule, Task::policy);
      const auto [x, label] = Task::batch(0);
      const parallel::Rows own{rank == 0 ? 0 : 12, rank == 0 ? 12 : 11};
      static_cast<void>(
          step(parallel::rows_of<0>(x, own).to(Cpu{rank}), parallel::rows_of<0>(label, own).to(Cpu{rank})));
    });
  };
  const std::string text = message_of<ValueError>(play); // of either rank
  INFO(text);
  REQUIRE(text.find("Reproducible: of a batch of 23 rows in 5 shards, rank ") == 0);
  REQUIRE(text.find("; cut the batch by step.rows_of(rows)") != std::string::npos);
}
