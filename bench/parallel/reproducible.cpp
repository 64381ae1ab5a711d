// SPDX-License-Identifier: Apache-2.0
//
// Cost of `parallel::Reproducible`: steps of a 784-256-256-10 network on one device and on two of a core each, with numbers of
// shards and without the policy. Contenders take turns, and a line of JSON has the median of each. Argument: the rows of a batch.
// Weights of one device and of two are compared before anything is timed.

#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/data/distributed_step.hpp>
#include <twill/parallel/data/reproducible_replicas.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

using namespace twill;

namespace {

struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 784> image) {
    const auto hidden = relu(nn::linear(relu(nn::linear(image, 256, "first")), 256, "second"));
    return nn::linear(hidden, 10, "output");
  }
};
using Network = nn::Network<Model, Cpu>;
const optim::Adam rule{{.rate = 0.001}};
constexpr int steps_of_turn = 10;
constexpr int turns = 15;

struct Batch {
  Tensor<float, Cpu, Shape<dyn, 784>> x;
  Tensor<std::int64_t, Cpu, Shape<dyn>> label;

  explicit Batch(std::int64_t rows) : x(Cpu{0}, Dims(rows, 784)), label(Cpu{0}, Dims(rows)) {
    std::mt19937 engine{1};
    std::normal_distribution<float> normal{};
    for (std::int64_t i = 0; i < x.elements(); ++i) x.data()[i] = normal(engine);
    for (std::int64_t i = 0; i < rows; ++i) label.data()[i] = static_cast<std::int64_t>(engine() % 10);
  }
};

/// Seconds of a step.
double timed(const std::function<void()>& step) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < steps_of_turn; ++i) step();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / steps_of_turn;
}

double median(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

/// A turn of two ranks: `make(model)` is a step, `rows_of(rank)` what it takes.
template <class Make, class RowsOf> double turn_of_two(const Batch& batch, const Make& make, const RowsOf& rows_of) {
  auto communicators = parallel::thread_communicators(std::vector{Cpu{0}, Cpu{1}});
  double seconds = 0;
  parallel::run_ranks(communicators, [&](auto& communicator) {
    const Cpu device{communicator.rank()};
    Network network{device};
    DistributedDataParallel model{network, communicator};
    auto step = make(model);
    const parallel::Rows own = rows_of(communicator.rank());
    const auto x = parallel::rows_of<0>(batch.x, own).to(device);
    const auto label = parallel::rows_of<0>(batch.label, own).to(device);
    for (int i = 0; i < 3; ++i) static_cast<void>(step(x, label).item());
    const double own_seconds = timed([&] { static_cast<void>(step(x, label).item()); });
    if (communicator.rank() == 0) seconds = own_seconds;
  });
  return seconds;
}

template <class Make> double turn_of_one(const Batch& batch, const Make& make) {
  Network network{Cpu{0}};
  auto step = make(network);
  for (int i = 0; i < 3; ++i) static_cast<void>(step(batch.x, batch.label).item());
  return timed([&] { static_cast<void>(step(batch.x, batch.label).item()); });
}

/// The weights after ten steps on some devices, as bytes.
std::string weights_of(const Batch& batch, int devices, int shards) {
  manual_seed_all(7);
  Network network{Cpu{0}};
  std::vector<Cpu> all{Cpu{0}};
  if (devices > 1) all.push_back(Cpu{1});
  DataParallel model{network, {.devices = all}};
  auto step = train_step(model, nn::cross_entropy, rule, parallel::Reproducible{.shards = shards});
  for (int i = 0; i < 10; ++i) static_cast<void>(step(batch.x, batch.label).item());
  std::string bytes{};
  for (const auto& view : network.parameters())
    bytes.append(static_cast<const char*>(view.buffer.data()), view.buffer.bytes());
  return bytes;
}

} // namespace

int main(int argc, char** argv) {
  configure_host({.devices = 2, .threads_per_device = 1});
  const std::int64_t rows = argc > 1 ? std::atoll(argv[1]) : 256;
  const Batch batch{rows};
  struct Contender {
    std::string name{};
    std::function<double()> turn{};
    std::vector<double> seconds{};
  };
  std::vector<Contender> contenders{};
  contenders.push_back({"one device", [&] {
                          return turn_of_one(batch, [](Network& n) { return train_step(n, nn::cross_entropy, rule); });
                        }});
  contenders.push_back({"two ranks", [&] {
                          return turn_of_two(
                              batch, [](auto& model) { return train_step(model, nn::cross_entropy, rule); },
                              [&](int rank) { return parallel::Reproducible{2}.rows_of(rows, rank, 2); });
                        }});
  for (const int shards : {1, 2, 4, 8, 16}) {
    const parallel::Reproducible policy{.shards = shards};
    if (shards > 1 && weights_of(batch, 1, shards) != weights_of(batch, 2, shards)) {
      std::printf("%d shards: one device and two differ\n", shards);
      return 1;
    }
    const auto make = [policy](auto& model) { return train_step(model, nn::cross_entropy, rule, policy); };
    contenders.push_back(
        {"one device, " + std::to_string(shards) + " shards", [&batch, make] { return turn_of_one(batch, make); }});
    if (shards > 1)
      contenders.push_back({"two ranks, " + std::to_string(shards) + " shards", [&batch, make, policy, rows] {
                              return turn_of_two(batch, make, [&](int rank) { return policy.rows_of(rows, rank, 2); });
                            }});
  }
  for (int i = 0; i < turns; ++i)
    for (Contender& contender : contenders) contender.seconds.push_back(contender.turn());
  for (const Contender& contender : contenders)
    std::printf("{\"rows\": %lld, \"name\": \"%s\", \"median_ms\": %.3f, \"least_ms\": %.3f}\n",
                static_cast<long long>(rows), contender.name.c_str(), 1e3 * median(contender.seconds),
                1e3 * *std::min_element(contender.seconds.begin(), contender.seconds.end()));
}
