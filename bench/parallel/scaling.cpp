// SPDX-License-Identifier: Apache-2.0
//
// One contender of bench/parallel/scaling.py: SGD steps on random rows, of one model, on one core or on two host devices with a
// core each. It makes so many steps for each number read from the standard input and answers in lines of JSON. Arguments: the
// contender, the rows of the whole batch. `one` trains on all of them, `half0` and `half1` on half of them by themselves,
// `data_parallel` and `distributed` on half of them on each device. The model is ResNet-50 where BENCH_RESNET50 is defined.

#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/data/data_parallel_step.hpp>
#include <twill/parallel/data/distributed_step.hpp>
#include <twill/parallel/threads/ranks.hpp>

#ifdef BENCH_RESNET50
#include "examples/models/resnet.hpp"
#endif

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

using namespace twill;

namespace {

#ifdef BENCH_RESNET50
using Model = models::ResNet50<128>;
using Inputs = Tensor<float, Cpu, Shape<dyn, 3, 128, 128>>;
constexpr std::int64_t classes = 1000;
Dims dims_of(std::int64_t rows) { return Dims(rows, 3, 128, 128); }
#else
struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 784> image) {
    const auto hidden = relu(nn::linear(relu(nn::linear(image, 256, "first")), 256, "second"));
    return nn::linear(hidden, 10, "output");
  }
};
using Inputs = Tensor<float, Cpu, Shape<dyn, 784>>;
constexpr std::int64_t classes = 10;
Dims dims_of(std::int64_t rows) { return Dims(rows, 784); }
#endif
using Network = nn::Network<Model, Cpu>;
using Labels = Tensor<std::int64_t, Cpu, Shape<dyn>>;

struct Batch {
  Inputs x;
  Labels label;
};

/// Some rows of a batch that every process makes alike.
Batch rows_of(std::int64_t rows, const parallel::Rows& part, const Cpu& device) {
  Inputs x(Cpu{0}, dims_of(rows));
  Labels label(Cpu{0}, Dims(rows));
  std::mt19937 engine{1};
  std::normal_distribution<float> normal{};
  for (std::int64_t i = 0; i < x.elements(); ++i) x.data()[i] = normal(engine);
  for (std::int64_t i = 0; i < rows; ++i)
    label.data()[i] = static_cast<std::int64_t>(engine() % static_cast<unsigned>(classes));
  return {parallel::rows_of<0>(x, part).contiguous().to(device),
          parallel::rows_of<0>(label, part).contiguous().to(device)};
}

/// Sums of all trained weights with signs that depend on their places, in double: linear in the weights, and unlikely to be
/// right where a weight is wrong.
std::array<double, 4> projections_of(const Network& network) {
  std::array<double, 4> sums{};
  std::uint64_t place = 0;
  const auto infos = Network::parameter_infos();
  const auto views = network.parameters();
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (infos[i].role != graph::Role::weight) continue;
    const auto* const data = static_cast<const float*>(views[i].buffer.data());
    for (std::int64_t k = 0; k < views[i].shape.elements(); ++k) {
      std::uint64_t bits = ++place * 0x9e3779b97f4a7c15;
      bits ^= bits >> 29;
      for (std::size_t s = 0; s < sums.size(); ++s)
        sums[s] += ((bits >> (8 * s)) & 1) != 0 ? static_cast<double>(data[k]) : -static_cast<double>(data[k]);
    }
  }
  return sums;
}

/// Answers numbers of steps: `play(count)` makes them and returns the last loss.
template <class Play> void serve(const Network& network, const Play& play) {
  const auto print = [](const char* name, const std::array<double, 4>& sums) {
    std::printf("\"%s\": [%.17g, %.17g, %.17g, %.17g]", name, sums[0], sums[1], sums[2], sums[3]);
  };
  std::printf("{");
  print("projections", projections_of(network));
  std::printf("}\n");
  std::fflush(stdout);
  for (int count = 0; std::scanf("%d", &count) == 1 && count > 0;) {
    const auto start = std::chrono::steady_clock::now();
    const double loss = play(count);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("{\"seconds\": %.9f, \"loss\": %.9g, ", seconds.count() / count, loss);
    print("projections", count == 1 ? projections_of(network) : std::array<double, 4>{});
    std::printf("}\n");
    std::fflush(stdout);
  }
}

const optim::Sgd rule{{.rate = 0.01}};

void serve_one(std::int64_t rows, const parallel::Rows& part) {
  configure_host({.devices = 1, .threads_per_device = 1});
  manual_seed_all(7);
  Network network{Cpu{0}};
  auto step = train_step(network, nn::cross_entropy, rule);
  const Batch batch = rows_of(rows, part, Cpu{0});
  serve(network, [&](int count) {
    for (int i = 1; i < count; ++i) static_cast<void>(step(batch.x, batch.label));
    return static_cast<double>(step(batch.x, batch.label).item());
  });
}

void serve_data_parallel(std::int64_t rows) {
  configure_host({.devices = 2, .threads_per_device = 1});
  manual_seed_all(7);
  Network network{Cpu{0}};
  DataParallel model{network, {.devices = {Cpu{0}, Cpu{1}}}};
  auto step = train_step(model, nn::cross_entropy, rule);
  const Batch batch = rows_of(rows, {0, rows}, Cpu{0});
  serve(network, [&](int count) {
    for (int i = 1; i < count; ++i) static_cast<void>(step(batch.x, batch.label));
    return static_cast<double>(step(batch.x, batch.label).item());
  });
}

void serve_distributed(std::int64_t rows) {
  configure_host({.devices = 2, .threads_per_device = 1});
  auto communicators = parallel::thread_communicators(std::vector<Cpu>{Cpu{0}, Cpu{1}});
  using Communicator = parallel::ThreadCommunicator<Cpu>;
  using Distributed = DistributedDataParallel<Network, Communicator>;
  using Step =
      parallel::DistributedStep<Network, Communicator, std::remove_const_t<decltype(nn::cross_entropy)>, optim::Sgd>;
  struct Rank {
    std::unique_ptr<Network> network{};
    std::unique_ptr<Distributed> model{};
    std::unique_ptr<Step> step{};
    std::unique_ptr<Batch> batch{};
    double loss = 0;
  };
  std::array<Rank, 2> ranks{};
  for (int i = 0; i < 2; ++i) {
    manual_seed_all(7);
    ranks[static_cast<std::size_t>(i)].network = std::make_unique<Network>(Cpu{i});
  }
  parallel::run_ranks(communicators, [&](Communicator& communicator) {
    const int number = communicator.rank();
    Rank& own = ranks[static_cast<std::size_t>(number)];
    own.model = std::make_unique<Distributed>(*own.network, communicator);
    own.step = std::make_unique<Step>(*own.model, nn::cross_entropy, rule);
    own.batch = std::make_unique<Batch>(rows_of(rows, {number * (rows / 2), rows / 2}, Cpu{number}));
  });
  serve(*ranks[0].network, [&](int count) {
    parallel::run_ranks(communicators, [&](Communicator& communicator) {
      Rank& own = ranks[static_cast<std::size_t>(communicator.rank())];
      for (int i = 1; i < count; ++i) static_cast<void>((*own.step)(own.batch->x, own.batch->label));
      own.loss = static_cast<double>((*own.step)(own.batch->x, own.batch->label).item());
    });
    return ranks[0].loss;
  });
}

} // namespace

int main(int count, char** arguments) {
  if (count != 3) throw ValueError("scaling: the contender and the number of rows are required");
  const std::string contender = arguments[1];
  const std::int64_t rows = std::atoll(arguments[2]);
  if (rows < 2 || rows % 2 != 0) throw ValueError("scaling: two devices share an even number of rows");
  if (contender == "one") serve_one(rows, {0, rows});
  if (contender == "half0") serve_one(rows, {0, rows / 2});
  if (contender == "half1") serve_one(rows, {rows / 2, rows / 2});
  if (contender == "data_parallel") serve_data_parallel(rows);
  if (contender == "distributed") serve_distributed(rows);
}
