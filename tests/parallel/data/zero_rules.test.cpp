// SPDX-License-Identifier: Apache-2.0
//
// Rules that look at whole weights, or at all of them, on ranks that hold parts of each: LAMB, clipping and loss scales as one
// device has them; and the states of a rule, gathered into those of one device and dealt out again to other ranks.

#include <twill/nn/linear.hpp>
#include <twill/nn/norm_layers.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/clip.hpp>
#include <twill/optim/loss_scale.hpp>
#include <twill/parallel/data/distributed_step.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"
#include "tests/support/ranks.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

using namespace twill;
using twill::test::all_weights;
using twill::test::largest_difference;
using twill::test::message_of;

namespace {

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 7> x) {
    const auto scale = nn::parameter(x.graph(), "scale", {1}, nn::initialise::ones());
    const auto hidden = tanh(nn::layer_norm(nn::linear(x, 23, "first"), "norm")) * scale;
    return nn::linear(tanh(nn::linear(hidden, 23, "second")), 5, "output");
  }
};
using Network = nn::Network<Mlp, Cpu, double>;
using Rows = test::LabelledRows<double, 7>;

constexpr std::int64_t rows = 9;
constexpr parallel::BucketOptions small_buckets{.first_bucket_bytes = 64, .bucket_bytes = 2500};
const optim::Lamb lamb{{.rate = 0.05, .weight_decay = 0.1}};
const optim::Lamb other_lamb{{.rate = 0.5, .beta1 = 0.5}}; // which takes over the other's options with its states

auto scaled_rule() {
  return optim::loss_scaled<optim::LossScaleOptions{.initial = 1024, .interval = 2}>(
      optim::clip_norm(optim::Adam{{.rate = 0.01}}, 0.1));
}

/// The rows of step i; those of the third overflow, and with them one rank's.
Rows rows_of_step(int step, bool overflows) {
  Rows data{rows, 5, Cpu{0}, static_cast<unsigned>(step)};
  if (overflows && step == 2) data.x.data()[rows * 7 - 1] = std::numeric_limits<double>::infinity();
  return data;
}

struct Outcome {
  std::vector<double> weights{};
  std::vector<double> numbers{}; ///< that the rule keeps
  nn::StateDict states{};
};

/// What a run starts from, and how far it goes.
struct Part {
  int first = 0;
  int end = 5;
  bool overflows = false;
  const nn::StateDict* weights = nullptr;
  const nn::StateDict* states = nullptr;
};

template <class Step> std::vector<double> numbers_of(const Step& step, bool is_scaled) {
  if (!is_scaled) return {};
  return {step.state(optim::loss_scale_state), step.state(optim::skipped_steps_state),
          step.state(optim::was_skipped_state), step.state(optim::gradient_norm_state)};
}

template <class R> Outcome alone(const R& rule, const Part& part) {
  manual_seed_all(7);
  Network network{Cpu{0}};
  if (part.weights != nullptr) nn::load_state_dict(network, *part.weights);
  auto step = train_step(network, nn::cross_entropy, rule);
  if (part.states != nullptr) step.load_state_dict(*part.states);
  for (int i = part.first; i < part.end; ++i) {
    const Rows data = rows_of_step(i, part.overflows);
    static_cast<void>(step(data.x, data.label));
  }
  return {all_weights(network), numbers_of(step, optim::ScaledRule<R>), step.state_dict()};
}

template <int Stage, class R> Outcome shared(int ranks, const R& rule, const Part& part) {
  auto communicators = test::thread_group(ranks);
  manual_seed_all(7);
  std::vector<Network> networks{};
  for (const Cpu& device : test::first_devices(ranks)) networks.emplace_back(device);
  Outcome result{};
  parallel::run_ranks(communicators, [&](auto& communicator) {
    const int rank = communicator.rank();
    Network& network = networks[static_cast<std::size_t>(rank)];
    if (part.weights != nullptr) nn::load_state_dict(network, *part.weights);
    DistributedDataParallel model{network, communicator, {.buckets = small_buckets}};
    auto step = train_step(model, nn::cross_entropy, rule, parallel::zero<Stage>);
    if (part.states != nullptr) step.load_state_dict(*part.states);
    const std::int64_t begin = rank == 0 ? 0 : rows - ranks + rank; // the first rank has most rows
    const std::int64_t end = rows - ranks + rank + 1;
    for (int i = part.first; i < part.end; ++i) {
      const Rows own = rows_of_step(i, part.overflows).rows(begin, end - begin, Cpu{rank});
      static_cast<void>(step(own.x, own.label));
    }
    const nn::StateDict states = step.state_dict();
    step.gather_weights();
    if (rank + 1 < ranks) return;
    result.numbers = numbers_of(step, optim::ScaledRule<R>);
    result.states = states;
  });
  result.weights = all_weights(networks[0]);
  for (const Network& network : networks) REQUIRE(all_weights(network) == result.weights);
  return result;
}

std::vector<double> numbers_in(const nn::StateDict& states) {
  std::vector<double> result{};
  for (const auto& [name, tensor] : states.entries())
    for (std::int64_t i = 0; i < tensor.shape.elements(); ++i)
      result.push_back(nn::detail::element_of(tensor.dtype, tensor.bytes.data(), static_cast<std::size_t>(i)));
  return result;
}

void require_alike(const Outcome& left, const Outcome& right) {
  CHECK(largest_difference(left.weights, right.weights) < 1e-12);
  REQUIRE(left.states.size() == right.states.size());
  for (const auto& [name, tensor] : right.states.entries()) REQUIRE(left.states.find(name) != nullptr);
  CHECK(largest_difference(numbers_in(left.states), numbers_in(right.states)) < 1e-12);
  CHECK(largest_difference(left.numbers, right.numbers) < 1e-12);
}

} // namespace

TEST_CASE("LAMB takes the norms of weights of which ranks hold parts", "[parallel][PAR-4][TRAIN-5]") {
  const Outcome one = alone(lamb, {});
  require_alike(shared<1>(3, lamb, {}), one);
  require_alike(shared<2>(4, lamb, {}), one);
  require_alike(shared<3>(3, lamb, {}), one);
}

TEST_CASE("a gradient that overflows on one rank holds back the step of all, which clip by one norm",
          "[parallel][PAR-4][TRAIN-5]") {
  const Part part{.overflows = true};
  const Outcome one = alone(scaled_rule(), part);
  REQUIRE(one.numbers[1] == 1);
  require_alike(shared<1>(3, scaled_rule(), part), one);
  require_alike(shared<2>(3, scaled_rule(), part), one);
  require_alike(shared<3>(3, scaled_rule(), part), one);
}

TEST_CASE("states that ranks share out are those of one device, and go on on any number of ranks",
          "[parallel][PAR-4][TRAIN-5]") {
  const auto weights_after = [](const auto& rule, int steps) {
    manual_seed_all(7);
    Network network{Cpu{0}};
    auto step = train_step(network, nn::cross_entropy, rule);
    for (int i = 0; i < steps; ++i) {
      const Rows data = rows_of_step(i, false);
      static_cast<void>(step(data.x, data.label));
    }
    return nn::state_dict(network);
  };
  const Outcome whole = alone(lamb, {});
  const nn::StateDict weights = weights_after(lamb, 2);
  const nn::StateDict states = shared<3>(3, lamb, {.end = 2}).states;
  const Part rest{.first = 2, .weights = &weights, .states = &states};
  require_alike(alone(other_lamb, rest), whole);
  require_alike(shared<0>(2, other_lamb, rest), whole);
  require_alike(shared<1>(4, other_lamb, rest), whole);
  require_alike(shared<3>(2, other_lamb, rest), whole);

  nn::StateDict other{};
  for (const auto& [name, tensor] : states.entries())
    if (name != "scale.adam.m" && other.size() < 4) other.add(name, tensor);
  auto communicators = test::thread_group(1);
  Network network{Cpu{0}};
  DistributedDataParallel model{network, communicators[0]};
  auto step = train_step(model, nn::cross_entropy, lamb, parallel::zero<1>);
  REQUIRE(message_of<ValueError>([&] { step.load_state_dict(other); }).find("no count of 'steps'") !=
          std::string::npos);
  other.add("steps", *states.find("steps"));
  REQUIRE(message_of<ValueError>([&] { step.load_state_dict(other); }).find("missing: ") != std::string::npos);
}
