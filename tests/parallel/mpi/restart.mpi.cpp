// SPDX-License-Identifier: Apache-2.0
//
// One process of a training run that can be killed and go on: `restart <distributed|pipeline> <whole|dies|resumes> <folder>`. A
// whole run leaves its weights in the folder. In one that dies, rank 1 kills itself inside of the backward pass of the fourth step;
// checkpoints are saved after each. One that resumes goes on from the newest that all ranks have, and ends with 0 if its
// weights have the bits of the whole run.

#include "tests/parallel/group/faults.hpp"

#include <twill/io/checkpoint_folder.hpp>
#include <twill/io/training.hpp>
#include <twill/nn/dropout.hpp>
#include <twill/nn/linear.hpp>
#include <twill/parallel/data/distributed_step.hpp>
#include <twill/parallel/messages/mpi.hpp>
#include <twill/parallel/pipeline/model/state.hpp>
#include <twill/parallel/pipeline/run/rank_step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

using namespace twill;
using namespace twill::test;

namespace {

constexpr std::int64_t steps = 6;
constexpr int fatal_step = 4; ///< the fourth
constexpr int micro_batches = 2;

struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) {
    const auto hidden = fault_point<Place::forward>(tanh(nn::linear(x, 6, "hidden")));
    return nn::linear(nn::dropout(hidden, 0.3), 3, "output");
  }
};
struct First {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) { return tanh(nn::linear(x, 4, "first")); }
};
struct Last {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) {
    return nn::linear(fault_point<Place::forward>(tanh(nn::linear(x, 4, "middle"))), 3, "last");
  }
};
using Pipe = pipeline::BasicPipeline<pipeline::OneForwardOneBackward, double, Cpu, First, Last>;

/// The batch of a step, as one rank sees it.
struct Batch {
  Tensor<double, Cpu, Shape<dyn, 4>> x;
  Tensor<double, Cpu, Shape<dyn, 3>> y;
};
Batch batch_of(std::int64_t step, int rank) {
  Batch batch{waves<4>(Cpu{0}, 5), waves<3>(Cpu{0}, 5)};
  for (std::int64_t i = 0; i < batch.x.elements(); ++i)
    batch.x.data()[i] += 0.1 * static_cast<double>((step + 3 * rank + i) % 7);
  return batch;
}

bool has_bits_of(const nn::StateDict& found, const nn::StateDict& expected) {
  bool agrees = found.size() == expected.size();
  for (const auto& [name, tensor] : found.entries()) {
    const nn::StoredTensor* const other = expected.find(name);
    agrees = agrees && other != nullptr && std::ranges::equal(tensor.bytes, other->bytes);
  }
  return agrees;
}

/// What is common to all wrappers: `step(number)` trains, `state()` and `load(state)` are the weights that are here.
template <class Step, class State, class Load>
int run(parallel::MpiCommunicator<>& world, std::string_view mode, const std::string& folder, const Step& step,
        const State& state, const Load& load) {
  const std::string own = folder + "/rank-" + std::to_string(world.rank());
  const std::string whole = own + "-whole.safetensors";
  io::CheckpointFolder checkpoints{own};
  std::int64_t first = 0;
  if (mode == "resumes") {
    const auto all = checkpoints.steps();
    first = all.empty() ? 0 : all.back();
    parallel::all_reduce(world, &first, 1, parallel::Reduction::min); // the ranks may have died one save apart
    if (first != fatal_step - 1) {
      std::fprintf(stderr, "restart: the newest checkpoint is of step %d\n", static_cast<int>(first));
      return 1;
    }
    const io::Checkpoint checkpoint = io::load_checkpoint(checkpoints.path_of(first));
    load(checkpoint.state("model"));
    generator(Cpu{0}).set_state(io::draw_of(checkpoint, "random"));
  }
  for (std::int64_t i = first; i < steps; ++i) {
    step(i);
    if (mode != "dies") continue;
    io::Checkpoint checkpoint{};
    checkpoint.add("model", state());
    io::set_draw(checkpoint, "random", generator(Cpu{0}).state());
    checkpoints.save(i + 1, checkpoint);
    parallel::barrier(world); // nobody is a step ahead, whoever dies
  }
  io::Checkpoint last{};
  last.add("model", state());
  if (mode == "whole") io::save_checkpoint(whole, last);
  if (mode == "resumes" && !has_bits_of(state(), io::load_checkpoint(whole).state("model"))) {
    std::fprintf(stderr, "restart: rank %d has other weights than the whole run\n", world.rank());
    return 1;
  }
  return 0;
}

int run_distributed(parallel::MpiCommunicator<>& world, std::string_view mode, const std::string& folder) {
  manual_seed_all(7);
  nn::Network<Model, Cpu, double> network{Cpu{0}};
  DistributedDataParallel model{network, world, {.buckets = {.first_bucket_bytes = 64, .bucket_bytes = 100}}};
  auto step = train_step(model, nn::mse, optim::Sgd{{.rate = 0.1}});
  return run(
      world, mode, folder,
      [&](std::int64_t i) {
        const Batch batch = batch_of(i, world.rank());
        static_cast<void>(step(batch.x, batch.y));
      },
      [&] { return nn::state_dict(network); },
      [&](const nn::StateDict& state) { nn::load_state_dict(network, state); });
}

int run_pipeline(parallel::MpiCommunicator<>& world, std::string_view mode, const std::string& folder) {
  manual_seed_all(7);
  Pipe pipe{Cpu{0}, world.rank(), RandomDraw{5, 0}};
  auto step = train_step(pipe, world, nn::mse, optim::Sgd{{.rate = 0.1}}, {.micro_batches = micro_batches});
  return run(
      world, mode, folder,
      [&](std::int64_t i) {
        const Batch batch = batch_of(i, 0);
        static_cast<void>(step(batch.x, batch.y));
      },
      [&] { return pipeline::state_dict(pipe); },
      [&](const nn::StateDict& state) { pipeline::load_state_dict(pipe, state); });
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string_view wrapper = argv[1];
  const std::string_view mode = argv[2];
  try {
    const parallel::MpiEnvironment environment;
    auto world = parallel::mpi_communicator();
    // Each process has one device, the first of its own. The last stage of two comes to its backward pass twice a step.
    const int turn = wrapper == "pipeline" ? fatal_step * micro_batches : fatal_step;
    Trial trial{mode == "dies" && world.rank() == 1
                    ? Fault{.rank = 0, .place = Place::backward, .turn = turn, .kind = Kind::dies}
                    : Fault{}};
    return wrapper == "pipeline" ? run_pipeline(world, mode, argv[3]) : run_distributed(world, mode, argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "restart: %s\n", error.what());
    return 1;
  }
}
