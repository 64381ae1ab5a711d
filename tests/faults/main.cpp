// SPDX-License-Identifier: Apache-2.0
//
// `test_faults step|operations|slots|traced|save|gpu|gpus|gpu_traced|threads|tiny`: everything that can fail does so once in turn
// in the first steps of a model with Adam, of one with every operation that asks for memory, of one in two device slots,
// traced or not, in saves of a checkpoint and in the threads of loaders and teams (`test_faults save 7`: only point 7, in
// this process); and steps, however many, take no memory once they are warm (`test_faults tiny 600`: for so many seconds, a
// million at most). The numbers of points are committed: fewer mean that something is not watched any more.

#include <tests/faults/in_turn.hpp>
#include <tests/faults/points.hpp>
#include <tests/faults/steps.hpp>
#include <tests/support/temporary_folder.hpp>

#include <twill/data/loader.hpp>
#include <twill/io/checkpoint_folder.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses/regression.hpp>
#include <twill/nn/network.hpp>
#include <twill/optim/adam.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/train_step.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unistd.h>
#include <vector>

namespace {

using namespace twill;
using namespace twill::test;
using namespace twill::test::faults;

/// The second layer is so large that its update does not wait for the gradients of the first.
struct Tiny {
  static constexpr auto forward(Input<Dim<"batch">, 2> x) {
    const auto first = tanh(nn::linear(x, 320, "first"));
    return nn::linear(tanh(nn::linear(first, 16, "second")), 1, "output");
  }
};
using Network = nn::Network<Tiny, Cpu>;
using Step = decltype(train_step(std::declval<Network&>(), nn::mse, optim::Adam{}));

constexpr std::int64_t rows = 1; // products of one row are made without a library, which would allocate in its own ways

/// What is counted at the end of a scenario, when everything that it made is gone.
Outcome counted(Outcome outcome) {
  const Pause pause{};
  outcome.points = points.passed;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) outcome.of_kind[kind] = points.counts[kind];
  outcome.pool_bytes = memory_allocated(Cpu{0});
  outcome.blocks_in_use = points.blocks_in_use;
  return outcome;
}

/// A network, a step, the first batch, two steps at once and one on the device's own thread; each repeated when it fails.
Outcome train_twice(long failing) {
  points.failing = failing;
  Outcome outcome{};
  {
    std::optional<Network> network{};
    std::optional<Step> step{};
    std::optional<Tensor<float, Cpu, Shape<rows, 2>>> x{};
    std::optional<Tensor<float, Cpu, Shape<rows, 1>>> y{};
    std::array<float, 3> losses{};
    {
      const Watch watch{};
      again_if_it_fails(outcome, [&] {
        manual_seed_all(7);
        network.emplace(Cpu{0});
      });
      again_if_it_fails(outcome, [&] { step.emplace(train_step(*network, nn::mse, optim::Adam{{.rate = 0.1}})); });
      again_if_it_fails(outcome, [&] {
        x = tensor<Shape<rows, 2>>({1.0F, 2.0F});
        y = tensor<Shape<rows, 1>>({0.5F});
      });
      const auto make = [&](float& loss, const auto& f) {
        step_again_if_it_fails(
            outcome, *network, *step, [&] { loss = f(); }, [] { synchronize(Cpu{0}); });
      };
      make(losses[0], [&] { return float((*step)(*x, *y)); });
      make(losses[1], [&] { return float((*step)(*x, *y)); });
      make(losses[2], [&] { return submit(Cpu{0}, [&] { return float((*step)(*x, *y)); }).wait(); });
    }
    outcome.bits = hash_of(std::as_bytes(std::span{losses}), hash_of(nn::state_dict(*network), 1));
  }
  return counted(outcome);
}

/// Two passes of a loader whose two threads make the batches, taken up where a failure stopped them; then work of a team of
/// three threads, each of which allocates.
Outcome in_threads(long failing) {
  points.failing = failing;
  Outcome outcome{};
  {
    const auto sample = [](std::int64_t index) {
      const std::vector<float> made(std::size_t{8} + static_cast<std::size_t>(index), static_cast<float>(index));
      return std::tuple{made.back()};
    };
    using Loader = decltype(data::DataLoader{data::generated_dataset(12, sample), data::ShuffledSampler{1}, Cpu{0}});
    std::optional<Loader> loader{};
    data::Position place{};
    std::size_t bits = 1;
    long sum = 0;
    const Watch watch{};
    again_if_it_fails(outcome, [&] {
      loader.emplace(data::generated_dataset(12, sample), data::ShuffledSampler{1}, Cpu{0},
                     data::LoaderOptions{.batch_size = 2, .workers = 2});
    });
    again_if_it_fails(outcome, [&] {
      while (place.epoch < 2) {
        loader->set_position(place);
        for (const auto& [batch] : *loader) {
          for (std::int64_t row = 0; row < batch.shape()[0]; ++row)
            bits = bits * 31 + static_cast<std::size_t>(batch.data()[row]);
          place = loader->position();
        }
      }
    });
    again_if_it_fails(outcome, [&] {
      static auto* const threads = new detail::ForkJoin{{0, 0, 0}, "faults"}; // never destroyed, as those of devices
      std::array<long, 3> sums{};
      Team{*threads}.parallel([&](int rank, int) {
        const std::vector<long> made(16, rank + 1);
        sums[static_cast<std::size_t>(rank)] = made.back();
      });
      sum = sums[0] + sums[1] + sums[2];
    });
    outcome.bits = bits * 31 + static_cast<std::size_t>(sum);
  }
  return counted(outcome);
}

/// Saves, at once and in the background, of a run that goes on.
Outcome saving(long failing) {
  points.failing = failing;
  set_warning_sink([](std::string_view) {});
  Outcome outcome{};
  {
    const TemporaryFolder place{};
    manual_seed_all(7);
    Network network{Cpu{0}};
    Step step = train_step(network, nn::mse, optim::Adam{{.rate = 0.1}});
    const auto x = tensor<Shape<rows, 2>>({1.0F, 2.0F});
    const auto y = tensor<Shape<rows, 1>>({0.5F});
    static_cast<void>(float(step(x, y)));
    watch_files();
    {
      std::optional<io::CheckpointFolder> folder{};
      const Watch watch{};
      again_if_it_fails(outcome, [&] { folder.emplace(place / "run/of/today", io::RotationOptions{.keep_last = 1}); });
      again_if_it_fails(outcome, [&] { folder->save(1, io::checkpoint_of(network, step)); });
      again_if_it_fails(outcome, [&] { static_cast<void>(float(step(x, y))); });
      again_if_it_fails(outcome, [&] {
        folder->save_in_background(2, io::checkpoint_of(network, step));
        folder->wait();
      });
      again_if_it_fails(outcome, [&] {
        const auto found = folder->load_newest();
        outcome.bits = hash_of(found->checkpoint.state("model"), static_cast<std::size_t>(found->step));
      });
      again_if_it_fails(outcome, [&] { static_cast<void>(float(step(x, y))); });
    }
    outcome.bits = hash_of(nn::state_dict(network), outcome.bits);
  }
  return counted(outcome);
}

/// A million steps, or as many as fit into the seconds: nothing grows.
int tiny_steps(int seconds) {
  manual_seed_all(7);
  Network network{Cpu{0}};
  Step step = train_step(network, nn::mse, optim::Adam{{.rate = 1e-4}});
  const auto x = tensor<Shape<rows, 2>>({1.0F, 2.0F});
  const auto y = tensor<Shape<rows, 1>>({0.5F});
  float loss = 0;
  for (int i = 0; i < 100; ++i) loss = step(x, y);
  const long blocks = points.blocks_in_use;
  const std::int64_t bytes = memory_allocated(Cpu{0});
  const std::int64_t reserved = memory_reserved(Cpu{0});
  const auto started = std::chrono::steady_clock::now();
  long steps = 0;
  long asked = 0;
  {
    const Watch watch{};
    while (steps < 1'000'000 && std::chrono::steady_clock::now() - started < std::chrono::seconds{seconds})
      for (int i = 0; i < 1000; ++i, ++steps) loss = step(x, y);
    asked = points.passed;
  }
  std::printf("%ld steps, loss %g: %ld allocations, %ld blocks, %lld bytes of the pool more than before them\n", steps,
              static_cast<double>(loss), asked, points.blocks_in_use - blocks,
              static_cast<long long>(memory_allocated(Cpu{0}) - bytes));
  return asked == 0 && points.blocks_in_use == blocks && memory_allocated(Cpu{0}) == bytes &&
                 memory_reserved(Cpu{0}) == reserved && step.steps() == steps + 100
             ? 0
             : 1;
}

} // namespace

namespace twill::test::faults {
Outcome training_on_a_gpu(long failing);        // gpu.cpp
Outcome training_on_gpus(long failing);         // the same
Outcome training_traced_on_a_gpu(long failing); // the same
Outcome training_with_operations(long failing); // operations.cpp
Outcome training_in_slots(long failing);        // the same
Outcome training_traced(long failing);
Outcome training_traced_on_one_device(long failing);
} // namespace twill::test::faults

int main(int count, char** arguments) {
  if (::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 0); // a thousand saves wait for no disk
  const std::string_view scenario = count > 1 ? arguments[1] : "";
  if (count > 2 && scenario != "tiny") { // one point, without another process, for a debugger
    const Outcome outcome = (scenario == "step"         ? train_twice
                             : scenario == "operations" ? training_with_operations
                             : scenario == "slots"      ? training_in_slots
                             : scenario == "traced"     ? training_traced
                             : scenario == "alone"      ? training_traced_on_one_device
                             : scenario == "save"       ? saving
                             : scenario == "threads"    ? in_threads
                             : scenario == "gpus"       ? training_on_gpus
                             : scenario == "gpu_traced" ? training_traced_on_a_gpu
                                                        : training_on_a_gpu)(std::atol(arguments[2]));
    std::printf("%ld exceptions; \"%s\"\n", outcome.exceptions, outcome.message);
    return 0;
  }
  if (scenario == "step") return each_in_turn("step", train_twice, 100) == 0 ? 0 : 1;
  if (scenario == "operations") return each_in_turn("operations", training_with_operations, 100) == 0 ? 0 : 1;
  if (scenario == "slots") return each_in_turn("slots", training_in_slots, 100) == 0 ? 0 : 1;
  if (scenario == "traced") {
    const int on_two_devices = each_in_turn("traced", training_traced, 100);
    return on_two_devices + each_in_turn("traced on one device", training_traced_on_one_device, 60) == 0 ? 0 : 1;
  }
  if (scenario == "save") return each_in_turn("save", saving, 800) == 0 ? 0 : 1;
  if (scenario == "gpu") return each_in_turn("gpu", training_on_a_gpu, 180) == 0 ? 0 : 1;
  if (scenario == "gpus") return each_in_turn("gpus", training_on_gpus, 500) == 0 ? 0 : 1;
  if (scenario == "gpu_traced") return each_in_turn("gpu_traced", training_traced_on_a_gpu, 300) == 0 ? 0 : 1;
  if (scenario == "threads") return each_in_turn("threads", in_threads, 60) == 0 ? 0 : 1;
  if (scenario == "tiny") return tiny_steps(count > 2 ? std::atoi(arguments[2]) : 8);
  std::printf(
      "usage: test_faults step|operations|slots|traced|alone|save|gpu|gpus|gpu_traced|threads [point], tiny [seconds]\n");
  return 2;
}
