// SPDX-License-Identifier: Apache-2.0
//
// Training to equal bits in pipelines and beside them: a convolutional network with synchronised batch norm, cut where its values
// are images, and a transformer whose attention weights are dropped and whose head is the table of tokens again. Each trains a
// hundred steps by itself, on two to four ranks with gradients shared out, and in pipelines of two and three stages by several
// schedules. A line of the table has the number of devices and a number made of all bits of the weights and of the rule's states.
//
// prints: the convolutional network: all 8 runs have the same bits
// prints: the transformer: all 8 runs have the same bits

#include "examples/models/gpt2.hpp"
#include "examples/support/checksum.hpp"

#include <twill/parallel.hpp>
#include <twill/parallel/data/reproducible_replicas.hpp>
#include <twill/parallel/pipeline/run/reproducible_step.hpp>
#include <twill/twill.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace twill;
using graph::Value;

constexpr int steps = 100;

struct Convolutions {
  static constexpr auto forward(Input<Dim<"batch">, 2, 8, 8> x) {
    Value y = nn::conv2d(x, 6, "first", {.kernel = 3, .padding = 1});
    y = relu(nn::batch_norm(y, "norm", {.is_synchronised = true}));
    y = relu(nn::conv2d(y, 6, "second", {.kernel = 3, .padding = 1}) + y);
    return nn::linear(mean(y, {2, 3}), 10, "output");
  }
};

struct Images {
  using Model = Convolutions;
  using Halves = pipeline::CutBefore<Model, "second">;
  using Thirds = pipeline::CutBefore<Model, "second", "output">;
  static constexpr const char* name = "the convolutional network";
  static constexpr parallel::Reproducible policy{.shards = 5};
  static constexpr std::int64_t rows = 13;
  static constexpr auto loss = nn::cross_entropy;
  static inline const optim::MomentumSgd rule{{.rate = 0.05, .momentum = 0.9}};

  Tensor<float, Cpu, Shape<rows, 2, 8, 8>> x = randn<float, Shape<rows, 2, 8, 8>>();
  Tensor<std::int64_t, Cpu, Shape<rows>> target = randint<std::int64_t, Shape<rows>>(0, 10);
};

constexpr std::int64_t length = 12, width = 16, words = 29;

constexpr Value block(Value x, std::string_view name) {
  using namespace models::gpt2_parts;
  const nn::Scope scope{x.graph(), name};
  const Value normal = norm(x, "ln_1");
  const Value key = linear(normal, width, "key");
  const Value seen = softmax(matmul(linear(normal, width, "query"), transpose(key, {0, 2, 1})) * 0.25);
  x = x + matmul(nn::dropout(seen, 0.1), linear(normal, width, "value"));
  return x + mlp(norm(x, "ln_2"), 0.02);
}

struct Transformer {
  static constexpr auto forward(InputOf<std::int64_t, Dim<"batch">, length> tokens) {
    const Value table = nn::parameter(tokens.graph(), "table", {words, width}, nn::initialise::normal(0, 0.02));
    const Value x = block(block(nn::dropout(nn::embedding(tokens, table), 0.1), "lower"), "upper");
    return nn::linear(models::gpt2_parts::norm(x, "last"), table);
  }
};

struct Tokens {
  using Model = Transformer;
  using Halves = pipeline::CutBefore<Model, "upper">;
  using Thirds = pipeline::CutBefore<Model, "lower.ln_2", "upper">;
  static constexpr const char* name = "the transformer";
  static constexpr parallel::Reproducible policy{.shards = 5};
  static constexpr std::int64_t rows = 11;
  static constexpr models::NextToken loss{};
  static inline const optim::Adam rule{{.rate = 0.003}};

  Tensor<std::int64_t, Cpu, Shape<rows, length>> x = randint<std::int64_t, Shape<rows, length>>(0, words);
  Tensor<std::int64_t, Cpu, Shape<rows, length>> target = x;
};

template <class Task> using NetworkOf = nn::Network<typename Task::Model, Cpu>;

template <class Network, class Step> std::string bits_of(const Network& network, const Step& step) {
  return examples::checksum(network) + " " + examples::checksum(step.state_dict());
}

template <class Task> std::string alone(const Task& task) {
  manual_seed_all(3);
  NetworkOf<Task> network{Cpu{0}};
  manual_seed(Cpu{0}, 4); // of dropout
  auto step = train_step(network, Task::loss, Task::rule, Task::policy);
  for (int i = 0; i < steps; ++i) step(task.x, task.target);
  return bits_of(network, step);
}

template <class Task> std::string ranked(const Task& task, const std::vector<Cpu>& devices) {
  auto communicators = parallel::thread_communicators(devices);
  std::string bits{};
  manual_seed_all(3);
  parallel::run_ranks(communicators, [&](auto& communicator) {
    const int rank = communicator.rank();
    const Cpu device = devices[static_cast<std::size_t>(rank)];
    NetworkOf<Task> network{device};
    manual_seed(device, 4);
    DistributedDataParallel model{network, communicator};
    auto step = train_step(model, Task::loss, Task::rule, parallel::zero<2>, Task::policy);
    const parallel::Rows own = step.rows_of(Task::rows);
    const auto x = parallel::rows_of<0>(task.x, own).to(device);
    const auto target = parallel::rows_of<0>(task.target, own).to(device);
    for (int i = 0; i < steps; ++i) step(x, target);
    const std::string found = bits_of(network, step);
    if (rank == 0) bits = found;
  });
  return bits;
}

/// The weights and states of all stages, as one network has them.
template <class Schedule, class Cut, class Task> std::string piped(const Task& task, const std::vector<Cpu>& devices) {
  manual_seed_all(3);
  Pipeline<Schedule, Cut> pipe{devices};
  manual_seed(Cpu{0}, 4);
  auto step = train_step(pipe, Task::loss, Task::rule, Task::policy);
  for (int i = 0; i < steps; ++i) step(task.x, task.target);
  NetworkOf<Task> network{Cpu{0}};
  nn::load_state_dict(network, pipeline::state_dict(pipe));
  auto whole = train_step(network, Task::loss, Task::rule, Task::policy);
  whole.load_state_dict(step.state_dict());
  return bits_of(network, whole);
}

template <class Task> void compare() {
  using Halves = typename Task::Halves;
  using Thirds = typename Task::Thirds;
  const Task task{};
  const std::vector<Cpu> two{Cpu{0}, Cpu{1}}, three{Cpu{0}, Cpu{1}, Cpu{2}}, four{Cpu{0}, Cpu{1}, Cpu{2}, Cpu{3}};
  std::set<std::string> different{};
  int runs = 0;
  const auto line = [&](const char* name, std::size_t devices, const std::string& bits) {
    std::printf("%-36s %zu  %s\n", name, devices, bits.c_str());
    different.insert(bits);
    ++runs;
  };
  std::printf("%-36s n  weights          states\n", Task::name);
  line("gradient accumulation", 1, alone(task));
  for (const auto& devices : {two, three, four})
    line("DistributedDataParallel, zero<2>", devices.size(), ranked(task, devices));
  line("pipeline, GPipe", 2, piped<pipeline::GPipe, Halves>(task, two));
  line("pipeline, 1F1B", 2, piped<pipeline::OneForwardOneBackward, Halves>(task, two));
  line("pipeline, ZB-H1", 2, piped<pipeline::ZeroBubbleH1, Halves>(task, two));
  line("pipeline, 1F1B", 3, piped<pipeline::OneForwardOneBackward, Thirds>(task, three));
  if (different.size() == 1) std::printf("%s: all %d runs have the same bits\n", Task::name, runs);
}

int main() {
  configure_host({.devices = 4, .threads_per_device = 1, .oversubscribe = true});
  manual_seed_all(1);
  compare<Images>();
  compare<Tokens>();
}
