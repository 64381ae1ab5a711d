// SPDX-License-Identifier: Apache-2.0
//
// Distributed data parallelism: every rank, here a thread with a device of its own, trains a replica on its share of each
// batch, gradients are reduced in buckets while the backward pass still runs, and the optimiser's states are shared out over
// the ranks. Shards are uneven and one rank waits for rows half of the time; the numbers are one device's all the same.
//
// prints: as one device
// prints: states of rank 0

#include <twill/parallel.hpp>
#include <twill/twill.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <random>
#include <vector>

using namespace twill;

struct Classifier {
  static constexpr auto forward(Input<Dim<"batch">, 16> x) {
    auto hidden = nn::batch_norm(nn::linear(x, 64, "hidden", nn::Bias::no), "norm", {.is_synchronised = true});
    return nn::linear(relu(hidden), 4, "output");
  }
};

struct Batch {
  Tensor<float, Cpu, Shape<dyn, 16>> x;
  Tensor<std::int64_t, Cpu, Shape<dyn>> label;
};

/// Points around four corners, rows `begin` to `end` of batch `number`.
Batch rows_of_batch(int number, std::int64_t begin, std::int64_t end, Cpu device) {
  std::mt19937 engine{static_cast<unsigned>(number)};
  std::normal_distribution<float> noise{};
  Batch batch{{device, Dims(end - begin, 16)}, {device, Dims(end - begin)}};
  for (std::int64_t row = 0; row < end; ++row) {
    const std::int64_t corner = row % 4;
    for (std::int64_t k = 0; k < 16; ++k) {
      const float value = noise(engine) + (k % 4 == corner ? 1.5F : 0.0F);
      if (row >= begin) batch.x.data()[(row - begin) * 16 + k] = value;
    }
    if (row >= begin) batch.label.data()[row - begin] = corner;
  }
  return batch;
}

/// The rows of a rank: half of them, then a half of the rest, and so on; the last one has none in every other batch.
std::int64_t first_row(int number, int rank, int ranks) {
  constexpr std::int64_t rows = 64;
  if (rank == ranks || (number % 2 == 1 && rank == ranks - 1)) return rows;
  return rows - (rows >> rank);
}

constexpr int batches = 60;

// region: ranks
/// What one rank does. The communicator may be one of threads, or any other.
template <parallel::Communicator C> void train_rank(C& communicator, nn::Network<Classifier>& network) {
  DistributedDataParallel model{network, communicator};
  auto step = train_step(model, nn::cross_entropy, optim::AdamW{{.rate = 0.01}}, parallel::zero<1>);
  for (int number = 0; number < batches; ++number) {
    const int rank = communicator.rank();
    const std::int64_t begin = first_row(number, rank, communicator.size());
    const std::int64_t end = first_row(number, rank + 1, communicator.size());
    const auto [x, label] = rows_of_batch(number, begin, end, network.device());
    const auto loss = step(x, label); // of all rows of all ranks
    if (rank == 0 && number % 20 == 0) std::cout << "batch " << number << ": loss " << loss.item() << "\n";
    if (rank == 0 && number + 1 == batches)
      std::cout << "states of rank 0: " << step.memory(x, label).states << " bytes\n";
  }
}
// end region

int main() {
  configure_host({.devices = 4, .threads_per_device = 1, .oversubscribe = true});
  const std::vector<Cpu> devices{Cpu{0}, Cpu{1}, Cpu{2}, Cpu{3}};
  std::vector<nn::Network<Classifier>> networks{};
  for (const Cpu& device : devices) {
    manual_seed_all(1);
    networks.emplace_back(device);
  }
  auto communicators = parallel::thread_communicators(devices);
  parallel::run_ranks(communicators, [&](auto& communicator) {
    train_rank(communicator, networks[static_cast<std::size_t>(communicator.rank())]);
  });

  manual_seed_all(1);
  nn::Network<Classifier> alone{Cpu{0}};
  auto step = train_step(alone, nn::cross_entropy, optim::AdamW{{.rate = 0.01}});
  for (int number = 0; number < batches; ++number) {
    const auto [x, label] = rows_of_batch(number, 0, 64, Cpu{0});
    static_cast<void>(step(x, label));
  }
  const auto [x, label] = rows_of_batch(batches, 0, 64, Cpu{0});
  const Tensor expected = alone.infer(x);
  const Tensor found = networks[0].infer(x);
  const bool same = max(abs(found - expected)).item() < 0.01F;
  std::cout << "the ranks predict " << (same ? "" : "not ") << "as one device\n";
  return same ? 0 : 1;
}
