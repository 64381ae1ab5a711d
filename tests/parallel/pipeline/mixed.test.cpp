// SPDX-License-Identifier: Apache-2.0
//
// Stages on devices of several kinds: host devices, one whose memory traps and whose stream runs late, and a GPU. Losses,
// gradients, weights and their norm are those of one network on a host device, with skips, ties, dropout and checkpointing.

#include "tests/support/emulated_device.hpp"
#include "tests/support/late_device.hpp"
#include "tests/support/test_seed.hpp"
#include "tests/training/models.hpp"

#include <twill/compile/run/gpu/capture.hpp>
#include <twill/compile/run/gpu/numbers.hpp>
#include <twill/compile/run/gpu/observer.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/kernel/gpu/product.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/optim/clip.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/group/collectives.hpp>
#include <twill/parallel/pipeline/model/cut.hpp>
#include <twill/parallel/pipeline/model/state.hpp>
#include <twill/parallel/pipeline/run/step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/threads/ranks.hpp>
#include <twill/training/optimiser.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace twill;
using namespace twill::test;
using graph::Value;
using pipeline::On;

/// Three stages: `low` is made by the first and used by the last, `shared` is a weight of both.
struct Skipping {
  static constexpr Value forward(Input<Dim<"batch">, 5> x) {
    const Value shared = nn::parameter(x.graph(), "shared", {6, 6}, nn::initialise::fan_in_uniform(6));
    const Value low = nn::stage_boundary(tanh(nn::linear(tanh(nn::linear(x, 6, "lower")), shared)));
    const Value middle = nn::stage_boundary(nn::dropout(tanh(nn::linear(low, 6, "middle")), 0.3));
    return nn::linear(tanh(nn::linear(middle, shared)) + low, 3, "head");
  }
};
struct Lower {
  static constexpr Value forward(Input<Dim<"batch">, 5> x) { return tanh(nn::linear(x, 6, "lower")); }
};
struct Head {
  static constexpr Value forward(Input<Dim<"batch">, 6> x) { return nn::linear(x, 3, "head"); }
};
struct Both {
  static constexpr Value forward(Input<Dim<"batch">, 5> x) {
    return nn::linear(tanh(nn::linear(x, 6, "0.lower")), 3, "1.head");
  }
};

using Named = std::map<std::string, std::vector<double>>;

/// What `pick` takes of each weight of a network, by its name.
template <class Network, class Pick>
void read(const Network& network, const std::string& prefix, Named& all, Pick pick) {
  for (const auto& view : network.parameters()) {
    const auto& memory = pick(view);
    std::vector<double> values(static_cast<std::size_t>(view.shape.elements()));
    copy_bytes(Cpu{}, values.data(), network.device(), memory.data(), values.size() * sizeof(double), CopyOptions{});
    synchronize(Cpu{});
    const auto [place, is_new] = all.emplace(prefix + std::string{view.name}, values);
    if (!is_new) CHECK(place->second == values); // a tied weight is the same everywhere, to the bit
  }
}

void check_near(const Named& left, const Named& right) {
  REQUIRE(left.size() == right.size());
  for (const auto& [name, values] : right) {
    INFO(name);
    REQUIRE(left.contains(name));
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(std::fabs(left.at(name)[i] - values[i]) <= 1e-12);
  }
}

/// Three steps of a pipeline and of one network with its weights.
template <class P, class Network>
void check_training(P& pipe, Network& one, int micro_batches, std::int64_t rows, pipeline::Checkpointing checkpointing,
                    bool has_prefix) {
  INFO(P::ScheduleType::name << ", seed " << test_seed());
  const auto weights = [](const auto& view) { return view.buffer; };
  const auto gradients = [](const auto& view) { return view.gradient; };
  const auto compare = [&](auto pick) {
    Named stages{};
    Named whole{};
    int stage = 0;
    pipe.for_each_stage(
        [&](auto& network) { read(network, has_prefix ? std::to_string(stage++) + "." : "", stages, pick); });
    read(one, "", whole, pick);
    check_near(stages, whole);
  };
  const auto x = random_rows<double, 5>(Cpu{0}, rows);
  const auto labels = random_labels(Cpu{0}, rows, 3);
  const auto rule = optim::clip_norm(optim::MomentumSgd{{.rate = 0.1}}, 0.25);
  auto step = train_step(pipe, nn::cross_entropy, rule,
                         {.micro_batches = micro_batches, .checkpointing = checkpointing, .timeout_ms = 60'000});
  training::Optimiser optimiser{one, rule};
  for (int i = 0; i < 3; ++i) {
    const auto seed = static_cast<std::uint64_t>(10 + i);
    one.zero_grad();
    manual_seed_all(seed);
    const auto loss = nn::cross_entropy(one.forward(x), labels);
    loss.backward();
    manual_seed_all(seed);
    CHECK(step.gradients(x, labels) == Approx(loss.item()).epsilon(1e-12));
    compare(gradients);
    manual_seed_all(seed);
    CHECK(step(x, labels) == Approx(loss.item()).epsilon(1e-12));
    optimiser.step();
    CHECK(step.gradient_norm() == Approx(optimiser.state(optim::gradient_norm_state)).epsilon(1e-12));
    compare(weights);
  }
}

} // namespace

TEST_CASE("stages on a late device, a host device and a GPU train as one network, skips and ties included",
          "[parallel][PAR-6]") {
  using Places = On<Late, Cpu, Emulated>; // the tied weight is on the first and the last
  pipeline::BasicPipeline<pipeline::ZeroBubbleH1, double, Places, pipeline::Cut<Skipping>> pipe{
      {Late{0}, Cpu{0}, Emulated{1}}};
  nn::Network<Skipping, Cpu, double> one{Cpu{0}};
  const nn::StateDict state = nn::state_dict(one);
  pipeline::load_state_dict(pipe, state);
  check_training(pipe, one, 4, 11, pipeline::Checkpointing::never, false); // 3, 3, 3, 2
  nn::load_state_dict(one, pipeline::state_dict(pipe));                    // the names of the whole
}

TEST_CASE("stages on a GPU and a host device compute their forward passes again", "[parallel][PAR-6]") {
  pipeline::BasicPipeline<pipeline::OneForwardOneBackward, double, On<Emulated, Cpu>, Lower, Head> pipe{
      {Emulated{0}, Cpu{1}}};
  nn::Network<Both, Cpu, double> one{Cpu{0}};
  pipeline::load_state_dict(pipe, nn::state_dict(one));
  check_training(pipe, one, 3, 8, pipeline::Checkpointing::except_last, true); // 3, 3, 2
}

TEST_CASE("a group of threads has ranks on devices of several kinds", "[parallel][PAR-4]") {
  auto ranks = parallel::thread_communicators(std::tuple{Cpu{0}, Late{1}, Emulated{2}}, {.timeout_ms = 60'000});
  parallel::run_ranks(ranks, [](auto& communicator) {
    const auto rank = static_cast<double>(communicator.rank());
    const auto x = from_values(std::vector<double>{rank, 1}, Dims(2), communicator.device());
    parallel::all_reduce(communicator, x);
    if (to_vector(x) != std::vector<double>{3, 3}) throw std::logic_error("a sum over devices of three kinds is wrong");
    const int next = (communicator.rank() + 1) % 3;
    const auto y = from_values(std::vector<double>{-1, -1}, Dims(2), communicator.device());
    const auto mine = from_values(std::vector<double>{rank, 2 * rank}, Dims(2), communicator.device());
    auto sending = communicator.start(parallel::Call::send(parallel::elements(mine), next));
    parallel::receive(communicator, y, (communicator.rank() + 2) % 3);
    sending.wait();
    const double previous = (communicator.rank() + 2) % 3;
    if (to_vector(y) != std::vector<double>{previous, 2 * previous}) throw std::logic_error("a message is wrong");
  });
  CHECK_THROWS_WITH(parallel::run_ranks(ranks,
                                        [](auto& communicator) {
                                          if (communicator.rank() == 1) throw std::runtime_error("no more");
                                          parallel::barrier(communicator);
                                        }),
                    "no more");
}
