// SPDX-License-Identifier: Apache-2.0
//
// Training to the same bits on any number of ranks: an MLP with dropout after 100 steps, weights and states, on one device
// and on ranks whose number divides that of the shards or does not, with every stage of ZeRO; the same run, interrupted on
// four devices, on two; the tree of shards beside the tree of ranks; and what is refused.

#include <twill/nn/dropout.hpp>
#include <twill/nn/linear.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/data/distributed_step.hpp>
#include <twill/parallel/data/reproducible_replicas.hpp>
#include <twill/parallel/data/reproducible_step.hpp>
#include <twill/parallel/group/reduction_tree.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include "tests/support/message_of.hpp"
#include "tests/support/ranks.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

using namespace twill;
using twill::test::message_of;

namespace {

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 7> x) {
    const auto hidden = nn::dropout(tanh(nn::linear(x, 19, "hidden")), 0.3);
    return nn::linear(hidden, 5, "output");
  }
};
using Network = nn::Network<Mlp, Cpu, float>;
using Batch = test::LabelledRows<float, 7>;

constexpr parallel::Reproducible policy{.shards = 5};
constexpr std::int64_t rows = 23; // shards of 4, 5, 4, 5 and 5 rows
const optim::Adam adam{{.rate = 0.01, .weight_decay = 0.01}};

/// The first steps of a run, or those after an interruption.
struct Part {
  int first = 0;
  int end = 100;
  nn::StateDict weights{};
  nn::StateDict states{};
  RandomDraw draw{};
};

/// Makes the steps of one rank on its rows. Returns the last loss.
template <class Step> float play(Step& step, const Part& part, Cpu device) {
  float loss = 0;
  for (int i = part.first; i < part.end; ++i) {
    const parallel::Rows own = step.rows_of(rows);
    const Batch data = Batch{rows, 5, Cpu{0}, static_cast<unsigned>(i % 7)}.rows(own.begin, own.count, device);
    loss = step(data.x, data.label);
  }
  return loss;
}

Part end_of(const Part& part, const Network& network, nn::StateDict states) {
  return {part.end, 100, nn::state_dict(network), std::move(states), generator(Cpu{0}).state()};
}

bool are_equal(const nn::StateDict& left, const nn::StateDict& right) {
  if (left.size() != right.size()) return false;
  for (const auto& [name, tensor] : left.entries())
    if (right.find(name) == nullptr || !std::ranges::equal(right.find(name)->bytes, tensor.bytes)) return false;
  return true;
}

/// What a run ends with.
struct Run {
  Part end{};
  float loss = 0;

  friend bool operator==(const Run& left, const Run& right) {
    return left.loss == right.loss && are_equal(left.end.weights, right.end.weights) &&
           are_equal(left.end.states, right.end.states);
  }
};

Run alone(const Part& part = {}) {
  manual_seed_all(7);
  Network network{Cpu{0}};
  if (part.first > 0) nn::load_state_dict(network, part.weights);
  if (part.first > 0) generator(Cpu{0}).set_state(part.draw);
  auto step = train_step(network, nn::cross_entropy, adam, policy);
  if (part.first > 0) step.load_state_dict(part.states);
  const float loss = play(step, part, Cpu{0});
  return {end_of(part, network, step.state_dict()), loss};
}

template <int Stage> Run shared(int ranks, const Part& part = {}) {
  auto communicators = test::thread_group(ranks);
  manual_seed_all(7);
  std::vector<Network> networks{};
  for (const Cpu& device : test::first_devices(ranks)) networks.emplace_back(device);
  if (part.first > 0) nn::load_state_dict(networks[0], part.weights);
  if (part.first > 0) generator(Cpu{0}).set_state(part.draw);
  Run result{};
  parallel::run_ranks(communicators, [&](auto& communicator) {
    Network& network = networks[static_cast<std::size_t>(communicator.rank())];
    DistributedDataParallel model{network, communicator, {.buckets = {.first_bucket_bytes = 64, .bucket_bytes = 300}}};
    auto step = train_step(model, nn::cross_entropy, adam, parallel::zero<Stage>, policy);
    if (part.first > 0) step.load_state_dict(part.states);
    const float loss = play(step, part, Cpu{communicator.rank()});
    nn::StateDict states = step.state_dict();
    step.gather_weights();
    if (communicator.rank() == 0) result = {end_of(part, network, std::move(states)), loss};
  });
  for (const Network& network : networks) REQUIRE(are_equal(nn::state_dict(network), result.end.weights));
  return result;
}

Run replicated(int devices) {
  manual_seed_all(7);
  Network network{Cpu{0}};
  DataParallel model{network, {.devices = test::first_devices(devices)}};
  auto step = train_step(model, nn::cross_entropy, adam, policy);
  float loss = 0;
  for (int i = 0; i < 100; ++i) {
    const Batch data{rows, 5, Cpu{0}, static_cast<unsigned>(i % 7)};
    loss = step(data.x, data.label);
  }
  return {end_of({}, network, step.state_dict()), loss};
}

} // namespace

TEST_CASE("one device and any number of ranks train to the same bits", "[parallel][PAR-9]") {
  const Run one = alone();
  const int ranks = GENERATE(1, 2, 3, 4);
  REQUIRE(shared<0>(ranks) == one);
  REQUIRE(shared<1>(ranks) == one);
  REQUIRE(shared<2>(ranks) == one);
  REQUIRE(shared<3>(ranks) == one);
}

TEST_CASE("replicas of one process train to the bits of one device", "[parallel][PAR-9]") {
  const Run one = alone();
  for (const int devices : {1, 2, 3, 4}) REQUIRE(replicated(devices) == one);
}

TEST_CASE("a run interrupted on four ranks ends on two, or one, with the bits of one device", "[parallel][PAR-9]") {
  const Run one = alone();
  const Run half = shared<2>(4, {.end = 40});
  REQUIRE(shared<3>(2, half.end) == one);
  REQUIRE(shared<0>(3, half.end) == one);
  REQUIRE(alone(half.end) == one);
}

TEST_CASE("as many ranks as shards train to the bits of ranks without the policy", "[parallel][PAR-9]") {
  auto communicators = test::thread_group(4);
  std::vector<Network> plain{};
  std::vector<Network> reproducible{};
  manual_seed_all(7);
  for (const Cpu& device : test::first_devices(4)) plain.emplace_back(device);
  for (const Cpu& device : test::first_devices(4)) reproducible.emplace_back(device);
  nn::load_state_dict(reproducible[0], nn::state_dict(plain[0]));
  const auto train = [&](std::vector<Network>& networks, const auto& make) {
    manual_seed_all(8);
    parallel::run_ranks(communicators, [&](auto& communicator) {
      const int rank = communicator.rank();
      DistributedDataParallel model{networks[static_cast<std::size_t>(rank)], communicator};
      auto step = make(model);
      for (int i = 0; i < 20; ++i) {
        const parallel::Rows own = parallel::Reproducible{.shards = 4}.rows_of(rows, rank, 4);
        const Batch data = Batch{rows, 5, Cpu{0}, static_cast<unsigned>(i)}.rows(own.begin, own.count, Cpu{rank});
        static_cast<void>(step(data.x, data.label));
      }
    });
  };
  train(plain, [](auto& model) { return train_step(model, nn::cross_entropy, adam); });
  train(reproducible,
        [](auto& model) { return train_step(model, nn::cross_entropy, adam, parallel::Reproducible{.shards = 4}); });
  REQUIRE(are_equal(nn::state_dict(plain[0]), nn::state_dict(reproducible[0])));
}
