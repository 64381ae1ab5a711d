#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Planned steps as captured graphs: what is frozen and what is not, when they are made, what they cost (`Meta` tells the peak),
// and that a step which cannot be captured runs all the same and says why. A captured step gives the bits of a plain one.

#include <tests/support/runtime_calls.hpp>
#include <tests/support/suite.hpp>
#include <tests/training/models.hpp>

#include <twill/compile/report/report.hpp>
#include <twill/expr.hpp>
#include <twill/fft/value_transforms.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/nn/losses/regression.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/profile/trace.hpp>
#include <twill/training/accumulation.hpp>

#if defined(__CUDACC__)
#include <twill/fft/cuda/lines.cuh>
#else
#include <tests/support/emulated_transforms.hpp>
#endif

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace twill::test { namespace capture_suite {

using D = TestedDevice;
using Model = nn::Network<DropoutClassifier, D>;

inline auto make_step(Model& model) {
  return train_step(model, nn::cross_entropy, optim::MomentumSgd{{.rate = 0.1, .momentum = 0.9}});
}

/// A batch of so many rows.
struct Batch {
  explicit Batch(std::int64_t rows, std::uint64_t salt = 0, D device = D{0})
      : x{random_rows<float, 5>(device, rows, salt)}, label{random_labels(device, rows, 3, salt)} {}
  Tensor<float, D, Shape<dyn, 5>> x;
  Tensor<std::int64_t, D, Shape<dyn>> label;
};

inline void later_steps_are_graphs() {
  Model model{D{0}};
  auto step = make_step(model);
  require(!step.capture_report().is_captured());
  const Batch batch{32};
  static_cast<void>(step(batch.x, batch.label));
  require_equal(step.capture_report().plain_runs, std::int64_t{1});
  require_equal(step.capture_report().reason, "the first run with these shapes and addresses is never captured");
  for (int i = 0; i < 4; ++i) static_cast<void>(step(batch.x, batch.label));
  const compile::CaptureReport report = step.capture_report();
  require(report.is_captured());
  require_equal(report.plain_runs, std::int64_t{1});
  require_equal(report.graph_runs, std::int64_t{4});
  require_equal(report.captures, std::int64_t{1});
}
const Case first_case{"the second step of a shape is captured and later ones are graphs", &later_steps_are_graphs};

/// Losses and weights of steps whose inputs, sizes and every run-time number change on the way.
inline std::vector<float> changing_steps(compile::Capture capture) {
  manual_seed(D{0}, 5);
  Model model{D{0}};
  auto step = make_step(model);
  step.capture = capture;
  std::vector<float> numbers{};
  const auto run = [&](const Batch& batch) {
    numbers.push_back(step(batch.x, batch.label).item());
    for (float weight : weights_of(model)) numbers.push_back(weight);
  };
  const std::vector<Batch> batches{Batch{32, 1}, Batch{32, 2}, Batch{13, 3}};
  for (int i = 0; i < 9; ++i) { // sizes alternate; the last batch of an epoch is smaller
    if (i == 4) step.rule.options.rate = 0.03;
    if (i == 5) step.rule.options.momentum = 0.5;
    if (i == 6) step.rule.options.weight_decay = 0.1;
    if (i == 7) model.set("dropout", 0.8);
    if (i == 8) manual_seed(D{0}, 6);
    run(batches[static_cast<std::size_t>(i) % 3]);
  }
  require_equal(step.capture_report().captures, capture == compile::Capture::never ? 0 : 2);
  require_equal(step.capture_report().graph_runs, capture == compile::Capture::never ? 0 : 7);
  return numbers;
}
inline void captured_equals_plain() {
  require_equal(changing_steps(compile::Capture::automatic), changing_steps(compile::Capture::never));
}
const Case bits_case{"captured steps give the bits of plain ones, whatever changes between them",
                     &captured_equals_plain};

inline void nothing_is_frozen() {
  manual_seed(D{0}, 1);
  Model model{D{0}};
  auto step = make_step(model);
  const Batch batch{17};
  const auto loss_at = [&](std::uint64_t seed) {
    manual_seed(D{0}, seed);
    return step(batch.x, batch.label).item();
  };
  for (int i = 0; i < 3; ++i) static_cast<void>(step(batch.x, batch.label));
  require(step.capture_report().is_captured());
  const std::vector<float> before = weights_of(model);
  step.rule.options.rate = 0;
  const float first = loss_at(1);
  require(weights_of(model) == before); // the rate
  require(loss_at(2) != first);         // the seed
  require_equal(loss_at(1), first);
  static_cast<void>(step(batch.x, batch.label));
  require(step(batch.x, batch.label).item() != first); // the step number of the draw
  model.set("dropout", 0);
  const float undropped = loss_at(1);
  require(undropped != first); // the probability
  require_equal(loss_at(2), undropped);
  step.rule.options.rate = 0.1;
  static_cast<void>(step(batch.x, batch.label));
  require(weights_of(model) != before);
  require(step.capture_report().is_captured());
  require_equal(step.capture_report().captures, std::int64_t{1});
}
const Case numbers_case{"rate, seed, draw and probability reach a captured step", &nothing_is_frozen};

inline std::vector<float> adam_steps(compile::Capture capture) {
  manual_seed(D{0}, 9);
  nn::Network<Classifier, D> model{D{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Adam{{.rate = 0.01}});
  step.capture = capture;
  const Batch batch{8};
  for (int i = 0; i < 6; ++i) static_cast<void>(step(batch.x, batch.label));
  return weights_of(model);
}
inline void steps_are_counted() {
  require_equal(adam_steps(compile::Capture::automatic), adam_steps(compile::Capture::never));
}
const Case counter_case{"a captured step knows its number", &steps_are_counted};

#if defined(TWILL_WITH_CUFFT) || !defined(__CUDACC__)
/// Lines of 8 points whose spectra are multiplied by trained numbers, which are 1 at first.
struct SpectralFilter {
  static constexpr auto forward(Input<Dim<"batch">, 8> x) {
    const auto weights = nn::parameter(x.graph(), "spectrum", {5, 2}, nn::initialise::zeros()); // pairs re, im
    return fft::irfft(fft::rfft(x) * (graph::view_as_complex(weights) + 1.0));
  }
};
inline void transforms_are_captured() {
  nn::Network<SpectralFilter, D> model{D{0}};
  auto step = train_step(model, nn::mse, optim::Sgd{{.rate = 4}});
  std::vector<float> impulses(24), none(24);
  for (const std::size_t place : {0, 11, 22}) impulses[place] = 1; // each coefficient has length 1
  const auto x = from_values<Shape<dyn, 8>>(impulses, Dims(3, 8), D{0});
  const auto wanted = from_values<Shape<dyn, 8>>(none, Dims(3, 8), D{0});
  // The loss is the sum of c |w|^2 / 64, where c counts a coefficient and its conjugate.
  for (int i = 0; i < 4; ++i)
    require_close(step(x, wanted).item(), (2 * std::pow(0.875, 2 * i) + 6 * std::pow(0.75, 2 * i)) / 64, 1e-5);
  require(step.capture_report().is_captured());
  const std::vector<float> weights = weights_of(model);
  require_equal(weights.size(), std::size_t{10});
  for (std::size_t k = 0; k < 5; ++k) {
    require_close(weights[2 * k] + 1, std::pow(k % 4 == 0 ? 0.875 : 0.75, 4), 1e-5);
    require_close(weights[2 * k + 1], 0, 0, 1e-6);
  }
}
const Case transforms_case{"steps with Fourier transforms are captured", &transforms_are_captured};
#endif

inline void steady_steps_ask_for_nothing() {
  Model model{D{0}};
  auto step = make_step(model);
  const std::vector<Batch> batches{Batch{32, 1}, Batch{11, 2}};
  const auto epoch = [&] {
    for (const Batch& batch : batches) static_cast<void>(step(batch.x, batch.label));
  };
  for (int i = 0; i < 3; ++i) epoch();
  const std::int64_t pool_before = memory_stats(D{0}).all.allocation.allocated;
  const long forbidden_before = runtime_calls<D>({"allocate", "release", "allocate_async", "release_async",
                                                  "allocate_pinned", "synchronize_stream", "synchronize_event",
                                                  "query_event", "create_event", "copy", "fill", "begin_capture"});
  const long launches_before = runtime_calls<D>({"enqueue"});
  const long graphs_before = runtime_calls<D>({"launch_graph"});
  for (int i = 0; i < 5; ++i) epoch();
  require_equal(memory_stats(D{0}).all.allocation.allocated, pool_before);
  require_equal(runtime_calls<D>({"allocate", "release", "allocate_async", "release_async", "allocate_pinned",
                                  "synchronize_stream", "synchronize_event", "query_event", "create_event", "copy",
                                  "fill", "begin_capture"}),
                forbidden_before);
  if constexpr (HasEmulatedDriver<D>) {
    require_equal(runtime_calls<D>({"enqueue"}) - launches_before, 10L); // the prologues
    require_equal(runtime_calls<D>({"launch_graph"}) - graphs_before, 10L);
  }
}
const Case steady_case{"a steady step allocates nothing, waits for nothing and is two launches",
                       &steady_steps_ask_for_nothing};

inline void launches_are_planned() {
  if (!HasEmulatedDriver<D>) return;
  Model model{D{0}};
  auto step = make_step(model);
  step.capture = compile::Capture::never;
  const Batch batch{32};
  static_cast<void>(step(batch.x, batch.label));
  const long before = runtime_calls<D>({"enqueue"});
  static_cast<void>(step(batch.x, batch.label));
  using Source = decltype(step)::source<decltype(batch.x), decltype(batch.label)>;
  constexpr long behind_products = 3; // bias, bias and bias gradient, where no library has epilogues
  require_equal(runtime_calls<D>({"enqueue"}) - before,
                1L + compile::plan<Source>().launches + behind_products); // and the prologue
}
const Case planned_case{"a plain step starts the kernels of its plan, all updates in one", &launches_are_planned};

inline void can_be_switched_off() {
  Model model{D{0}};
  auto step = make_step(model);
  step.capture = compile::Capture::never;
  const Batch batch{4};
  for (int i = 0; i < 3; ++i) static_cast<void>(step(batch.x, batch.label));
  require_equal(step.capture_report().reason, "capturing was switched off");
  require_equal(step.capture_report().plain_runs, std::int64_t{3});
}
const Case off_case{"capturing can be switched off", &can_be_switched_off};

inline void weights_that_move() {
  Model model{D{0}};
  auto step = make_step(model);
  const Batch batch{4};
  for (int i = 0; i < 3; ++i) static_cast<void>(step(batch.x, batch.label));
  auto another = make_step(model); // other states at other addresses, its own graph
  for (int i = 0; i < 3; ++i) static_cast<void>(another(batch.x, batch.label));
  require(another.capture_report().is_captured());
  if (D::count() < 2) return;
  model.to(D{1});
  const Batch there{4, 0, D{1}};
  for (int i = 0; i < 3; ++i) static_cast<void>(step(there.x, there.label));
  require(step.capture_report().is_captured());
  require_equal(step.capture_report().captures, std::int64_t{1}); // of the new device's program
}
const Case moving_case{"weights may move: the step is captured anew", &weights_that_move};

inline void inside_a_capture_of_the_program() {
  using R = D::Runtime;
  Model model{D{0}};
  auto step = make_step(model);
  const Batch batch{4};
  for (int i = 0; i < 2; ++i) static_cast<void>(step(batch.x, batch.label));
  const auto stream = current_queue(D{0}).stream();
  require_equal(R::begin_capture(stream), 0);
  static_cast<void>(step(batch.x, batch.label));
  R::Graph graph{};
  require_equal(R::end_capture(stream, &graph), 0);
  require(step.capture_report().reason.find("the program itself is recording") != std::string::npos);
  const std::vector<float> before = weights_of(model);
  require_equal(R::launch_graph(graph, stream), 0);
  require(weights_of(model) != before);
  require_equal(R::destroy_graph(graph), 0);
}
const Case nested_case{"a program may capture steps itself", &inside_a_capture_of_the_program};

/// A failure of the driver while it captures.
template <class Kind = D> void a_driver_that_refuses() {
  if constexpr (HasEmulatedDriver<Kind>) {
    for (const char* call : {"begin_capture", "end_capture", "enqueue"}) {
      Model model{D{0}};
      manual_seed(D{0}, 3);
      auto step = make_step(model);
      const Batch batch{4};
      static_cast<void>(step(batch.x, batch.label));
      const std::string_view name{call};
      Kind::Runtime::fail_call(name, 1, 999);
      const float loss = step(batch.x, batch.label).item();
      require(loss > 0);
      require(step.capture_report().reason.find("999") != std::string::npos);
      static_cast<void>(step(batch.x, batch.label));
      require_equal(step.capture_report().plain_runs, std::int64_t{3});
      require_equal(step.capture_report().captures, std::int64_t{0});
    }
  }
}
const Case refusal_case{"a step that the driver does not capture runs launch by launch and says why",
                        &a_driver_that_refuses<>};

inline std::vector<float> accumulated(compile::Capture capture) {
  manual_seed(D{0}, 12);
  Model model{D{0}};
  auto step = accumulated_step(model, nn::cross_entropy, optim::MomentumSgd{{.rate = 0.1}});
  step.capture = capture;
  const std::vector<Batch> batches{Batch{16, 1}, Batch{16, 2}, Batch{5, 3}};
  std::vector<float> numbers{};
  for (int i = 0; i < 4; ++i) {
    for (const Batch& batch : batches) step.add(batch.x, batch.label);
    numbers.push_back(step.finish().item());
  }
  for (float weight : weights_of(model)) numbers.push_back(weight);
  require_equal(step.capture_report().is_captured(), capture != compile::Capture::never);
  return numbers;
}
inline void accumulation() {
  require_equal(accumulated(compile::Capture::automatic), accumulated(compile::Capture::never));
}
const Case accumulation_case{"micro-batches are captured where they stand in their batch", &accumulation};

/// The high-water mark of planned training, and what captured steps add to it.
struct Peak {
  std::int64_t bytes = 0;
  std::int64_t capture_bytes = 0;
};
template <class Device> Peak planned_peak(Device device, std::int64_t rows, compile::Capture capture) {
  reset_peak_memory_stats(device);
  const std::int64_t before = memory_allocated(device);
  nn::Network<Classifier, Device> model{device};
  auto step = train_step(model, nn::cross_entropy, optim::Adam{{.rate = 0.01}});
  step.capture = capture;
  const auto x = full<float, Shape<dyn, 5>>(Dims(rows, 5), 0.5F, device);
  const auto label = full<std::int64_t, Shape<dyn>>(Dims(rows), 2, device);
  for (int i = 0; i < 3; ++i) static_cast<void>(step(x, label));
  return {max_memory_allocated(device) - before, static_cast<std::int64_t>(step.capture_bytes(x, label))};
}
inline void peak() {
  using compile::Capture;
  for (const std::int64_t rows : {1, 31, 1024}) {
    const std::int64_t told = planned_peak(Meta{1}, rows, Capture::never).bytes;
    require_equal(planned_peak(D{0}, rows, Capture::never).bytes, told);
    const Peak captured = planned_peak(D{0}, rows, Capture::automatic);
    require_equal(captured.bytes, told + captured.capture_bytes);
    const auto rounded = [](std::int64_t bytes) { return (bytes + 511) / 512 * 512; };
    require_equal(captured.capture_bytes, rounded(rows * 5 * 4) + rounded(rows * 8));
  }
}
const Case peak_case{"Meta tells the peak of training on a GPU, and a captured step what it adds", &peak};

inline void nothing_stays() {
  const std::int64_t before = memory_allocated(D{0});
  for (int i = 0; i < 3; ++i) static_cast<void>(planned_peak(D{0}, 17, compile::Capture::automatic));
  require_equal(memory_allocated(D{0}), before);
}
const Case leak_case{"a captured step leaves no memory behind", &nothing_stays};

/// A traced step is neither captured nor replayed, and changes nothing else.
inline void traced_steps_tell_times() {
  const auto train = [](bool is_traced) {
    manual_seed(D{0}, 7);
    Model model{D{0}};
    auto step = make_step(model);
    const Batch batch{17};
    const auto steps = [&] {
      for (int i = 0; i < 3; ++i) static_cast<void>(step(batch.x, batch.label));
    };
    steps();
    if (is_traced) {
      const profile::Trace trace = profile::trace(steps);
      require_equal(step.capture_report().reason, "the run was traced");
      require_equal(trace.runs.size(), std::size_t{3});
      double before = trace.start_s - 1e-3; // clocks of devices and hosts are compared once
      std::int64_t flops = 0;
      for (const RecordedRun& run : trace.runs) {
        require(run.is_update && !run.times.empty());
        require_equal(run.devices.front(), to_string(D{0}));
        for (const NodeTime& time : run.times) {
          require(before - 1e-5 <= time.start_s && time.start_s <= time.end_s);
          const NodeInfo& node = (*run.nodes)[time.node];
          if (node.operation == "biased_product" && node.layer == "hidden" && !node.is_gradient) flops += node.flops;
          before = time.end_s;
        }
      }
      require_equal(flops, std::int64_t{3 * 2 * 17 * 5 * 16});
    } else {
      steps();
    }
    steps();
    require(step.capture_report().is_captured());
    return weights_of(model);
  };
  require_equal(train(true), train(false));
}
const Case trace_case{"a traced step tells when each launch ran, and gives the same bits", &traced_steps_tell_times};

/// Eager statements stand in a trace, too, with the device's own times.
inline void traced_statements_tell_times() {
  const auto a = random_rows<float, 17>(D{0}, 13);
  const auto w = random_rows<float, 11>(D{0}, 17, 2);
  const auto statements = [&] {
    const auto fused = eval(a * a + tanh(a));
    const auto sums = eval(sum<1>(a));
    const auto product = eval(matmul(a, w));
    return std::vector{to_vector(fused), to_vector(sums), to_vector(product)};
  };
  const auto untraced = statements();
  std::vector<std::vector<float>> traced{};
  const profile::Trace trace = profile::trace([&] { traced = statements(); });
  require(traced == untraced);
  require_equal(trace.lost, std::int64_t{0});
  require_equal(trace.runs.size(), std::size_t{3});
  double before = trace.start_s - 1e-3; // clocks of devices and hosts are compared once
  for (const RecordedRun& run : trace.runs) {
    require(run.is_statement && run.times.size() == 1);
    require_equal(run.devices.front(), to_string(D{0}));
    require(before - 1e-5 <= run.times[0].start_s && run.times[0].start_s <= run.times[0].end_s);
    before = run.times[0].end_s;
  }
  require_equal(trace.runs[0].nodes->front().bytes_read, std::int64_t{13 * 17 * 4});
  require_equal(trace.runs[1].nodes->front().operation, "sum");
  require_equal(trace.runs[2].nodes->front().operation, "matmul");
  require_equal(trace.runs[2].nodes->front().flops, std::int64_t{2 * 13 * 17 * 11});
}
const Case statements_case{"a trace tells when eager statements ran on a GPU", &traced_statements_tell_times};

}} // namespace twill::test::capture_suite
