// SPDX-License-Identifier: Apache-2.0
//
// Distributed data parallelism over threads: bits of the one-process form, one device's numbers for uneven shards and ranks
// without rows, accumulation without telling, failures, traffic and bytes as predicted.

#include <twill/memory/statistics.hpp>
#include <twill/nn/batch_norm.hpp>
#include <twill/nn/dropout.hpp>
#include <twill/nn/linear.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/data/data_parallel_step.hpp>
#include <twill/parallel/data/distributed_step.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/simulation.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

using namespace twill;
using twill::test::all_weights;
using twill::test::largest_difference;
using twill::test::message_of;
using twill::test::thread_group;

namespace {

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 7> x) {
    const auto hidden = nn::dropout(tanh(nn::linear(x, 12, "hidden")), 0.3);
    return nn::linear(hidden, 5, "output");
  }
};
using Network = nn::Network<Mlp, Cpu, double>;

using Batch = test::LabelledRows<double, 7>;

Batch batch(std::int64_t rows) { return {rows, 5}; }

/// What all ranks hold after `play(model, step, rank)`, which has to be the same.
template <class Play> std::vector<double> weights_of_ranks(int ranks, parallel::DistributedOptions options, Play play) {
  auto communicators = thread_group(ranks);
  manual_seed_all(7);
  std::vector<Network> networks{};
  for (int rank = 0; rank < ranks; ++rank) networks.emplace_back(Cpu{rank}); // each draws weights of its own
  manual_seed_all(7);
  networks[0] = Network{Cpu{0}};
  manual_seed_all(3);
  parallel::run_ranks(communicators, [&](auto& communicator) {
    Network& network = networks[static_cast<std::size_t>(communicator.rank())];
    DistributedDataParallel model{network, communicator, options};
    auto step = train_step(model, nn::cross_entropy, optim::Adam{{.rate = 0.01}});
    play(model, step, communicator.rank());
  });
  const std::vector<double> first = all_weights(networks[0]);
  for (const Network& network : networks) REQUIRE(all_weights(network) == first);
  return first;
}

Network seeded_network() {
  manual_seed_all(7);
  return Network{Cpu{0}};
}

constexpr parallel::BucketOptions small_buckets{.first_bucket_bytes = 200, .bucket_bytes = 600};

} // namespace

TEST_CASE("ranks have the bits of replicas in one process, in buckets of any size, and one device's numbers",
          "[parallel][PAR-1][PAR-3]") {
  const std::vector<std::int64_t> shards =
      GENERATE(std::vector<std::int64_t>{5, 5, 3}, std::vector<std::int64_t>{7, 6});
  const std::int64_t bytes = GENERATE(1, 600, 1 << 20);
  const auto data = batch(13);
  Network alone = seeded_network();
  auto one = train_step(alone, nn::cross_entropy, optim::Adam{{.rate = 0.01}});
  Network module = seeded_network();
  const int ranks = static_cast<int>(shards.size());
  DataParallel replicas{module, {.devices = test::first_devices(ranks)}};
  auto many = train_step(replicas, nn::cross_entropy, optim::Adam{{.rate = 0.01}});
  std::vector<double> losses{};
  manual_seed_all(3);
  for (int i = 0; i < 4; ++i) static_cast<void>(one(data.x, data.label));
  manual_seed_all(3);
  for (int i = 0; i < 4; ++i) losses.push_back(many(data.x, data.label).item());
  const auto weights = weights_of_ranks(ranks, {.buckets = {bytes, bytes}}, [&](auto&, auto& step, int rank) {
    std::int64_t begin = 0;
    for (int other = 0; other < rank; ++other) begin += shards[static_cast<std::size_t>(other)];
    const Batch own = data.rows(begin, shards[static_cast<std::size_t>(rank)], Cpu{rank});
    for (int i = 0; i < 4; ++i)
      if (step(own.x, own.label).item() != losses[static_cast<std::size_t>(i)]) throw ValueError("another loss");
  });
  REQUIRE(weights == all_weights(module));
  REQUIRE(largest_difference(weights, all_weights(alone)) < 1e-12);
}

TEST_CASE("ranks with few rows and without any count by their rows", "[parallel][PAR-2]") {
  const auto data = batch(6);
  Network alone = seeded_network();
  auto one = train_step(alone, nn::cross_entropy, optim::Adam{{.rate = 0.01}});
  manual_seed_all(3);
  for (int i = 0; i < 3; ++i) static_cast<void>(one(data.x, data.label));
  const auto weights = weights_of_ranks(4, {.buckets = small_buckets}, [&](auto&, auto& step, int rank) {
    for (int i = 0; i < 3; ++i) {
      const std::int64_t begin[] = {0, 0, 1, 1}; // 0, 1, 0 and 5 rows, then as many on the next rank
      const std::int64_t count[] = {0, 1, 0, 5};
      const auto place = static_cast<std::size_t>(rank);
      const Batch own = data.rows(begin[place], count[place], Cpu{rank});
      static_cast<void>(step(own.x, own.label));
    }
  });
  REQUIRE(largest_difference(weights, all_weights(alone)) < 1e-12);
}

TEST_CASE("silent steps and one that speaks are one step on all their rows", "[parallel][PAR-4]") {
  const auto data = batch(13);
  Network alone = seeded_network();
  alone.set("dropout", 0); // the rows of silent steps draw as the rank's own
  auto one = train_step(alone, nn::cross_entropy, optim::Adam{{.rate = 0.01}});
  double loss = 0;
  for (int i = 0; i < 3; ++i) loss = one(data.x, data.label).item();
  const auto weights = weights_of_ranks(2, {.buckets = small_buckets}, [&](auto& model, auto& step, int rank) {
    model.module().set("dropout", 0);
    const Batch parts[2][3] = {{data.rows(0, 2, Cpu{0}), data.rows(2, 4, Cpu{0}), data.rows(6, 1, Cpu{0})},
                               {data.rows(7, 6, Cpu{1}), data.rows(8, 0, Cpu{1}), data.rows(8, 0, Cpu{1})}};
    for (int i = 0; i < 3; ++i) {
      const std::int64_t before = model.communicator().traffic().total().calls;
      {
        const auto silence = step.no_sync();
        static_cast<void>(step(parts[rank][0].x, parts[rank][0].label));
        static_cast<void>(step(parts[rank][1].x, parts[rank][1].label));
      }
      if (model.communicator().traffic().total().calls != before) throw ValueError("a silent step has told something");
      const double own = step(parts[rank][2].x, parts[rank][2].label).item();
      if (i == 2 && std::abs(own - loss) > 1e-12) throw ValueError("another loss");
    }
    if (step.steps() != 3) throw ValueError("another number of steps");
  });
  REQUIRE(largest_difference(weights, all_weights(alone)) < 1e-12);
}

TEST_CASE("a rank without rows that has added up some speaks of these, and buffers of one type travel in one call",
          "[parallel][PAR-2][PAR-4]") {
  struct Normalised {
    static constexpr auto forward(Input<Dim<"batch">, 7> x) {
      return nn::linear(nn::batch_norm(nn::linear(x, 6, "hidden"), "norm"), 5, "output");
    }
  };
  const auto data = batch(12);
  const auto trained = [&](bool is_silent_first) { // rank 1 adds up its rows, or speaks of them at once
    auto communicators = thread_group(2);
    manual_seed_all(7);
    std::vector<nn::Network<Normalised, Cpu, double>> networks{};
    for (const Cpu& device : test::first_devices(2)) networks.emplace_back(device);
    parallel::run_ranks(communicators, [&](auto& communicator) {
      const int rank = communicator.rank();
      auto& network = networks[static_cast<std::size_t>(rank)];
      DistributedDataParallel model{network, communicator, {.buckets = small_buckets}};
      auto step = train_step(model, nn::cross_entropy, optim::Adam{{.rate = 0.01}});
      const Batch first = data.rows(0, 4, Cpu{rank});
      const Batch own = rank == 0 ? data.rows(4, 3, Cpu{0}) : data.rows(7, 5, Cpu{1});
      const Batch none = data.rows(0, 0, Cpu{rank});
      for (int i = 0; i < 2; ++i) {
        {
          const auto silence = step.no_sync();
          if (rank == 0) static_cast<void>(step(first.x, first.label));
          if (rank == 1 && is_silent_first) static_cast<void>(step(own.x, own.label));
        }
        const std::int64_t before = communicator.traffic()[parallel::Operation::broadcast].calls;
        const Batch& last = rank == 1 && is_silent_first ? none : own;
        static_cast<void>(step(last.x, last.label));
        if (communicator.traffic()[parallel::Operation::broadcast].calls != before + 2)
          throw ValueError("buffers of two types travel in more than two calls");
      }
    });
    std::vector<double> weights{};
    for (const auto& view : networks[0].parameters())
      if (view.name.find("running") == std::string_view::npos &&
          view.name.find("num_batches") == std::string_view::npos)
        for (std::int64_t i = 0; i < view.shape.elements(); ++i)
          weights.push_back(static_cast<const double*>(view.buffer.data())[i]);
    return weights;
  };
  REQUIRE(largest_difference(trained(true), trained(false)) < 1e-12);
}

TEST_CASE("a step sends what the formula says and takes the bytes that were predicted", "[parallel][PAR-5][MEM-2]") {
  const auto data = batch(12);
  std::array<std::int64_t, 4> sent{};
  std::int64_t gradients = 0;
  static_cast<void>(weights_of_ranks(4, {.buckets = small_buckets}, [&](auto& model, auto& step, int rank) {
    const Batch own = data.rows(3 * rank, 3, Cpu{rank});
    const std::int64_t sent_before = model.communicator().traffic().total().sent_bytes;
    const compile::MemoryUse expected = step.memory(own.x, own.label);
    const std::int64_t before = memory_allocated(Cpu{rank});
    static_cast<void>(step(own.x, own.label));
    static_cast<void>(step(own.x, own.label));
    // Weights are there before, and so is the loss.
    if (memory_allocated(Cpu{rank}) - before != expected.total() - expected.weights - 512)
      throw ValueError("a step takes " + std::to_string(memory_allocated(Cpu{rank}) - before) + " bytes");
    if (step.buckets().buckets.size() < 3) throw ValueError("too few buckets");
    sent[static_cast<std::size_t>(rank)] = model.communicator().traffic().total().sent_bytes - sent_before;
    if (rank > 0) return;
    for (const parallel::Bucket& bucket : step.buckets().buckets) gradients += bucket.bytes();
  }));
  // Twice and by all ranks: all-reduce of the gradients, and an all-gather of four numbers of each rank.
  REQUIRE(sent[0] + sent[1] + sent[2] + sent[3] == 2 * 4 * (2 * gradients * 3 / 4 + 4 * 32 * 3 / 4));
}

TEST_CASE("a rank that fails ends the step on every rank, whenever the others come", "[parallel][PAR-9]") {
  const auto data = batch(12);
  test::simulate(50, [&](std::uint64_t seed) {
    const int culprit = static_cast<int>(seed % 3);
    auto communicators = thread_group(3, 20'000);
    std::vector<std::string> messages(3);
    parallel::run_ranks(communicators, [&](auto& communicator) {
      const int rank = communicator.rank();
      Network network{Cpu{rank}};
      DistributedDataParallel model{network, communicator, {.buckets = small_buckets}};
      auto step = train_step(model, nn::cross_entropy, optim::Adam{});
      const Batch own = data.rows(4 * rank, 4, Cpu{rank});
      static_cast<void>(step(own.x, own.label));
      try {
        if (rank == culprit)
          static_cast<void>(step(own.x, data.rows(0, 3, Cpu{rank}).label)); // other rows than x
        else
          static_cast<void>(step(own.x, own.label));
      } catch (const Error& error) {
        messages[static_cast<std::size_t>(rank)] = error.what();
      }
    });
    const std::string who = "rank " + std::to_string(culprit);
    for (std::size_t rank = 0; rank < 3; ++rank) {
      INFO(messages[rank]);
      REQUIRE(messages[rank].find("takes 4, as in axis 0 of argument 1 of forward, got 3") != std::string::npos);
      REQUIRE((static_cast<int>(rank) == culprit || messages[rank].find(who) != std::string::npos));
    }
  });
}

TEST_CASE("ranks with different models are refused on every rank", "[parallel][PAR-9]") {
  struct Other {
    static constexpr auto forward(Input<Dim<"batch">, 7> x) { return nn::linear(x, 4, "output"); }
  };
  auto communicators = thread_group(2);
  std::vector<std::string> messages(2);
  parallel::run_ranks(communicators, [&](auto& communicator) {
    const auto wrap = [&](auto network) { DistributedDataParallel{network, communicator}; };
    messages[static_cast<std::size_t>(communicator.rank())] = message_of<ValueError>(
        [&] { communicator.rank() == 0 ? wrap(Network{Cpu{0}}) : wrap(nn::Network<Other, Cpu, double>{Cpu{1}}); });
  });
  for (const std::string& message : messages)
    REQUIRE(message.find("the weights of rank 1 differ") != std::string::npos);
}

TEST_CASE("ranks refuse a batch that is empty on all of them", "[parallel][PAR-3]") {
  auto communicators = thread_group(2);
  std::array<std::string, 2> messages{};
  parallel::run_ranks(communicators, [&](auto& communicator) {
    Network network{Cpu{communicator.rank()}};
    DistributedDataParallel model{network, communicator, {}};
    auto step = train_step(model, nn::cross_entropy, optim::Adam{});
    const Batch none = batch(0).rows(0, 0, Cpu{communicator.rank()});
    messages[static_cast<std::size_t>(communicator.rank())] =
        message_of([&] { static_cast<void>(step(none.x, none.label)); });
  });
  for (const std::string& message : messages)
    CHECK_THAT(message, Catch::Contains("train_step(Mlp): the batch is empty"));
}
