// SPDX-License-Identifier: Apache-2.0
//
// Training to equal bits on any number of devices: a network with dropout trains a hundred steps by itself, as one to four
// replicas of a process, and on one to four ranks whose states, gradients and weights are whole or shared out. A line of
// the table has the number of devices and a number made of all bits of the weights and of Adam's moments.
//
// prints: all 21 runs have the same bits

#include "examples/support/checksum.hpp"

#include <twill/parallel.hpp>
#include <twill/parallel/data/reproducible_replicas.hpp>
#include <twill/twill.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

using namespace twill;

struct Classifier {
  static constexpr auto forward(Input<Dim<"batch">, 12> x) {
    const auto hidden = nn::dropout(relu(nn::linear(x, 32, "hidden")), 0.2);
    return nn::linear(hidden, 5, "output");
  }
};
using Network = nn::Network<Classifier, Cpu>;

constexpr int steps = 100;
constexpr std::int64_t rows =
    30; // of a batch, in 7 shards: neither divides by the other, nor by most numbers of devices
constexpr parallel::Reproducible seven_shards{.shards = 7};
const optim::Adam rule{{.rate = 0.01}};

struct Batch {
  Tensor<float, Cpu, Shape<rows, 12>> x = randn<float, Shape<rows, 12>>();
  Tensor<std::int64_t, Cpu, Shape<rows>> label = randint<std::int64_t, Shape<rows>>(0, 5);
};

/// All runs begin with these weights, and draw the same numbers.
Network first_network() {
  manual_seed_all(3);
  return Network{Cpu{0}};
}

/// Bits of weights and states.
template <class Step> std::string bits_of(const Network& network, const Step& step) {
  return examples::checksum(network) + " " + examples::checksum(step.state_dict());
}

/// By itself: gradients are accumulated over the shards.
std::string alone(const Batch& batch) {
  Network network = first_network();
  auto step = train_step(network, nn::cross_entropy, rule, seven_shards);
  for (int i = 0; i < steps; ++i) step(batch.x, batch.label);
  return bits_of(network, step);
}

std::string replicated(const Batch& batch, const std::vector<Cpu>& devices) {
  Network network = first_network();
  DataParallel model{network, {.devices = devices}};
  auto step = train_step(model, nn::cross_entropy, rule, seven_shards);
  for (int i = 0; i < steps; ++i) step(batch.x, batch.label);
  return bits_of(network, step);
}

/// Ranks of threads; processes take the same lines with an MPI communicator.
template <int Stage> std::string ranked(const Batch& batch, const std::vector<Cpu>& devices) {
  auto communicators = parallel::thread_communicators(devices);
  std::string bits{};
  manual_seed_all(3);
  parallel::run_ranks(communicators, [&](auto& communicator) {
    const int rank = communicator.rank();
    const Cpu device = devices[static_cast<std::size_t>(rank)];
    Network network{device};
    DistributedDataParallel model{network, communicator};
    auto step = train_step(model, nn::cross_entropy, rule, parallel::zero<Stage>, seven_shards);
    const parallel::Rows own = step.rows_of(rows);
    const auto x = parallel::rows_of<0>(batch.x, own).to(device);
    const auto label = parallel::rows_of<0>(batch.label, own).to(device);
    for (int i = 0; i < steps; ++i) step(x, label);
    step.gather_weights(); // which zero<3> has divided
    const std::string found = bits_of(network, step);
    if (rank == 0) bits = found;
  });
  return bits;
}

int main() {
  configure_host({.devices = 4, .threads_per_device = 1, .oversubscribe = true});
  manual_seed_all(1);
  const Batch batch{};
  std::set<std::string> different{};
  int runs = 0;
  const auto line = [&](const char* name, std::size_t devices, const std::string& bits) {
    std::printf("%-36s %zu  %s\n", name, devices, bits.c_str());
    different.insert(bits);
    ++runs;
  };
  std::printf("%-36s n  weights          states\n", "");
  line("gradient accumulation", 1, alone(batch));
  std::vector<Cpu> devices{};
  for (int i = 0; i < 4; ++i) {
    devices.emplace_back(i);
    line("DataParallel", devices.size(), replicated(batch, devices));
    line("DistributedDataParallel", devices.size(), ranked<0>(batch, devices));
    line("  states shared out, zero<1>", devices.size(), ranked<1>(batch, devices));
    line("  and gradients, zero<2>", devices.size(), ranked<2>(batch, devices));
    line("  and weights, zero<3>", devices.size(), ranked<3>(batch, devices));
  }
  if (different.size() == 1) std::printf("all %d runs have the same bits\n", runs);
}
