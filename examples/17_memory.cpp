// SPDX-License-Identifier: Apache-2.0
//
// Who holds memory: a training run that keeps more than it should is recorded. The difference of two snapshots names the
// line that leaks; the time line goes to a page for a browser and to a trace for chrome://tracing or Perfetto, the plan of
// the training step to a picture. `17_memory FOLDER` keeps the files; without a folder they go with the program.
//
// prints: of 20 steps, 20 tensors were kept, in training/batch (17_memory.cpp:
// prints: +5.00 MiB
// prints: the plan of a training step:

#include <twill/memory/recording.hpp>
#include <twill/memory/summary.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/network.hpp>
#include <twill/optim/adam.hpp>
#include <twill/profile/memory_page.hpp>
#include <twill/profile/memory_places.hpp>
#include <twill/profile/memory_trace.hpp>
#include <twill/profile/plan_drawing.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/train_step.hpp>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <unistd.h>
#include <vector>

using namespace twill;

struct Autoencoder {
  static constexpr auto forward(Input<Dim<"batch">, 256> x) {
    auto hidden = relu(nn::linear(x, 128, "encoder.0"));
    auto code = tanh(nn::linear(hidden, 16, "encoder.1"));
    return nn::linear(relu(nn::linear(code, 128, "decoder.0")), 256, "decoder.1");
  }
};
using Batch = Tensor<float, Cpu, Shape<dyn, 256>>;

Batch make_batch(int number) {
  const memory::Place place{"batch"};
  return full<float, Shape<dyn, 256>>(Dims(256, 256), 0.1f * static_cast<float>(number % 7));
}

int main(int count, char** arguments) {
  const std::filesystem::path folder =
      count > 1 ? arguments[1] : std::filesystem::temp_directory_path() / ("twill-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);

  // region: recording
  const memory::Recording recording{Cpu{0}};
  nn::Network<Autoencoder> model{};
  auto step = train_step(model, nn::mse, optim::Adam{{.rate = 0.001}});
  std::vector<Batch> seen; // the mistake: every batch is kept
  memory::MemorySnapshot early{};
  for (int number = 0; number < 24; ++number) {
    const memory::Place place{"training"};
    if (number == 4) early = recording.snapshot();
    const Batch batch = make_batch(number);
    step(batch, batch);
    seen.push_back(batch);
  }
  std::cout << profile::difference_table(early, recording.snapshot());
  profile::save_memory_page(folder / "memory.html", recording.timeline());
  profile::save_memory_trace(folder / "memory.json", recording.timeline());
  // end region

  std::cout << '\n' << profile::places_table(recording.snapshot()) << '\n' << memory_summary(Cpu{0});
  for (const profile::PlaceUse& use : profile::difference(early, recording.snapshot()))
    std::cout << "of 20 steps, " << use.count << " tensors were kept, in " << use.place.name << '\n';

  // region: plan
  profile::save_plan<Autoencoder, nn::mse, optim::Adam, Batch>(folder / "plan.svg", {{"batch", 256}});
  // end region
  std::cout << "the plan of a training step: " << (folder / "plan.svg").string() << '\n';
  if (count < 2) std::filesystem::remove_all(folder);
}
