// SPDX-License-Identifier: Apache-2.0
//
// Simulated steps against steps that are carried out, on two host devices of one core each: several schedules, numbers
// of micro-batches, and cuts, even and uneven. Costs are measured on one micro-batch and the link by ping-pong, in turn with
// the steps, because other work on the machine slows down both; beside it what counting alone would have said. Prints JSON
// for bench/parallel/table.py.    predictions [repeats, default 5]

#include "bench/support/machine.hpp"
#include "bench/support/measured_costs.hpp"

#include <twill/parallel.hpp>
#include <twill/twill.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using namespace twill;
using namespace twill::pipeline;

constexpr std::int64_t width = 768;
constexpr std::int64_t rows = 64; ///< of a micro-batch

/// So many layers of a network.
template <int Layers> struct Layered {
  static constexpr graph::Value forward(Input<Dim<"batch">, width> x) {
    graph::Value y = x;
    for (int i = 0; i < Layers; ++i) {
      const nn::Scope number{y.graph(), "", i};
      y = relu(nn::linear(y, width, "layer"));
    }
    return y;
  }
};

using bench::median;

const char* separator = "";

template <ScheduleKind S, class... Parts>
void compare(const char* cut, int repeats, const Link& link, const Machine& machine) {
  Pipeline<S, Parts...> pipe{{Cpu{0}, Cpu{1}}};
  using Rows = Tensor<float, Cpu, Shape<dyn, width>>;
  Rows x(Cpu{0}, Dims(rows, width)), y(Cpu{0}, Dims(rows, width));
  x.fill(0.5F);
  y.fill(0.25F);
  const auto counted = counted_costs<Pipeline<S, Parts...>>(std::array{x.shape()}, machine);
  for (const int micro_batches : {2, 4, 8, 16}) {
    auto step = train_step(pipe, nn::mse, optim::Sgd{{.rate = 0.001}}, {.micro_batches = micro_batches});
    Rows batch(Cpu{0}, Dims(rows * micro_batches, width)), targets(Cpu{0}, Dims(rows * micro_batches, width));
    batch.fill(0.5F);
    targets.fill(0.25F);
    static_cast<void>(step.gradients(batch, targets)); // memory is touched for the first time
    std::vector<double> ratios, real;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      const auto costs = bench::measured_costs(pipe, nn::mse, {.rounds = 5}, x, y);
      const double predicted = bench::simulate_hindered<S>(costs, micro_batches, {.between_stages = link}).step_s;
      const double start = steady_seconds();
      static_cast<void>(step.gradients(batch, targets));
      real.push_back(steady_seconds() - start);
      ratios.push_back(predicted / real.back());
    }
    const double by_counting = simulate<S>({counted, micro_batches}, {.between_stages = link}).step_s;
    std::printf(
        "%s\n  {\"schedule\": \"%s\", \"cut\": \"%s\", \"micro_batches\": %d, \"seconds\": %.6f, \"predicted\": %.4f, "
        "\"least\": %.4f, \"most\": %.4f, \"counted\": %.4f}",
        separator, std::string{S::name}.c_str(), cut, micro_batches, median(real), median(ratios),
        *std::min_element(ratios.begin(), ratios.end()), *std::max_element(ratios.begin(), ratios.end()),
        by_counting / median(real));
    std::fflush(stdout);
    separator = ",";
  }
}

} // namespace

int main(int count, char** arguments) {
  const int repeats = count > 1 ? std::atoi(arguments[1]) : 5;
  configure_host({.devices = 2, .threads_per_device = 1});
  auto communicators = parallel::thread_communicators(std::vector<Cpu>{Cpu{0}, Cpu{1}});
  Link link;
  parallel::run_ranks(communicators, [&](auto& communicator) {
    const Link found = bench::measure_link(communicator, 1 - communicator.rank());
    if (communicator.rank() == 0) link = found;
  });
  const Machine machine = bench::measure_machine(Cpu{0});
  std::printf("{\"link\": {\"bytes_per_s\": %.4g, \"latency_s\": %.4g},\n \"machine\": {\"operations_per_s\": %.4g, "
              "\"bytes_per_s\": %.4g, \"launch_s\": %.4g},\n \"steps\": [",
              link.bytes_per_s, link.latency_s, machine.operations_per_s, machine.bytes_per_s, machine.launch_s);
  compare<GPipe, Layered<4>, Layered<4>>("even", repeats, link, machine);
  compare<OneForwardOneBackward, Layered<4>, Layered<4>>("even", repeats, link, machine);
  compare<OneForwardOneBackward, Layered<2>, Layered<6>>("uneven", repeats, link, machine);
  compare<ZeroBubbleH1, Layered<4>, Layered<4>>("even", repeats, link, machine);
  compare<Interleaved<2>, Layered<2>, Layered<2>, Layered<2>, Layered<2>>("even", repeats, link, machine);
  std::printf("\n ]}\n");
}
