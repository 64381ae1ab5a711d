// SPDX-License-Identifier: Apache-2.0
//
// Estimates of `parallel::fit` against steps that run, on two host devices of one core each: bytes, which have to be
// equal, and times. In each turn the machine is measured first: links, rates, and steps of the model on one device, alone and
// while the other one does the same. What takes part then is predicted and timed: replicas in one process, ranks with each of
// ZeRO's stages, the same under `Reproducible`, and pipelines. Prints JSON for bench/parallel/table.py.    fit_predictions [turns, default 5]

#include "bench/support/machine.hpp"

#include <twill/memory/statistics.hpp>
#include <twill/nn/activations.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/data/data_parallel_step.hpp>
#include <twill/parallel/data/distributed_step.hpp>
#include <twill/parallel/data/reproducible_replicas.hpp>
#include <twill/parallel/data/reproducible_step.hpp>
#include <twill/parallel/fit/estimate.hpp>
#include <twill/parallel/pipeline/run/step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/threads/ranks.hpp>
#include <twill/training/optimiser.hpp>
#include <twill/training/train_step.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace twill;
using parallel::fit::Options;
using pipeline::Checkpointing;

constexpr std::int64_t width = 512;
constexpr std::int64_t most_rows = 256;

/// Seven layers without marks of stages.
struct Layered {
  static constexpr graph::Value forward(Input<Dim<"batch">, width> x) {
    graph::Value y = x;
    for (int i = 0; i < 6; ++i) {
      const nn::Scope number{y.graph(), "", i};
      y = relu(nn::linear(y, width, "layer"));
    }
    return nn::linear(y, 10, "head");
  }
};
using Rows = Tensor<float, Cpu, Shape<dyn, width>>;
using Labels = Tensor<std::int64_t, Cpu, Shape<dyn>>;
using Step = training::StepOf<Layered, nn::cross_entropy, optim::Adam, Labels>;
const std::vector<Cpu> devices{Cpu{0}, Cpu{1}};
constexpr int steps_of_turn = 7;
constexpr parallel::Reproducible in_shards{.shards = 8};

struct Batch {
  Rows x;
  Labels label;
  Batch(std::int64_t rows, Cpu of_x, Cpu of_label) : x(of_x, Dims(rows, width)), label(of_label, Dims(rows)) {
    for (std::int64_t i = 0; i < x.elements(); ++i) x.data()[i] = static_cast<float>(i % 17) / 17 - 0.5F;
    for (std::int64_t i = 0; i < rows; ++i) label.data()[i] = i % 10;
  }
};

[[nodiscard]] double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The machine --------------------------------------------------------------------------------------------------------

/// The link by which sums among two ranks take as long as they do, around a ring.
template <parallel::Communicator C> [[nodiscard]] pipeline::Link measure_sums(C& communicator) {
  std::vector<bench::TimedBytes> messages{};
  const Tensor<float, Cpu, Shape<dyn>> room(communicator.device(), Dims(std::int64_t{1} << 22));
  room.fill(0);
  for (std::int64_t count = 1 << 10; count <= room.elements(); count *= 4) {
    std::vector<double> seconds{};
    for (int round = 0; round < 10; ++round) {
      communicator.run(parallel::Call::barrier());
      const double start = steady_seconds();
      communicator.run(parallel::Call::all_reduce({room.data(), count, DType::float32}));
      seconds.push_back(steady_seconds() - start);
    }
    messages.push_back({2.0 * static_cast<double>(count), 0.5 * median(seconds)}); // half of it, twice
  }
  return bench::fit_link(messages);
}

/// Times of a rank's own steps for numbers of rows, while the other ranks of the world do the same.
template <parallel::Communicator C> [[nodiscard]] std::vector<parallel::fit::TimedStep> measure_steps(C& world) {
  auto own = world.split(world.rank(), 0);
  nn::Network<Layered, Cpu> network{world.device()};
  DistributedDataParallel model{network, own};
  auto step = train_step(model, nn::cross_entropy, optim::Adam{});
  training::Optimiser optimiser{network, optim::Adam{}};
  const auto timed = [&](const auto& f) {
    std::vector<double> seconds{};
    for (int round = 0; round < steps_of_turn + 1; ++round) {
      world.run(parallel::Call::barrier());
      const double start = steady_seconds();
      f();
      synchronize(world.device());
      if (round > 0) seconds.push_back(steady_seconds() - start);
    }
    return median(seconds);
  };
  {
    const Batch batch{8, world.device(), world.device()};
    nn::cross_entropy(network.forward(batch.x), batch.label).backward();
  }
  const double update_s = timed([&] { optimiser.step(); });
  network.zero_grad();
  std::vector<parallel::fit::TimedStep> found{};
  for (std::int64_t rows = 16; rows <= most_rows; rows *= 2) {
    const Batch batch{rows, world.device(), world.device()};
    const double whole_s = timed([&] { step(batch.x, batch.label); });
    found.push_back({rows, std::max(whole_s - update_s, 0.1 * whole_s), update_s});
  }
  return found;
}

/// The machine for what runs on both devices, and for what leaves one of them idle: cores share memory and power.
struct Machines {
  parallel::fit::Machine both{};
  parallel::fit::Machine alone{};
};

[[nodiscard]] Machines measure_machines() {
  Machines found{};
  found.both.device = found.alone.device = bench::measure_machine(Cpu{0});
  auto communicators = parallel::thread_communicators(devices);
  parallel::run_ranks(communicators, [&](auto& communicator) {
    const pipeline::Link messages = bench::measure_link(communicator, 1 - communicator.rank());
    const pipeline::Link sums = measure_sums(communicator);
    std::vector<parallel::fit::TimedStep> timed = measure_steps(communicator);
    if (communicator.rank() > 0) return;
    found.both.between_stages = messages;
    found.both.between_replicas = sums;
    found.both.timed = std::move(timed);
  });
  auto one = parallel::thread_communicators(std::vector<Cpu>{devices[0]});
  parallel::run_ranks(one, [&](auto& communicator) { found.alone.timed = measure_steps(communicator); });
  return found;
}

// What takes part ----------------------------------------------------------------------------------------------------

/// The median time of a step, and what the devices' pools had in use at most beyond what they had before.
struct Measured {
  double seconds = 0;
  std::vector<std::int64_t> peak_bytes{};
};

/// Bytes of both pools.
[[nodiscard]] std::vector<std::int64_t> allocated() {
  return {memory_allocated(devices[0]), memory_allocated(devices[1])};
}
void note_peaks(Measured& found, const std::vector<std::int64_t>& before) {
  for (std::size_t i = 0; i < devices.size(); ++i)
    found.peak_bytes.push_back(max_memory_allocated(devices[i]) - before[i]);
}

/// Steps of the calling thread.
template <class F> void time_steps(Measured& found, const F& step) {
  std::vector<double> seconds{};
  for (int round = 0; round < steps_of_turn + 2; ++round) {
    if (round == 1)
      for (const Cpu device : devices) reset_peak_memory_stats(device);
    const double start = steady_seconds();
    step();
    for (const Cpu device : devices) synchronize(device);
    if (round > 1) seconds.push_back(steady_seconds() - start);
  }
  found.seconds = median(seconds);
}

template <class... Policy> [[nodiscard]] Measured one_device(std::int64_t rows, const Policy&... policy) {
  const Batch batch{rows, Cpu{0}, Cpu{0}};
  const auto before = allocated();
  nn::Network<Layered, Cpu> network{Cpu{0}};
  auto step = train_step(network, nn::cross_entropy, optim::Adam{}, policy...);
  Measured found{};
  time_steps(found, [&] { step(batch.x, batch.label); });
  note_peaks(found, before);
  found.peak_bytes.resize(1);
  return found;
}

[[nodiscard]] Measured one_process(std::int64_t rows) {
  const Batch batch{rows, Cpu{0}, Cpu{0}};
  const auto before = allocated();
  nn::Network<Layered, Cpu> network{Cpu{0}};
  DataParallel model{network, {.devices = devices}};
  auto step = train_step(model, nn::cross_entropy, optim::Adam{});
  Measured found{};
  time_steps(found, [&] { step(batch.x, batch.label); });
  note_peaks(found, before);
  return found;
}

template <int Stage, class... Policy> [[nodiscard]] Measured ranks(std::int64_t rows, const Policy&... policy) {
  const Batch batches[] = {{rows / 2, Cpu{0}, Cpu{0}}, {rows / 2, Cpu{1}, Cpu{1}}};
  const auto before = allocated();
  Measured found{};
  auto communicators = parallel::thread_communicators(devices);
  parallel::run_ranks(communicators, [&](auto& communicator) {
    const Batch& batch = batches[communicator.rank()];
    nn::Network<Layered, Cpu> network{communicator.device()};
    DistributedDataParallel model{network, communicator};
    auto step = train_step(model, nn::cross_entropy, optim::Adam{}, parallel::zero<Stage>, policy...);
    std::vector<double> seconds{};
    for (int round = 0; round < steps_of_turn + 2; ++round) {
      if (round == 1) reset_peak_memory_stats(communicator.device());
      communicator.run(parallel::Call::barrier());
      const double start = steady_seconds();
      step(batch.x, batch.label);
      synchronize(communicator.device());
      communicator.run(parallel::Call::barrier());
      if (round > 1) seconds.push_back(steady_seconds() - start);
    }
    if (communicator.rank() == 0) found.seconds = median(seconds);
  });
  note_peaks(found, before);
  return found;
}

template <class S> [[nodiscard]] Measured stages(const Options& options) {
  using P = pipeline::BasicPipeline<S, float, Cpu,
                                    pipeline::Balanced<Layered, 2 * S::stages_per_rank, nn::Size<"batch", most_rows>>>;
  const Batch batch{most_rows, Cpu{0}, devices[static_cast<std::size_t>(S::rank_of(2 * S::stages_per_rank - 1, 2))]};
  const auto before = allocated();
  P pipe{devices};
  auto step = train_step(pipe, nn::cross_entropy, optim::Adam{},
                         {.micro_batches = options.micro_batches, .checkpointing = options.checkpointing});
  Measured found{};
  time_steps(found, [&] { step(batch.x, batch.label); });
  note_peaks(found, before);
  return found;
}

/// One way to divide a step.
struct Way {
  std::int64_t rows = most_rows;
  Options options{};
  std::function<Measured()> measure{};
  std::vector<double> seconds{};
  std::vector<double> ratios{};
  bool has_estimated_bytes = true;
};

template <class S>
void add_pipeline(std::vector<Way>& ways, std::string_view schedule, int micro_batches,
                  Checkpointing checkpointing = Checkpointing::never) {
  const Options options{
      .pipeline = 2, .schedule = schedule, .micro_batches = micro_batches, .checkpointing = checkpointing};
  ways.push_back({.options = options, .measure = [options] { return stages<S>(options); }});
}

[[nodiscard]] std::vector<Way> all_ways() {
  std::vector<Way> ways{};
  for (const std::int64_t rows : {std::int64_t{64}, most_rows}) {
    ways.push_back({.rows = rows, .measure = [rows] { return one_device(rows); }});
    ways.push_back(
        {.rows = rows, .options = {.data = 2, .is_replicated = true}, .measure = [rows] { return one_process(rows); }});
    ways.push_back({.rows = rows, .options = {.data = 2}, .measure = [rows] { return ranks<0>(rows); }});
    ways.push_back({.rows = rows, .options = {.data = 2, .zero = 1}, .measure = [rows] { return ranks<1>(rows); }});
    ways.push_back({.rows = rows, .options = {.data = 2, .zero = 2}, .measure = [rows] { return ranks<2>(rows); }});
    ways.push_back({.rows = rows, .options = {.data = 2, .zero = 3}, .measure = [rows] { return ranks<3>(rows); }});
  }
  const auto shards = [](int data, int zero) {
    return Options{.data = data, .zero = zero, .shards = in_shards.shards};
  };
  ways.push_back({.options = shards(1, 0), .measure = [] { return one_device(most_rows, in_shards); }});
  ways.push_back({.options = shards(2, 0), .measure = [] { return ranks<0>(most_rows, in_shards); }});
  ways.push_back({.options = shards(2, 2), .measure = [] { return ranks<2>(most_rows, in_shards); }});
  for (const int micro_batches : {2, 4, 8}) {
    add_pipeline<pipeline::GPipe>(ways, "gpipe", micro_batches);
    add_pipeline<pipeline::OneForwardOneBackward>(ways, "1f1b", micro_batches);
  }
  add_pipeline<pipeline::OneForwardOneBackward>(ways, "1f1b", 4, Checkpointing::always);
  add_pipeline<pipeline::Interleaved<2>>(ways, "interleaved-2", 4);
  add_pipeline<pipeline::ZeroBubbleH1>(ways, "zb-h1", 4);
  add_pipeline<pipeline::ZeroBubbleH1>(ways, "zb-h1", 8);
  add_pipeline<pipeline::ZeroBubbleV>(ways, "zbv", 4);
  return ways;
}

} // namespace

int main(int count, char** arguments) {
  const int turns = count > 1 ? std::atoi(arguments[1]) : 5;
  configure_host({.devices = 2, .threads_per_device = 1});
  std::vector<Way> ways = all_ways();
  parallel::fit::Machine machine{};
  for (int turn = 0; turn < turns; ++turn) {
    const Machines machines = measure_machines();
    machine = machines.both;
    for (Way& way : ways) {
      parallel::fit::Estimator estimator{parallel::fit::traces_of<Step>,
                                         {{"batch", way.rows}},
                                         way.options.devices() > 1 ? machines.both : machines.alone};
      const parallel::fit::Report report = estimator.report(way.options);
      const Measured found = way.measure();
      way.seconds.push_back(found.seconds);
      way.ratios.push_back(report.step_s / found.seconds);
      for (std::size_t rank = 0; rank < report.ranks.size(); ++rank)
        if (report.ranks[rank].bytes.total() != found.peak_bytes[rank]) way.has_estimated_bytes = false;
    }
  }
  std::printf("{\"machine\": {\"operations_per_s\": %.4g, \"bytes_per_s\": %.4g, \"launch_s\": %.4g},\n \"timed\": [",
              machine.device.operations_per_s, machine.device.bytes_per_s, machine.device.launch_s);
  const char* separator = "";
  for (const parallel::fit::TimedStep& step : machine.timed) {
    std::printf("%s[%lld, %.6g, %.6g]", separator, static_cast<long long>(step.rows), step.gradient_s, step.update_s);
    separator = ", ";
  }
  std::printf("],\n \"messages\": {\"bytes_per_s\": %.4g, \"latency_s\": %.4g}, \"sums\": {\"bytes_per_s\": %.4g, "
              "\"latency_s\": %.4g},\n \"estimates\": [",
              machine.between_stages.bytes_per_s, machine.between_stages.latency_s,
              machine.between_replicas.bytes_per_s, machine.between_replicas.latency_s);
  separator = "";
  for (const Way& way : ways) {
    std::printf(
        "%s\n  {\"options\": \"%s%s\", \"rows\": %lld, \"seconds\": %.6g, \"predicted\": %.4f, \"least\": %.4f, "
        "\"most\": %.4f, \"bytes_are_estimated\": %s}",
        separator, to_string(way.options).c_str(), way.options.is_replicated ? ", one process" : "",
        static_cast<long long>(way.rows), median(way.seconds), median(way.ratios),
        *std::min_element(way.ratios.begin(), way.ratios.end()),
        *std::max_element(way.ratios.begin(), way.ratios.end()), way.has_estimated_bytes ? "true" : "false");
    separator = ",";
  }
  std::printf("\n ]}\n");
}
