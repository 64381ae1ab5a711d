// SPDX-License-Identifier: Apache-2.0
//
// Trainings on meshes that stop and go on: on the same mesh to the last bit, on a mesh of another form and on one device to
// the last digits, from files that know nothing of either.
#include "tests/parallel/model/parallel_model.suite.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/io/checkpoint.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/loss_scale.hpp>
#include <twill/parallel/model/checkpoint.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace twill;
using namespace twill::test;
using parallel::Axis;
using parallel::Mesh;

namespace {

/// Two moments for each weight, a norm over all of them, and a scale that changes at every other step.
const auto rule = optim::loss_scaled<optim::LossScaleOptions{.initial = 64, .interval = 2}>(
    optim::clip_norm(optim::Adam{{.rate = 0.02}}, 0.3));
/// The same with other options, for programs that go on from a checkpoint, which has those above.
const auto other_rule = optim::loss_scaled<optim::LossScaleOptions{.initial = 64, .interval = 2}>(
    optim::clip_norm(optim::Adam{{.rate = 0.5, .beta1 = 0.5}}, 7));

std::vector<parallel::ThreadCommunicator<Cpu>> group_of(int ranks) {
  std::vector<Cpu> devices;
  for (int rank = 0; rank < ranks; ++rank) devices.push_back(Cpu{rank % Cpu::count()});
  return parallel::thread_communicators(devices, {.timeout_ms = 60'000});
}

bool has_bits_of(const nn::StateDict& found, const nn::StateDict& wanted) {
  bool agrees = found.size() == wanted.size();
  for (const auto& [name, tensor] : wanted.entries()) {
    const nn::StoredTensor* const own = found.find(name);
    agrees = agrees && own != nullptr && own->shape == tensor.shape && std::ranges::equal(own->bytes, tensor.bytes);
  }
  return agrees;
}

/// All of a checkpoint but single numbers of other types: float64 within 1e-12, counts alike.
void check_close(const io::Checkpoint& found, const io::Checkpoint& wanted) {
  const auto doubles = [](const nn::StateDict& all_of_it) {
    nn::StateDict chosen{};
    for (const auto& [name, tensor] : all_of_it.entries())
      if (tensor.dtype == DType::float64) chosen.add(name, tensor);
    return chosen;
  };
  for (const char* section : {"model", "optimiser"}) {
    const nn::StateDict own = found.state(section);
    const nn::StateDict other = wanted.state(section);
    CHECK_NOTHROW(require_close(doubles(own), doubles(other)));
    CHECK(own.size() == other.size());
    for (const char* exact : {"steps", "loss_scale.scale", "loss_scale.good_steps"})
      if (const nn::StoredTensor* const number = other.find(exact)) {
        REQUIRE(own.find(exact) != nullptr);
        CHECK(std::ranges::equal(own.find(exact)->bytes, number->bytes));
      }
  }
  CHECK(io::draw_of(found, "random.device") == io::draw_of(wanted, "random.device"));
}

/// Steps on a mesh, from a checkpoint or anew, and the checkpoint of the end; that of the middle, too, where asked.
template <class M, int N, class Z>
io::Checkpoint train_on(int ranks, const WholeRun& data, const io::Checkpoint* from, int steps, Z shared,
                        io::Checkpoint* middle = nullptr) {
  io::Checkpoint end{};
  auto world = group_of(ranks);
  parallel::run_ranks(world, [&](auto& member) {
    using C = std::remove_cvref_t<decltype(member)>;
    const RandomDraw draw =
        from == nullptr ? data.draw : RandomDraw{.seed = 99, .step = 5}; // what is drawn is overwritten
    ParallelModel<M, pipeline::OneForwardOneBackward, C, Meshed<N>, double> model{
        member, draw, {.buckets = {.first_bucket_bytes = 100, .bucket_bytes = 300}}};
    auto step = train_step(model, nn::cross_entropy, from == nullptr ? rule : other_rule, {.micro_batches = 2}, shared);
    if (from != nullptr) io::restore(*from, model, step);
    const parallel::Rows own = model.rows_of(data.x.shape()[0]);
    for (int i = 0; i < steps; ++i) {
      if (middle != nullptr && 2 * i == steps) {
        io::Checkpoint now = io::checkpoint_of(model, step);
        if (member.rank() == 0) *middle = std::move(now);
      }
      step(parallel::rows_of<0>(data.x, own), parallel::rows_of<0>(data.labels, own));
    }
    io::Checkpoint now = io::checkpoint_of(model, step);
    if (member.rank() == ranks - 1) end = std::move(now); // any rank has all of it
  });
  return end;
}

TEST_CASE("a training on a mesh goes on where it was saved, on that mesh, on another one and on one device",
          "[parallel][PAR-7][IO-3][IO-5]") {
  const std::uint64_t seed = test_seed();
  INFO("seed " << seed);
  const WholeRun data = train_one_network(seed, 11, 1); // 6 rows and 5 for two replicas
  io::Checkpoint saved{};
  const io::Checkpoint wanted = train_on<Cube, 2>(8, data, nullptr, 4, parallel::zero<0>, &saved);
  CHECK(wanted.state("optimiser").find("shared.exp_avg_sq")->shape == Dims(8, 6)); // whole, and once
  CHECK(wanted.state("optimiser").find("clip.gradient_norm") != nullptr);

  const std::string path = std::filesystem::temp_directory_path() / ("twill-mesh-" + std::to_string(::getpid()));
  io::save_checkpoint(path, saved);
  const io::Checkpoint read = io::load_checkpoint(path);
  std::filesystem::remove(path);

  for (const io::Checkpoint& same : {train_on<Cube, 2>(8, data, &read, 2, parallel::zero<0>),
                                     train_on<Cube, 2>(8, data, &read, 2, parallel::zero<1>)}) {
    CHECK(has_bits_of(same.state("model"), wanted.state("model")));
    CHECK(has_bits_of(same.state("optimiser"), wanted.state("optimiser")));
    CHECK(same.values() == wanted.values());
  }
  using Other = Mesh<Axis<"pipe", 2>, Axis<"data">>;
  check_close(train_on<Other, 1>(6, data, &read, 2, parallel::zero<1>), wanted);

  nn::Network<Meshed<1>, Cpu, double> one{Cpu{0}};
  training::Optimiser optimiser{one, other_rule};
  io::restore(read, one, optimiser);
  io::Checkpoint half{};
  for (int i = 0; i < 2; ++i) {
    if (i == 1) half = io::checkpoint_of(one, optimiser);
    optimiser.zero_grad();
    optimiser.backward(nn::cross_entropy(one.forward(data.x), data.labels));
    optimiser.step();
  }
  check_close(io::checkpoint_of(one, optimiser), wanted);
  check_close(train_on<Other, 1>(6, data, &half, 1, parallel::zero<1>), wanted); // from one device to many

  // A checkpoint that lacks what ranks draw changes nothing; a number that only another stage has is set all the same.
  saved = train_on<Other, 1>(2, data, nullptr, 1, parallel::zero<1>);
  io::Checkpoint partial{};
  for (const char* section : {"model", "optimiser"}) partial.add(section, saved.state(section));
  io::set_draw(partial, "random.device", io::draw_of(saved, "random.device"));
  partial.set("random.ranks", 2);
  auto world = group_of(2);
  auto aside = group_of(2); // goes on when the other is ended
  std::vector<int> as_before(2);
  std::vector<std::string> refused(4);
  parallel::run_ranks(world, [&](auto& member) {
    using C = std::remove_cvref_t<decltype(member)>;
    ParallelModel<Other, pipeline::OneForwardOneBackward, C, Meshed<1>, double> model{
        member, RandomDraw{.seed = 3, .step = 1}, {.buckets = {.first_bucket_bytes = 100, .bucket_bytes = 300}}};
    auto step = train_step(model, nn::cross_entropy, rule, {.micro_batches = 2}, parallel::zero<1>);
    const auto rank = static_cast<std::size_t>(member.rank());
    for (const char* name : {"early", "late"}) model.set(name, 0.5);
    refused[rank] = message_of<ValueError>([&] { model.set("rate", 1); });
    std::vector<double> weights{};
    const auto add_weights = [&](auto& network) {
      weights.push_back(*static_cast<const double*>(network.state()->buffers[0].data()));
    };
    model.pipeline().for_each_stage(add_weights);
    const RandomDraw draw = model.pipeline().next_draw();
    parallel::barrier(aside[rank]);
    refused[2 + rank] = message_of<ValueError>([&] { io::restore(partial, model, step); });
    model.pipeline().for_each_stage(add_weights);
    as_before[rank] = weights.size() == 2 && weights[0] == weights[1] && model.pipeline().next_draw() == draw;
  });
  CHECK(as_before == std::vector<int>{1, 1});
  CHECK_THAT(refused[0], Catch::Contains("there is no run-time number 'rate'"));
  CHECK_THAT(refused[1], Catch::Contains("there is no run-time number 'rate'"));
  CHECK_THAT(refused[2], Catch::Contains("there is no value 'random.rank.0"));
  CHECK_THAT(refused[3], Catch::Contains("there is no value 'random.rank.1"));
}

} // namespace
