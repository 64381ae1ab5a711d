// SPDX-License-Identifier: Apache-2.0
//
// Training that can be killed at any time: the checkpoints of a run lie in a folder, a save runs beside the training, and a
// program that starts again finds the newest whole one and goes on as if nothing had happened, to the last bit.
//
// prints: the first program starts anew
// prints: the second program goes on from step 20
// prints: interrupted and uninterrupted training agree to the last bit: yes
// prints: of the file's tensors, hidden.weight is float32 of shape (8, 1)

#include <twill/io/checkpoint_folder.hpp>
#include <twill/io/training.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/network.hpp>
#include <twill/optim/schedules.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/train_step.hpp>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>
#include <unistd.h>
#include <vector>

using namespace twill;

struct Curve {
  static constexpr auto forward(Input<Dim<"batch">, 1> x) {
    return nn::linear(tanh(nn::linear(x, 8, "hidden")), 1, "output");
  }
};

/// Points of a sine, other ones for each step.
std::vector<float> points(std::int64_t step) {
  std::vector<float> x(16);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(std::fmod(0.37 * double(step) + 0.19 * double(i), 3));
  return x;
}

/// What a training program does: up to `last` steps, a checkpoint every five, unless it ends before, as if killed.
std::vector<float> run_program(const std::string& name, const std::string& path, std::int64_t killed_at,
                               std::int64_t last) {
  nn::Network<Curve> model{};
  auto step = train_step(model, nn::mse, optim::MomentumSgd{{.momentum = 0.9}});
  // region: resume
  auto schedule = optim::scheduled(step, optim::Cosine{.rate = 0.1, .steps = last});
  io::CheckpointFolder folder{path, {.keep_last = 2}};
  if (const auto found = folder.load_newest()) {
    io::restore(found->checkpoint, model, step); // everything or nothing
    std::cout << name << " goes on from step " << step.steps() << '\n';
  } else {
    std::cout << name << " starts anew\n";
  }
  while (step.steps() < last) {
    const std::vector<float> x = points(step.steps());
    std::vector<float> y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = std::sin(x[i]);
    schedule.update();
    step(from_values<Shape<dyn, 1>>(x, Dims(16, 1), model.device()),
         from_values<Shape<dyn, 1>>(y, Dims(16, 1), model.device()));
    if (step.steps() % 5 == 0) folder.save_in_background(step.steps(), io::checkpoint_of(model, step));
    if (step.steps() == killed_at) break;
  }
  folder.wait(); // an error of the last save would come out here
  // end region
  return to_vector(model.parameter<"hidden.weight">());
}

int main() {
  const std::filesystem::path place = std::filesystem::temp_directory_path() / ("twill-" + std::to_string(::getpid()));
  manual_seed_all(1);
  const std::vector<float> whole = run_program("a program that nobody kills", place / "whole", -1, 40);
  manual_seed_all(1);
  run_program("the first program", place / "run", 22, 40); // its last checkpoint is that of step 20
  manual_seed_all(2);                                      // another process starts with other random numbers
  const std::vector<float> resumed = run_program("the second program", place / "run", -1, 40);
  std::cout << "interrupted and uninterrupted training agree to the last bit: " << (resumed == whole ? "yes" : "no")
            << '\n';

  const auto newest = io::CheckpointFolder{place / "run"}.load_newest(); // a safetensors file like any other
  const nn::StateDict weights = newest->checkpoint.state("model");
  const nn::StoredTensor* const weight = weights.find("hidden.weight");
  std::cout << "of the file's tensors, hidden.weight is " << name(weight->dtype) << " of shape "
            << to_string(weight->shape) << '\n';
  std::filesystem::remove_all(place);
  return resumed == whole ? 0 : 1;
}
