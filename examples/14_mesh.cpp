// SPDX-License-Identifier: Apache-2.0
//
// A training on a mesh of ranks, here threads, as one writes it for one device: a schedule of the rate, clipping, a loss
// scale, evaluation, checkpoints. Two replicas of a pipeline of two stages, whose wide layers two ranks share, share out the
// optimiser's states, too. The program is killed; the next one has half as many ranks, goes on from the newest checkpoint, and
// ends where one device does that has never stopped.
//
// prints: eight ranks start anew
// prints: four ranks go on from step 10
// prints: the losses agree: yes
// prints: the results agree: yes

#include <twill/io.hpp>
#include <twill/parallel.hpp>
#include <twill/twill.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>
#include <unistd.h>
#include <vector>

using namespace twill;

/// Two blocks, each of which N ranks divide by its hidden width, and a mark between them.
template <int N> struct Mixer {
  using Ranks = RankAxis<"tensor", N>;
  static constexpr auto forward(Input<Dim<"batch">, 16> x) {
    auto y = x + nn::row_linear<Ranks>(relu(nn::column_linear<Ranks>(x, 64, "wide1")), 16, "narrow1");
    y = nn::stage_boundary(nn::dropout(y, 0.1));
    y = y + nn::row_linear<Ranks>(relu(nn::column_linear<Ranks>(y, 64, "wide2")), 16, "narrow2");
    return nn::linear(y, 4, "head");
  }
};

// region: mesh
using Grid = parallel::Mesh<parallel::Axis<"data">, parallel::Axis<"pipe", 2>, parallel::Axis<"tensor", 2>>;
template <class C> using Model = ParallelModel<Grid, pipeline::OneForwardOneBackward, C, Mixer<2>>;
// end region

/// The data, and how long to train on it.
struct Task {
  static constexpr std::int64_t rows = 22; // 11 for each of two replicas, in micro-batches of 4, 4 and 3
  static constexpr std::int64_t steps = 20;
  Tensor<float, Cpu, Shape<dyn, 16>> x;
  Tensor<float, Cpu, Shape<dyn, 4>> y;
};

auto make_rule() { return optim::loss_scaled(optim::clip_norm(optim::Adam{{.rate = 0.003}}, 1.0)); }
auto make_schedule() { return optim::warm_up(4, optim::Cosine{.rate = 0.003, .steps = Task::steps}); }

/// What every rank does: steps up to one at which the program is killed, and a checkpoint every five.
template <class C>
void train_rank(C& member, const Task& task, const std::string& path, std::int64_t killed_at,
                std::vector<double>& losses, std::vector<float>& result) {
  const bool is_first = member.rank() == 0;
  // region: loop
  Model<C> model{member, RandomDraw{.seed = 1, .step = 0}};
  auto step = train_step(model, nn::mse, make_rule(), {.micro_batches = 3}, parallel::zero<1>);
  auto schedule = optim::scheduled(step, make_schedule());
  io::CheckpointFolder folder{path};
  if (const auto found = folder.load_newest()) io::restore(found->checkpoint, model, step);
  if (is_first && step.steps() == 0) std::cout << "eight ranks start anew\n";
  if (is_first && step.steps() > 0) std::cout << "four ranks go on from step " << step.steps() << "\n";
  const parallel::Rows own = model.rows_of(Task::rows); // of this rank's replica
  while (step.steps() < killed_at) {
    schedule.update();
    const double loss = step(parallel::rows_of<0>(task.x, own), parallel::rows_of<0>(task.y, own)).item();
    if (is_first) losses[static_cast<std::size_t>(step.steps() - 1)] = loss;
    if (step.steps() % 5 != 0) continue;
    const io::Checkpoint now = io::checkpoint_of(model, step); // all ranks gather it, one saves it
    if (is_first) folder.save(step.steps(), now);
    if (is_first)
      std::cout << "step " << step.steps() << ": loss " << loss << ", norm " << step.gradient_norm() << ", scale "
                << step.state(optim::loss_scale_state) << "\n";
  }
  auto evaluate = pipeline::inference(model, {.micro_batches = 3, .is_result_everywhere = true});
  const Tensor output = evaluate(task.x); // without dropout
  // end region
  if (is_first) result = to_vector(output);
}

int main() {
  configure_host({.devices = 8, .threads_per_device = 1, .oversubscribe = true});
  manual_seed_all(1);
  const Task task{rand<float, Shape<dyn, 16>>(Dims(Task::rows, 16)), rand<float, Shape<dyn, 4>>(Dims(Task::rows, 4))};
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("twill-mesh-" + std::to_string(::getpid()));
  std::vector<double> losses(Task::steps);
  std::vector<float> result{};
  const auto run_program = [&](int ranks, std::int64_t killed_at) {
    std::vector<Cpu> devices{};
    for (int i = 0; i < ranks; ++i) devices.push_back(Cpu{i});
    auto world = parallel::thread_communicators(devices);
    parallel::run_ranks(world, [&](auto& member) { train_rank(member, task, folder, killed_at, losses, result); });
  };
  run_program(8, 13); // its last checkpoint is that of step 10
  run_program(4, Task::steps);
  std::filesystem::remove_all(folder);

  manual_seed(Cpu{0}, 1);
  nn::Network<Mixer<1>> one{Cpu{0}};
  auto step = train_step(one, nn::mse, make_rule());
  auto schedule = optim::scheduled(step, make_schedule());
  double difference = 0;
  for (const double own : losses) {
    schedule.update();
    difference = std::fmax(difference, std::fabs(own - static_cast<double>(step(task.x, task.y).item())));
  }
  std::cout << "the losses agree: " << (difference < 1e-4 ? "yes" : "no") << "\n";

  float furthest = 0;
  const std::vector<float> wanted = to_vector(one.infer(task.x));
  for (std::size_t i = 0; i < wanted.size(); ++i) furthest = std::fmax(furthest, std::fabs(wanted[i] - result.at(i)));
  std::cout << "the results agree: " << (furthest < 1e-3F ? "yes" : "no") << "\n";
  return difference < 1e-4 && furthest < 1e-3F ? 0 : 1;
}
