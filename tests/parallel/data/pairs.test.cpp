// SPDX-License-Identifier: Apache-2.0
//
// Ways to train on several devices, combined with what changes a step on one: each row is compared with one device in float64.
// The model has a synchronised batch norm, a checkpointed part and dropout, the rule clips by the norm of all gradients and keeps
// momentum, shards are uneven: so each row is the pair of its wrapper with all of these. Where other pairs are proved:
//
//   DataParallel and DistributedDataParallel x dropout, ranks without rows    data_parallel, distributed
//   DistributedDataParallel x no_sync, x sharded states (bits, bytes)         distributed, zero
//   DistributedDataParallel x weights in parts (bits, bytes)                  weight_parts
//   batch norm, synchronised x wrappers, deferred x accumulation              rank_sums
//   divided layers x split sequence x clipping                                tensor_ranks
//   pipeline x schedules x checkpointing, x clipping, skips and ties          pipeline/training, pipeline/cut
//   pipeline x batch norm, deferred over micro-batches                        pipeline/cut_buffers
//   data x pipe x tensor in one mesh                                          parallel_model.suite, over threads and processes
//   DataParallel x hooks of the model                                         hooks
//
// Refused by the compiler, each in a file of tests/misuse: silent steps whose gradients are shared out
// (silent_steps_share_out_gradients), meshes and ranks of another size (mesh_has_another_number_of_ranks,
// ranks_differ_from_the_models), stages and schedules that do not fit (pipeline_*).

#include <twill/graph/checkpoint.hpp>
#include <twill/nn/autocast.hpp>
#include <twill/nn/batch_norm.hpp>
#include <twill/nn/dropout.hpp>
#include <twill/nn/hooked.hpp>
#include <twill/nn/linear.hpp>
#include <twill/optim/clip.hpp>
#include <twill/optim/loss_scale.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/data/data_parallel_step.hpp>
#include <twill/parallel/data/distributed_step.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>
#include <twill/training/accumulation.hpp>

#include "tests/support/four_devices.hpp"
#include "tests/support/numbers.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

using namespace twill;
using graph::Value;
using twill::test::largest_difference;

namespace {

struct Plain {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    const Value low = nn::batch_norm(nn::linear(x, 6, "low"), "norm", {.is_synchronised = true});
    const Value hidden =
        checkpoint([](Value value) { return value + nn::dropout(tanh(nn::linear(value, 6, "inner")), 0.25); },
                   graph::Recompute::yes)(low);
    return nn::linear(hidden, 3, "head");
  }
};
using Network = nn::Network<nn::Hooked<Plain>, Cpu, double>;
const auto rule = optim::clip_norm(optim::MomentumSgd{{.rate = 0.1, .momentum = 0.9}}, 0.2);

constexpr std::int64_t rows = 13;
constexpr int ranks = 3;
constexpr std::int64_t shards[ranks] = {5, 5, 3}; // as replicas get them
constexpr int steps = 3;

template <class T = double> struct Batch {
  Tensor<T, Cpu, Shape<dyn, 5>> x{Cpu{0}, Dims(rows, 5)};
  Tensor<std::int64_t, Cpu, Shape<dyn>> label{Cpu{0}, Dims(rows)};

  Batch() {
    std::mt19937_64 engine{1};
    std::normal_distribution<double> normal{0.5, 2};
    for (std::int64_t i = 0; i < rows * 5; ++i) x.data()[i] = static_cast<T>(normal(engine));
    for (std::int64_t i = 0; i < rows; ++i) label.data()[i] = static_cast<std::int64_t>(engine() % 3);
  }
  /// Calls `f(x, label)` with some of the rows on a device.
  template <class F> void with(std::int64_t begin, std::int64_t count, Cpu device, const F& f) const {
    f(parallel::rows_of<0>(x, {begin, count}).contiguous().to(device),
      parallel::rows_of<0>(label, {begin, count}).contiguous().to(device));
  }
};

/// Weights and running statistics.
template <class N> std::vector<double> state_of(const N& network) {
  std::vector<double> result{};
  for (const auto& view : network.parameters())
    for (std::int64_t i = 0; i < view.shape.elements(); ++i) {
      const void* const data = view.buffer.data();
      result.push_back(view.dtype == DType::int64     ? static_cast<double>(static_cast<const std::int64_t*>(data)[i])
                       : view.dtype == DType::float64 ? static_cast<const double*>(data)[i]
                                                      : static_cast<double>(static_cast<const float*>(data)[i]));
    }
  return result;
}

template <class N> N seeded() {
  manual_seed_all(7);
  return N{Cpu{0}};
}

/// A hook that counts what it sees of every layer, or none.
template <class N> void watch(N& network, std::atomic<int>* seen) {
  if (seen == nullptr) return;
  network.on_layer("*", [seen](const compile::Observation&) { ++*seen; });
  network.on_layer_backward("*", [seen](const compile::Observation&) { ++*seen; });
}

std::vector<double> on_one_device() {
  const Batch data;
  Network network = seeded<Network>();
  auto step = train_step(network, nn::cross_entropy, rule);
  manual_seed_all(3);
  for (int i = 0; i < steps; ++i) static_cast<void>(step(data.x, data.label));
  return state_of(network);
}

/// One device that is fed the micro-batches that all ranks see at once, without dropout, whose draws silent steps make alone.
std::vector<double> in_micro_batches() {
  const Batch data;
  Network network = seeded<Network>();
  network.set("dropout", 0);
  auto step = accumulated_step(network, nn::cross_entropy, rule);
  for (int i = 0; i < steps; ++i) {
    const auto add = [&](const auto& x, const auto& label) { step.add(x, label); };
    data.with(0, 8, Cpu{0}, add);
    data.with(8, 5, Cpu{0}, add);
    static_cast<void>(step.finish());
  }
  return state_of(network);
}

template <class N = Network, class T = double, class R>
std::vector<double> on_replicas(const R& given, std::atomic<int>* seen = nullptr) {
  const Batch<T> data;
  N module = seeded<N>();
  watch(module, seen);
  DataParallel parallel{module, {.devices = {Cpu{0}, Cpu{1}, Cpu{2}}, .timeout_ms = 60'000}};
  auto step = train_step(parallel, nn::cross_entropy, given);
  manual_seed_all(3);
  for (int i = 0; i < steps; ++i) static_cast<void>(step(data.x, data.label));
  return state_of(module);
}

/// What all ranks hold after `play(step, rank)`, which has to be the same.
template <class N, int Stage, class R, class Play>
std::vector<double> on_ranks(const R& given, std::atomic<int>* seen, const Play& play) {
  auto group = parallel::thread_communicators(std::vector<Cpu>{Cpu{0}, Cpu{1}, Cpu{2}}, {.timeout_ms = 60'000});
  std::vector<N> networks{};
  for (int rank = 0; rank < ranks; ++rank) {
    manual_seed_all(7);
    networks.emplace_back(Cpu{rank});
    watch(networks.back(), seen);
  }
  manual_seed_all(3);
  parallel::run_ranks(group, [&](auto& communicator) {
    const int rank = communicator.rank();
    DistributedDataParallel model{networks[static_cast<std::size_t>(rank)],
                                  communicator,
                                  {.buckets = {.first_bucket_bytes = 64, .bucket_bytes = 200}}};
    auto step = train_step(model, nn::cross_entropy, given, parallel::zero<Stage>);
    play(model, step, rank);
    step.gather_weights();
  });
  const std::vector<double> first = state_of(networks[0]);
  for (const N& network : networks) REQUIRE(state_of(network) == first);
  return first;
}

template <int Stage, class N = Network, class T = double, class R>
std::vector<double> distributed(const R& given, std::atomic<int>* seen = nullptr) {
  const Batch<T> data;
  return on_ranks<N, Stage>(given, seen, [&](auto&, auto& step, int rank) {
    std::int64_t begin = 0;
    for (int other = 0; other < rank; ++other) begin += shards[other];
    for (int i = 0; i < steps; ++i)
      data.with(begin, shards[rank], Cpu{rank},
                [&](const auto& x, const auto& label) { static_cast<void>(step(x, label)); });
  });
}

/// The same rows in a silent step of 8 and one of 5 that speaks.
template <int Stage> std::vector<double> silent() {
  const Batch data;
  return on_ranks<Network, Stage>(rule, nullptr, [&](auto& model, auto& step, int rank) {
    constexpr std::int64_t counts[2][ranks] = {{3, 3, 2}, {2, 2, 1}};
    model.module().set("dropout", 0);
    const auto play = [&](int part) {
      std::int64_t begin = part == 0 ? 0 : 8;
      for (int other = 0; other < rank; ++other) begin += counts[part][other];
      data.with(begin, counts[part][rank], Cpu{rank},
                [&](const auto& x, const auto& label) { static_cast<void>(step(x, label)); });
    };
    for (int i = 0; i < steps; ++i) {
      {
        const auto silence = step.no_sync();
        play(0);
      }
      play(1);
    }
  });
}

} // namespace

TEST_CASE("every way to train on several devices is one device, with all that changes a step", "[parallel][PAR-7]") {
  const std::vector<double> whole = on_one_device();
  const std::vector<double> pieces = in_micro_batches();
  struct Row {
    const char* name;
    const std::vector<double>* expected;
    std::function<std::vector<double>()> train;
  };
  const Row table[] = {
      {"replicas", &whole, [] { return on_replicas(rule); }},
      {"ranks", &whole, [] { return distributed<0>(rule); }},
      {"ranks that share out states", &whole, [] { return distributed<1>(rule); }},
      {"ranks that share out gradients", &whole, [] { return distributed<2>(rule); }},
      {"ranks that share out weights", &whole, [] { return distributed<3>(rule); }},
      {"ranks with silent steps", &pieces, [] { return silent<0>(); }},
      {"ranks with silent steps that share out states", &pieces, [] { return silent<1>(); }},
  };
  for (const Row& row : table) {
    INFO(row.name);
    CHECK(largest_difference(row.train(), *row.expected) < 1e-11); // as for every batch norm
  }
}

TEST_CASE("hooks on layers see every rank and every replica and change no bit", "[parallel][PAR-7][TRAIN-7]") {
  std::atomic<int> on_all{0};
  CHECK(on_replicas(rule, &on_all) == on_replicas(rule));
  CHECK(on_all > 0);
  CHECK(on_all % (ranks * steps) == 0);
  std::atomic<int> on_each{0};
  CHECK(distributed<0>(rule, &on_each) == distributed<0>(rule));
  CHECK(on_each == on_all);
  on_each = 0;
  CHECK(distributed<3>(rule, &on_each) == distributed<3>(rule));
  CHECK(on_each == on_all);
}

/// In half precision sums depend on the shards, not on who adds them up; a loss scale skips the same steps.
struct Narrow {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    return nn::linear(tanh(nn::linear(x, 6, "hidden")), 3, "head");
  }
};

TEST_CASE("ranks have the bits of replicas in mixed precision, with a loss scale", "[parallel][PAR-7][TRAIN-5]") {
  using Mixed = nn::Network<nn::Autocast<Narrow>>;
  const auto scaled = optim::loss_scaled(optim::MomentumSgd{{.rate = 0.1, .momentum = 0.9}});
  CHECK(distributed<0, Mixed, float>(scaled) == on_replicas<Mixed, float>(scaled));
}
