#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// One model on several GPUs: the numbers are those of one, whoever has the rows or the parts, and wherever they come from. On a
// machine with one GPU there is one replica, and all parts are on it.

#include <tests/support/suite.hpp>
#include <tests/training/models.hpp>

#include <twill/data/loader.hpp>
#include <twill/data/tensor_dataset.hpp>
#include <twill/memory/gpu/capture.hpp>
#include <twill/memory/gpu/stream.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/nn/activations.hpp>
#include <twill/nn/tap.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/clip.hpp>
#include <twill/optim/loss_scale.hpp>
#include <twill/parallel/data/data_parallel_step.hpp>
#include <twill/parallel/threads/ranks.hpp>
#include <twill/profile/trace.hpp>
#include <twill/tensor/random.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

namespace twill::test { namespace parallel_suite {

using D = TestedDevice;
using Network = nn::Network<DropoutClassifier, D, double>;

/// Up to three devices.
inline std::vector<D> devices() {
  std::vector<D> all{};
  for (int index = 0; index < std::min(D::count(), 3); ++index) all.push_back(D{index});
  return all;
}

inline Network seeded_network() {
  manual_seed_all(7);
  return Network{D{0}};
}

inline void require_near(const std::vector<double>& left, const std::vector<double>& right) {
  require_equal(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i) require_close(left[i], right[i], 1e-10, 1e-12);
}

inline void staged() {
  auto alone = seeded_network();
  auto module = seeded_network();
  const auto x = random_rows<double, 5>(Cpu{0}, 13);
  const DataParallel replicated{module, {.devices = devices(), .output_device = devices().back()}};
  manual_seed_all(9);
  const auto expected = alone.forward(x.to(D{0}));
  manual_seed_all(9);
  const auto output = replicated.forward(x);
  static_assert(std::same_as<typename decltype(output)::Value, Tensor<double, D, Shape<dyn, 3>>>);
  require(output.device() == devices().back());
  require_near(to_vector(output.value()), to_vector(expected.value()));
  sum(expected).backward();
  sum(output).backward();
  require_near(gradients_of(module), gradients_of(alone));
}
const Case staged_case{"replicas on GPUs take rows from the host and leave their output where it was asked for",
                       &staged};

inline void planned() {
  auto alone = seeded_network();
  auto module = seeded_network();
  const data::TensorDataset rows{data::column(random_rows<double, 5>(Cpu{0}, 45, 1)),
                                 data::column(random_labels(Cpu{0}, 45, 3, 2))};
  data::DataLoader loader{rows, data::ShuffledSampler{.seed = 4}, D{0}, {.batch_size = 13, .workers = 1}};
  const optim::Adam rule{{.rate = 0.01, .epsilon = 1e-4}};
  DataParallel replicated{module, {.devices = devices()}};
  auto one = train_step(alone, nn::cross_entropy, rule);
  auto many = train_step(replicated, nn::cross_entropy, rule);
  std::vector<double> expected{};
  std::vector<double> losses{};
  manual_seed_all(3);
  for (int epoch = 0; epoch < 3; ++epoch)
    for (auto [x, label] : loader.epoch(epoch)) expected.push_back(one(x, label).item());
  manual_seed_all(3);
  for (int epoch = 0; epoch < 3; ++epoch)
    for (auto [x, label] : loader.epoch(epoch)) losses.push_back(many(x, label).item());
  require_equal(losses.size(), std::size_t{12});
  require_near(losses, expected);
  require_near(weights_of(module), weights_of(alone));
  for (const compile::CaptureReport& report : many.capture_reports()) require(report.graph_runs > 0);
}
const Case planned_case{"replicas on GPUs train from a loader as one device does, in captured programs", &planned};

inline void collectives() {
  std::vector<D> places{};
  for (int rank = 0; rank < 3; ++rank) places.push_back(D{rank % D::count()});
  auto communicators = parallel::thread_communicators(places, {.timeout_ms = 60'000});
  parallel::run_ranks(communicators, [](auto& communicator) {
    const auto rank = static_cast<float>(communicator.rank());
    const auto make = [&](std::vector<float> values) {
      const Dims shape(static_cast<std::int64_t>(values.size()));
      return from_values(values, shape, communicator.device());
    };
    const auto x = make({rank, 1, 2 * rank});
    parallel::all_reduce(communicator, x);
    require_equal(to_vector(x), std::vector<float>{3, 3, 6});
    const auto z = make({rank});
    parallel::broadcast(communicator, z, 2);
    require_equal(to_vector(z), std::vector<float>{2});
    const auto bucket = make(std::vector<float>(1000, rank));
    auto reducing = communicator.start(parallel::Call::all_reduce(parallel::elements(bucket)));
    reducing.wait();
    require_equal(to_vector(bucket), std::vector<float>(1000, 3));
  });
}
const Case collectives_case{"collectives of threads work on memory of GPUs", &collectives};

/// A model whose second half and one branch are on another device.
struct InTwoSlots {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    const auto hidden = tanh(nn::linear(x, 40, "hidden"));
    const auto away = relu(nn::linear(nn::dropout(nn::to(hidden, nn::Slot{1}), 0.3), 24, "away"));
    const auto more = nn::to(nn::linear(nn::tap(hidden, "hidden"), 24, "more"), nn::Slot{1});
    return nn::linear(away + more, 3, "last");
  }
};

inline auto rule_of_slots() { return optim::loss_scaled(optim::clip_norm(optim::Adam{{.rate = 0.01}}, 0.5)); }

/// What planned and staged training give, and then inference.
inline std::vector<float> trained_in_slots(const std::vector<D>& places) {
  manual_seed(places[0], 5);
  nn::Network<InTwoSlots, D> model{places};
  const auto x = random_rows<float, 5>(Cpu{0}, 6).to(places[0]);
  const auto label = random_labels(Cpu{0}, 6, 3, 2).to(places[1]);
  std::vector<float> numbers{};
  std::string where{};
  auto step = train_step(model, nn::cross_entropy, rule_of_slots());
  {
    const auto hook = model.on_tap("hidden", [&](const compile::Observation& seen) {
      where = seen.device;
      numbers.push_back(static_cast<float>(seen.values[7]));
    });
    numbers.push_back(step(x, label).item());
  }
  require_equal(where, to_string(places[0]));
  for (int i = 0; i < 4; ++i) numbers.push_back(step(x, label).item());
  numbers.push_back(static_cast<float>(step.state(optim::gradient_norm_state)));
  const auto loss = nn::cross_entropy(model.forward(x), label);
  loss.backward();
  numbers.push_back(loss.item());
  for (float gradient : gradients_of(model)) numbers.push_back(gradient);
  for (float y : to_vector(model.infer(x))) numbers.push_back(y);
  for (float weight : weights_of(model)) numbers.push_back(weight);
  return numbers;
}

inline void slots() {
  const D last{D::count() - 1};
  const std::vector<float> one = trained_in_slots({D{0}, D{0}});
  require(one[4] != one[3]);
  require(trained_in_slots({D{0}, last}) == one);
  require(trained_in_slots({last, D{0}}) == one);
  // Where each part has a stream of its own beside those of other threads.
  const gpu::Stream<D> here{D{0}};
  const gpu::Stream<D> there{last};
  const StreamGuard<D> on_here{D{0}, here.handle()};
  const StreamGuard<D> on_there{last, there.handle()};
  require(trained_in_slots({D{0}, last}) == one);
}
const Case slots_case{"a model whose parts are on several GPUs trains with the bits of one", &slots};

inline void slot_peaks() {
  const std::vector<D> places{D{0}, D{D::count() - 1}};
  const auto x = random_rows<float, 5>(Cpu{0}, 101).to(places[0]);
  const auto label = random_labels(Cpu{0}, 101, 3, 2).to(places[1]);
  std::vector<std::int64_t> before{};
  for (const D& place : places) {
    synchronize(place);
    reset_peak_memory_stats(place);
    before.push_back(memory_allocated(place));
  }
  nn::Network<InTwoSlots, D> model{places};
  auto step = train_step(model, nn::cross_entropy, rule_of_slots());
  for (int i = 0; i < 3; ++i) static_cast<void>(step(x, label));
  std::vector<std::int64_t> expected{};
  for (int slot = 0; slot < 2; ++slot) expected.push_back(step.memory(nn::Slot{slot}, x, label).total());
  if (places[0] == places[1]) expected[0] = expected[1] += expected[0];
  for (std::size_t slot = 0; slot < 2; ++slot)
    require_equal(max_memory_allocated(places[slot]) - before[slot], expected[slot]);
  require_equal(step.capture_report().graph_runs, 0);
  const auto graph = gpu::capture(places[0], [&] { static_cast<void>(step(x, label)); });
  require(!graph && graph.reason().find("several device slots") != std::string::npos);
}
const Case slot_peaks_case{"each GPU holds the bytes that were predicted for its part of a model", &slot_peaks};

/// Launches of both slots and the copies between them, of plain steps and a checked one.
inline void traced_slots() {
  const std::vector<D> places{D{0}, D{D::count() - 1}};
  const auto x = random_rows<float, 5>(Cpu{0}, 6).to(places[0]);
  const auto label = random_labels(Cpu{0}, 6, 3, 2).to(places[1]);
  nn::Network<InTwoSlots, D> model{places};
  auto step = train_step(model, nn::cross_entropy, rule_of_slots());
  static_cast<void>(step(x, label));
  const profile::Trace trace = profile::trace([&] {
    static_cast<void>(step(x, label));
    static_cast<void>(step.checked(x, label));
  });
  require_equal(trace.runs.size(), std::size_t{2});
  require(!trace.runs[0].is_checked && trace.runs[1].is_checked);
  for (const RecordedRun& run : trace.runs) {
    std::vector<int> launches(2);
    int copies = 0;
    for (const NodeTime& time : run.times) {
      const NodeInfo& node = (*run.nodes)[time.node];
      require(trace.start_s - 1e-3 <= time.start_s && time.start_s <= time.end_s);
      ++(node.kind == "move" ? copies : launches[static_cast<std::size_t>(node.slot)]);
    }
    require(run.is_update && launches[0] > 2 && launches[1] > 2 && copies > 2);
    require_equal(run.devices, std::vector<std::string>{to_string(places[0]), to_string(places[1])});
  }
}
const Case traced_slots_case{"a trace tells when the launches and copies of a program on several GPUs ran",
                             &traced_slots};

}} // namespace twill::test::parallel_suite
