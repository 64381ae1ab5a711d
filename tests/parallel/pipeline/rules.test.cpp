// SPDX-License-Identifier: Apache-2.0
//
// Rules over several stages against one network, in bfloat16: an overflow in one stage skips the step in all, the scale is
// divided out once and before gradients are clipped; options that change between steps; half gradients of micro-batches.
#include "tests/support/four_devices.hpp"
#include "tests/support/test_seed.hpp"
#include "tests/training/models.hpp"

#include <twill/nn/linear.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/optim/clip.hpp>
#include <twill/optim/loss_scale.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/model/checkpoint.hpp>
#include <twill/parallel/pipeline/model/cut.hpp>
#include <twill/parallel/pipeline/model/state.hpp>
#include <twill/parallel/pipeline/run/rank_step.hpp>
#include <twill/parallel/pipeline/run/step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

namespace {

using namespace twill;
using namespace twill::test;
using graph::Value;

struct Model {
  static constexpr Value forward(Input<Dim<"batch">, 5> x) {
    return nn::linear(nn::stage_boundary(tanh(nn::linear(x, 6, "lower"))), 3, "head");
  }
};
using Stages = pipeline::BasicPipeline<pipeline::ZeroBubbleH1, bfloat16, Cpu, pipeline::Cut<Model>>;
using Batch = Tensor<bfloat16, Cpu, Shape<dyn, 5>>;

constexpr std::string_view scale_states[] = {optim::loss_scale_state, optim::good_steps_state,
                                             optim::skipped_steps_state, optim::was_skipped_state};

/// The second batch overflows in the first stage alone: there infinity meets the zero slope of a saturated tanh.
std::vector<Batch> batches() {
  std::vector<Batch> all;
  for (std::uint64_t i = 0; i < 5; ++i) all.push_back(random_rows<bfloat16, 5>(Cpu{0}, 10, i));
  all[1].data()[7] = bfloat16(std::numeric_limits<float>::infinity());
  return all;
}
auto make_rule() {
  constexpr optim::LossScaleOptions options{.initial = 1024, .interval = 2};
  return optim::loss_scaled<options>(
      optim::clip_value(optim::clip_norm(optim::MomentumSgd{{.rate = 0.5}}, 0.25), 0.125));
}

/// What one network does: its states and weights after each batch.
struct Course {
  std::vector<std::vector<double>> states{};
  std::vector<nn::StateDict> weights{};
  std::vector<double> norms{};
};
Course train_whole(nn::Network<Model, Cpu, bfloat16>& whole, const Tensor<std::int64_t, Cpu, Shape<dyn>>& labels) {
  Course course;
  training::Optimiser optimiser{whole, make_rule()};
  for (const Batch& x : batches()) {
    optimiser.zero_grad();
    optimiser.backward(nn::cross_entropy(whole.forward(x), labels));
    optimiser.step();
    course.states.emplace_back();
    for (const auto name : scale_states) course.states.back().push_back(optimiser.state(name));
    course.norms.push_back(optimiser.state(optim::gradient_norm_state));
    course.weights.push_back(nn::state_dict(whole));
  }
  return course;
}

double difference(const nn::StateDict& found, const nn::StateDict& expected) {
  double worst = 0;
  for (const auto& [name, tensor] : found.entries())
    for (std::size_t i = 0; i < tensor.bytes.size() / size_of(tensor.dtype); ++i)
      worst = std::fmax(worst, std::fabs(nn::detail::element_of(tensor.dtype, tensor.bytes.data(), i) -
                                         nn::detail::element_of(tensor.dtype, expected.find(name)->bytes.data(), i)));
  return worst;
}

/// The same by a step of a pipeline, or of one rank of it.
template <class Step> void check_course(Stages& pipe, Step& step, const Course& expected, const auto& labels) {
  const auto all = batches();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const nn::StateDict before = pipeline::state_dict(pipe);
    step(all[i], labels);
    const nn::StateDict after = pipeline::state_dict(pipe);
    for (std::size_t k = 0; k < 4; ++k)
      if (step.state(scale_states[k]) != expected.states[i][k]) throw ValueError("another state of the loss scale");
    if (difference(after, expected.weights[i]) > 0.03) throw ValueError("other weights");
    if (i != 1 && std::fabs(step.state(optim::gradient_norm_state) / expected.norms[i] - 1) > 0.03)
      throw ValueError("another norm");
    if (i == 1 && difference(after, before) != 0) throw ValueError("weights of a skipped step");
    if (i != 1 && difference(after, before) == 0) throw ValueError("a step that was not to be skipped");
  }
}

TEST_CASE("an overflow in one stage skips the step in all, in one process and over ranks", "[parallel][PAR-6]") {
  INFO("seed " << test_seed());
  nn::Network<Model, Cpu, bfloat16> whole{Cpu{0}};
  const nn::StateDict start = nn::state_dict(whole);
  const auto labels = random_labels(Cpu{0}, 10, 3);
  const Course expected = train_whole(whole, labels);
  REQUIRE(expected.states[1] == std::vector<double>{512, 0, 1, 1});
  REQUIRE(expected.states[3] == std::vector<double>{1024, 0, 1, 0});

  Stages pipe{{Cpu{0}, Cpu{1}}};
  pipeline::load_state_dict(pipe, start);
  auto step = train_step(pipe, nn::cross_entropy, make_rule(), {.micro_batches = 3}); // 4, 4, 2
  CHECK_NOTHROW(check_course(pipe, step, expected, labels));
  CHECK(step.gradient_norm() == Approx(step.state(optim::gradient_norm_state)).epsilon(1e-5));
  CHECK(step.template optimiser<0>().state(optim::loss_scale_state) == step.state(optim::loss_scale_state));
  CHECK_THROWS_WITH(step.state("warmth"), Catch::Contains("the rule keeps no single number 'warmth'"));

  const nn::StateDict before = pipeline::state_dict(pipe);
  step.rule.options.rate = 0;
  step.rule.options.momentum = 0;
  step(batches()[0], labels);
  CHECK(difference(pipeline::state_dict(pipe), before) == 0);

  auto world = parallel::thread_communicators(std::vector<Cpu>{Cpu{0}, Cpu{1}}, {.timeout_ms = 60000});
  CHECK_NOTHROW(parallel::run_ranks(world, [&](auto& member) {
    Stages own{member.device(), member.rank(), RandomDraw{}};
    pipeline::load_state_dict(own, start);
    auto own_step = train_step(own, member, nn::cross_entropy, make_rule(), {.micro_batches = 3});
    check_course(own, own_step, expected, labels);
  }));
}

TEST_CASE("a pipeline goes on from a checkpoint bit for bit, and one network from its checkpoint", "[parallel][IO-5]") {
  INFO("seed " << test_seed());
  const std::vector<Batch> given = batches();
  const auto labels = random_labels(Cpu{0}, 10, 3);
  Stages pipe{{Cpu{0}, Cpu{1}}};
  auto step = train_step(pipe, nn::cross_entropy, make_rule(), {.micro_batches = 3});
  for (std::size_t i = 0; i < 3; ++i) step(given[i], labels);
  const io::Checkpoint checkpoint = io::checkpoint_of(pipe, step);

  Stages other{{Cpu{1}, Cpu{0}}};
  auto other_rule = make_rule();
  other_rule.options.rate = 0.25;
  auto other_step = train_step(other, nn::cross_entropy, other_rule, {.micro_batches = 3});
  const nn::StateDict before = pipeline::state_dict(other);
  nn::StateDict fewer{};
  fewer.add("steps", *checkpoint.state("optimiser").find("steps"));
  io::Checkpoint damaged{};
  damaged.add("model", checkpoint.state("model"));
  damaged.add("optimiser", fewer);
  io::set_draw(damaged, "random.device", io::draw_of(checkpoint, "random.device"));
  CHECK_THROWS_WITH(io::restore(damaged, other, other_step),
                    Catch::Contains("load_state_dict: missing: loss_scale.scale, "));
  CHECK(difference(pipeline::state_dict(other), before) == 0);
  CHECK((other_step.steps() == 0 && other_step.rule.options.rate == 0.25));

  CHECK(io::restore(checkpoint, other, other_step, io::OptionsOf::program).loaded.empty());
  CHECK(other_step.rule.options.rate == 0.25);
  CHECK(io::restore(checkpoint, other, other_step).changed.size() == 1);
  CHECK((other_step.steps() == 3 && other_step.rule.options.rate == 0.5));
  CHECK(other.next_draw() == pipe.next_draw());
  for (std::size_t i = 3; i < given.size(); ++i) {
    step(given[i], labels);
    other_step(given[i], labels);
  }
  CHECK(difference(pipeline::state_dict(other), pipeline::state_dict(pipe)) == 0);
  CHECK(other_step.state(optim::loss_scale_state) == step.state(optim::loss_scale_state));
  CHECK(other_step.gradient_norm() == step.gradient_norm());

  nn::Network<Model, Cpu, bfloat16> whole{Cpu{0}};
  training::Optimiser optimiser{whole, make_rule()};
  io::restore(checkpoint, whole, optimiser);
  CHECK(difference(nn::state_dict(whole), checkpoint.state("model")) == 0);
  io::restore(io::checkpoint_of(whole, optimiser), other, other_step); // and back
  CHECK((other_step.steps() == 3 && other_step.state(optim::skipped_steps_state) == 1));
}

/// A bfloat16 has eight bits: by itself it cannot count beyond 256.
TEST_CASE("half gradients are added up in float32", "[parallel][TRAIN-6]") {
  nn::Network<Model, Cpu, bfloat16> network{Cpu{0}};
  nn::NetworkState<Cpu>& state = *network.state();
  const auto add = [&](float number) {
    std::vector<memory::Buffer<Cpu>> fresh;
    for (const auto& view : network.parameters()) {
      fresh.emplace_back(Cpu{0}, view.buffer.bytes());
      auto* const first = static_cast<bfloat16*>(fresh.back().data());
      std::fill(first, first + view.shape.elements(), bfloat16(number));
    }
    state.add_gradients(std::move(fresh));
    synchronize(Cpu{0});
  };
  const auto sum = [&] { return static_cast<float>(network.gradient<"head.bias">().data()[2]); };
  for (int round = 0; round < 2; ++round) {
    network.zero_grad();
    for (int i = 0; i < 1000; ++i) add(1);
    CHECK(sum() == 1000);
    network.zero_grad();
    add(2048);
    for (int i = 0; i < 16; ++i) add(0.5f);
    CHECK(sum() == 2048); // of 2056
    for (int i = 0; i < 16; ++i) add(0.5f);
    CHECK(sum() == 2064);
  }
}

} // namespace
