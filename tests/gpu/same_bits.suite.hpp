#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Training to the same bits on GPUs: under `parallel::Reproducible` one GPU, and two ranks, which share it where there is no
// other, end with the same weights, and a second run repeats the first.

#include <tests/support/suite.hpp>
#include <tests/training/models.hpp>

#include <twill/device/gpu/library_options.hpp>
#include <twill/device/gpu/stream.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/state_dict.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/data/reproducible_replicas.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace twill::test { namespace same_bits_suite {

using D = TestedDevice;

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    return nn::linear(tanh(nn::linear(x, 19, "hidden")), 3, "output");
  }
};
using Network = nn::Network<Mlp, D, float>;

inline constexpr parallel::Reproducible policy{.shards = 3};
inline constexpr std::int64_t rows = 13;

/// Deterministic algorithms of libraries for as long as this lives.
struct Deterministic {
  LibraryOptions before = library_options();
  Deterministic() {
    LibraryOptions options = before;
    options.is_deterministic = true;
    set_library_options(options);
  }
  ~Deterministic() { set_library_options(before); }
};

/// The losses of six steps, then the weights; `bring` gives a step its rows.
template <class Step, class Bring> std::vector<double> trained(Step& step, const Network& network, const Bring& bring) {
  std::vector<double> found{};
  for (int i = 0; i < 6; ++i)
    found.push_back(step(bring(random_rows<float, 5>(Cpu{0}, rows)), bring(random_labels(Cpu{0}, rows, 3))).item());
  const auto weights = weights_of(network);
  found.insert(found.end(), weights.begin(), weights.end());
  return found;
}

inline std::vector<double> alone() {
  manual_seed_all(7);
  Network network{D{0}};
  auto step = train_step(network, nn::cross_entropy, optim::Adam{{.rate = 0.05}}, policy);
  return trained(step, network, [](const auto& all) { return all.to(D{0}); });
}

inline std::vector<double> shared() {
  const std::vector<D> devices{D{0}, D{D::count() > 1 ? 1 : 0}};
  auto communicators = parallel::thread_communicators(devices, {.timeout_ms = 60'000});
  manual_seed_all(7);
  std::vector<Network> networks{};
  for (const D& device : devices) networks.emplace_back(device);
  std::vector<std::vector<double>> found(2);
  parallel::run_ranks(communicators, [&](auto& communicator) {
    const int rank = communicator.rank();
    const D device = communicator.device();
    const gpu::Stream<D> stream{device};
    const StreamGuard<D> guard{device, stream.handle()};
    Network& network = networks[static_cast<std::size_t>(rank)];
    DistributedDataParallel model{network, communicator};
    auto step = train_step(model, nn::cross_entropy, optim::Adam{{.rate = 0.05}}, parallel::zero<2>, policy);
    const parallel::Rows own = step.rows_of(rows);
    found[static_cast<std::size_t>(rank)] =
        trained(step, network, [&](const auto& all) { return parallel::rows_of<0>(all, own).contiguous().to(device); });
    step.gather_weights();
    const auto whole = weights_of(network);
    std::ranges::copy(whole, found[static_cast<std::size_t>(rank)].end() - static_cast<std::ptrdiff_t>(whole.size()));
  });
  require(found[1] == found[0]);
  return found[0];
}

inline void ranks() {
  const Deterministic scope{};
  const std::vector<double> one = alone();
  require(alone() == one);
  require(shared() == one);
}
const Case ranks_case{"one GPU and two ranks train to the same bits under Reproducible", &ranks};

}} // namespace twill::test::same_bits_suite
