// SPDX-License-Identifier: Apache-2.0
//
// Steps whose ranks hold a part of each weight: the bits of steps that hold all, one device's numbers, what is fetched when,
// what they send, the bytes that they take at their peak and between steps, and what a network in parts refuses.

#include <twill/memory/statistics.hpp>
#include <twill/nn/batch_norm.hpp>
#include <twill/nn/dropout.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/state_dict.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/data/distributed_step.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"
#include "tests/support/ranks.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

using namespace twill;
using twill::test::all_weights;
using twill::test::largest_difference;
using twill::test::message_of;

namespace {

/// Weights that are used twice, one that has one element, buffers, random draws.
struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 6> x) {
    const auto tied = nn::parameter(x.graph(), "tied", {6, 6}, nn::initialise::normal(0, 0.4));
    const auto scale = nn::parameter(x.graph(), "scale", {1}, nn::initialise::ones());
    auto hidden = tanh(nn::linear(nn::linear(x, tied), 29, "first"));
    hidden = nn::batch_norm(hidden, "norm", {.is_synchronised = true});
    hidden = nn::dropout(tanh(nn::linear(hidden, 29, "second")) * scale, 0.3);
    hidden = tanh(nn::linear(hidden, 29, "third"));
    return nn::linear(nn::linear(hidden, 6, "last"), tied);
  }
};
using Network = nn::Network<Model, Cpu, double>;
using Rows = test::LabelledRows<double, 6>;

constexpr parallel::BucketOptions small_buckets{.first_bucket_bytes = 64, .bucket_bytes = 4000};
constexpr int ranks = 3;
constexpr std::array<std::int64_t, ranks> begin{0, 5, 6};
constexpr std::array<std::int64_t, ranks> count{5, 1, 3};

template <class R> std::vector<double> trained_alone(const R& rule) {
  const Rows data{9, 6};
  manual_seed_all(7);
  Network network{Cpu{0}};
  auto step = train_step(network, nn::cross_entropy, rule);
  for (int i = 0; i < 4; ++i) static_cast<void>(step(data.x, data.label));
  return all_weights(network);
}

/// Four steps of all ranks; then `look(step, network, communicator, rows)` on each of them, while the step still lives.
template <int Stage, class R, class Look> std::vector<double> trained(const R& rule, const Look& look) {
  const Rows data{9, 6};
  auto communicators = test::thread_group(ranks);
  manual_seed_all(7);
  std::vector<Network> networks{};
  for (const Cpu& device : test::first_devices(ranks)) networks.emplace_back(device);
  parallel::run_ranks(communicators, [&](auto& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    Network& network = networks[rank];
    DistributedDataParallel model{network, communicator, {.buckets = small_buckets}};
    auto step = train_step(model, nn::cross_entropy, rule, parallel::zero<Stage>);
    const Rows own = data.rows(begin[rank], count[rank], network.device());
    for (int i = 0; i < 4; ++i) static_cast<void>(step(own.x, own.label));
    look(step, network, communicator, own);
    step.gather_weights();
  });
  const std::vector<double> first = all_weights(networks[0]);
  for (const Network& network : networks) REQUIRE(all_weights(network) == first);
  return first;
}
template <int Stage, class R> std::vector<double> trained(const R& rule) {
  return trained<Stage>(rule, [](auto&, auto&, auto&, const Rows&) {});
}

void require(bool holds, const std::string& text) {
  if (!holds) throw ValueError(text);
}

} // namespace

TEST_CASE("weights in parts change no bit and are one device's", "[parallel][PAR-4]") {
  const optim::Adam adam{{.rate = 0.01}};
  const auto parts = trained<3>(adam);
  REQUIRE(parts == trained<0>(adam));
  REQUIRE(largest_difference(parts, trained_alone(adam)) < 1e-12);
  const optim::MomentumSgd momentum{{.rate = 0.1, .momentum = 0.9}};
  const auto moved = trained<3>(momentum);
  REQUIRE(moved == trained<0>(momentum));
  REQUIRE(largest_difference(moved, trained_alone(momentum)) < 1e-12);
}

TEST_CASE("a step on weights in parts sends three times their bytes and takes the bytes that were predicted",
          "[parallel][PAR-4][MEM-2]") {
  std::array<std::int64_t, ranks> sent{};
  std::int64_t formula = 0;
  const auto look = [&](auto& step, Network& network, auto& communicator, const Rows& own) {
    const Cpu device = network.device();
    const auto rank = static_cast<std::size_t>(device.index);
    using Step = std::remove_reference_t<decltype(step)>;
    const auto table = compile::Compiled<typename Step::template source<decltype(own.x), decltype(own.label)>>::view();
    const parallel::GatherPlan plan = parallel::plan_gathers(table, step.buckets());
    const compile::MemoryUse use = step.memory(own.x, own.label);
    const auto traffic = [&](parallel::Operation operation) { return communicator.traffic()[operation].sent_bytes; };
    const std::int64_t gathered = traffic(parallel::Operation::all_gather);
    const std::int64_t scattered = traffic(parallel::Operation::reduce_scatter);
    reset_peak_memory_stats(device);
    const std::int64_t between = memory_allocated(device);
    static_cast<void>(step(own.x, own.label));
    // The step has what was predicted; the rows are the test's, and the program's memory stays.
    const std::int64_t rows = compile::pool_bytes(own.x.elements() * 8) + compile::pool_bytes(own.label.elements() * 8);
    const std::int64_t fetched = compile::pool_bytes(plan.bytes);
    require(max_memory_allocated(device) - rows == use.total(),
            "the peak is " + std::to_string(max_memory_allocated(device) - rows) + ", predicted were " +
                std::to_string(use.total()));
    require(memory_allocated(device) == between && between - rows == use.total() - fetched,
            "between steps there are " + std::to_string(between - rows));
    std::int64_t bytes = 0;
    std::int64_t saved = 0; // by buckets that stay whole from the forward pass to the backward pass
    std::vector<int> fetches(step.buckets().buckets.size());
    for (const parallel::Gathered& fetch : plan.fetches) ++fetches[static_cast<std::size_t>(fetch.bucket)];
    for (std::size_t i = 0; i < fetches.size(); ++i) {
      const parallel::Bucket& bucket = step.buckets().buckets[i];
      if (bucket.is_whole) continue;
      bytes += bucket.bytes();
      saved += (2 - fetches[i]) * bucket.bytes();
    }
    require(fetches.size() > 4 && saved < bytes / 2 && plan.bytes < bytes, "too few buckets");
    sent[rank] = traffic(parallel::Operation::all_gather) - gathered;
    require(traffic(parallel::Operation::reduce_scatter) - scattered == bytes * (ranks - 1) / ranks,
            "gradients are reduced once");
    if (rank == 0) formula = (2 * bytes - saved) * (ranks - 1) / ranks + 4 * 8 * (ranks - 1); // and numbers of rows
    // 16 P / N in float32; twice that in float64: weights, gradients, two states
    const std::int64_t part = bytes / ranks;
    const std::int64_t buffers = 3 * 512; // of the normalisation
    require(use.weights == compile::pool_bytes(part) + buffers, "weights take " + std::to_string(use.weights));
    require(use.states <= compile::pool_bytes(2 * part + 512), "states take " + std::to_string(use.states));
  };
  static_cast<void>(trained<3>(optim::Adam{{.rate = 0.01}}, look));
  for (const std::int64_t bytes : sent) REQUIRE(bytes == formula);
}

TEST_CASE("a network in parts says so until its weights are gathered, and the next step cuts them again",
          "[parallel][PAR-4]") {
  const auto look = [](auto& step, Network& network, auto& communicator, const Rows& own) {
    const auto refused = [](const std::string& text) {
      require(text.find("lie in parts on all ranks; call gather_weights()") != std::string::npos, text);
    };
    refused(message_of<ValueError>([&] { static_cast<void>(network.infer(own.x)); }));
    refused(message_of<ValueError>([&] { static_cast<void>(network.forward(own.x)); }));
    refused(message_of<ValueError>([&] { static_cast<void>(nn::state_dict(network)); }));
    refused(message_of<ValueError>([&] { static_cast<void>(network.parameter<"tied">()); }));
    refused(message_of<ValueError>([&] { network.to(Cpu{3}); }));
    const std::int64_t in_parts = memory_allocated(network.device());
    step.gather_weights();
    const nn::StateDict state = nn::state_dict(network);
    require(memory_allocated(network.device()) > in_parts, "the weights are not there");
    nn::load_state_dict(network, state);
    static_cast<void>(network.infer(own.x));
    communicator.run(parallel::Call::barrier());
    static_cast<void>(step(own.x, own.label));
    require(memory_allocated(network.device()) == in_parts, "the weights are still there");
    refused(message_of<ValueError>([&] { static_cast<void>(network.parameters()); }));
  };
  static_cast<void>(trained<3>(optim::Adam{{.rate = 0.01}}, look));
}

TEST_CASE("another step has no say while one holds the weights in parts", "[parallel][PAR-4]") {
  auto communicators = test::thread_group(2);
  const Rows data{4, 6};
  parallel::run_ranks(communicators, [&](auto& communicator) {
    Network network{communicator.device()};
    DistributedDataParallel model{network, communicator, {.buckets = small_buckets}};
    auto first = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}}, parallel::zero<3>);
    const Rows own = data.rows(2 * communicator.rank(), 2, network.device());
    static_cast<void>(first(own.x, own.label));
    require(message_of([&] { model.synchronise(); }).find("synchronise: since a step with zero<3>") == 0,
            "synchronise took weights that are not there");
    first.gather_weights();
    auto second = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}}, parallel::zero<3>);
    static_cast<void>(second(own.x, own.label));
    // Both ranks find it out by themselves, before anything is sent.
    require(message_of([&] { first.gather_weights(); }).find("gather_weights: since a step with zero<3>") == 0,
            "a step gathered parts that another one holds");
  });
}
