#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The split-size experiment: a model on one device, on two devices one after the other, and as a pipeline of micro-batches of
// so many rows, for several sizes; beside it, what two processes of their own reach on the same two cores, because that is
// all that a pipeline can hope for. What it finds is printed, drawn, and left as JSON. Not part of twill. Read next:
// examples/support/split_size_report.hpp.

#include "bench/support/machine.hpp"
#include "bench/support/measured_costs.hpp"
#include "examples/support/command_line.hpp"
#include "examples/support/core_process.hpp"
#include "examples/support/split_size_report.hpp"

#include <twill/parallel.hpp>
#include <twill/twill.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace examples {

struct SplitSizeOptions {
  std::int64_t batch = 120;
  int repeats = 10;
  std::string splits = "1,3,5,8,10,12,20,40,60";
  std::string cut = "both";
  std::string results = "split_size";

  /// The rows of the micro-batches.    throws: UsageError
  [[nodiscard]] std::vector<std::int64_t> sizes() const {
    std::vector<std::int64_t> all;
    std::stringstream text{splits};
    for (std::string word; std::getline(text, word, ',');) {
      std::int64_t size = 0;
      if (!detail::parse_number(word, Range<std::int64_t>{1, batch}, size))
        throw UsageError("--splits is a list of whole numbers from 1 to the batch, got \"" + word + "\"");
      all.push_back(size);
    }
    if (all.empty()) throw UsageError("--splits is a list of whole numbers from 1 to the batch, got nothing");
    return all;
  }
};

/// Reads the flags; false when only help was asked for.
[[nodiscard]] inline bool read_flags(int count, char** arguments, const std::string& purpose,
                                     SplitSizeOptions& options) {
  const CommandLine line =
      CommandLine{purpose}
          .flag("--batch", options.batch, {.least = 2}, "images in a batch")
          .flag("--repeats", options.repeats, {.least = 1}, "steps of each kind, behind one that warms up")
          .flag("--splits", options.splits, "rows of a micro-batch, several with commas")
          .flag("--cut", options.cut, "own (behind the second group), balanced, or both")
          .flag("--results", options.results, "the files' names begin so");
  if (!line.parse(count, arguments)) {
    std::fputs(line.help().c_str(), stdout);
    return false;
  }
  if (options.cut != "own" && options.cut != "balanced" && options.cut != "both")
    throw UsageError("--cut is own, balanced or both, got \"" + options.cut + "\"");
  static_cast<void>(options.sizes());
  return true;
}

/// Images of random numbers, each of one of the classes.
template <std::int64_t Extent, std::int64_t Classes> struct SplitSizeBatch {
  twill::Tensor<float, twill::Cpu, twill::Shape<twill::dyn, 3, Extent, Extent>> images;
  twill::Tensor<float, twill::Cpu, twill::Shape<twill::dyn, Classes>> targets;

  SplitSizeBatch(twill::Cpu device, std::int64_t rows)
      : images(device, twill::Dims(rows, 3, Extent, Extent)), targets(device, twill::Dims(rows, Classes)) {
    std::uint32_t state = 1; // any numbers will do, alike everywhere
    const auto next = [&] { return state = 1664525U * state + 1013904223U; };
    for (std::int64_t i = 0; i < images.elements(); ++i)
      images.data()[i] = static_cast<float>(next() >> 8) / float{1 << 23} - 1;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t k = 0, own = (next() >> 8) % Classes; k < Classes; ++k)
        targets.data()[row * Classes + k] = k == own ? 1.0F : 0.0F;
  }
};

inline const auto split_size_rule = twill::optim::Sgd{{.rate = 0.001}};

/// M cut where its first stage has nearest to so many hundredths of the whole work: the stages of a network may be unequally
/// fast, and then a balance of arithmetic is none of time.
template <twill::nn::Model M, int Percent> struct CutAtShare {
  using cut_type = M;
  template <twill::FloatingScalar T> static constexpr twill::pipeline::CutPlaces places() {
    using Whole = twill::nn::ModelStage<M, T, true>;
    twill::graph::Graph graph = Whole::make_graph();
    const int root = Whole::build(graph).id();
    twill::pipeline::CutPlaces found{};
    found.fault = graph.fault;
    if (found.fault.any()) return found;
    const twill::compile::Cuts cuts{graph, root, twill::pipeline::SizesOr32<twill::nn::Size<"batch", 8>>::of(graph)};
    const auto miss = [&](int cut) {
      const std::int64_t off = 100 * cuts.work(0, cut) - Percent * cuts.work(0, cuts.count() - 1);
      return off < 0 ? -off : off;
    };
    int best = 1;
    for (int cut = 2; cut + 1 < cuts.count(); ++cut)
      if (miss(cut) < miss(best)) best = cut;
    found.nodes.items[found.count++] = cuts.node(best);
    return found;
  }
};

/// Seconds of one call.
template <class F> [[nodiscard]] double seconds_of(F f) {
  const double start = twill::steady_seconds();
  f();
  return twill::steady_seconds() - start;
}

/// One way to cut the model.
template <class Pipe, class Cut, std::int64_t Extent, std::int64_t Classes> class SplitSizeCut {
  using Batch = SplitSizeBatch<Extent, Classes>;
  using Step = decltype(train_step(std::declval<Pipe&>(), twill::nn::mse, split_size_rule, {}));

public:
  SplitSizeCut(std::string name, bool is_balanced, const SplitSizeOptions& options)
      : is_balanced_{is_balanced}, result_{std::move(name)} {
    namespace pipeline = twill::pipeline;
    constexpr auto reports = pipeline::stage_reports<Cut, float, twill::nn::Size<"batch", 8>>;
    for (const pipeline::StageReport& report : reports) result_.operations.push_back(double(report.operations));
    result_.splits.push_back({options.batch, 1}); // the whole batch: one device after the other
    for (const std::int64_t size : options.sizes())
      result_.splits.push_back({size, static_cast<int>((options.batch + size - 1) / size)});
    for (const SplitResult& split : result_.splits)
      steps_.push_back(std::make_unique<Step>(
          train_step(pipe_, twill::nn::mse, split_size_rule,
                     {.micro_batches = split.micro_batches, .weight_orders = pipeline::WeightOrders::kept_for_step})));
  }

  /// A step of each size; the first round warms up.
  void round(const Batch& batch, bool counts) {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      SplitResult& split = result_.splits[i];
      const double taken = seconds_of([&] { (*steps_[i])(batch.images, batch.targets); });
      if (!counts) continue;
      if (split.seconds.empty() || taken < *std::min_element(split.seconds.begin(), split.seconds.end()))
        split.executed = steps_[i]->timeline();
      split.seconds.push_back(taken);
    }
  }

  /// What the stages' costs, measured apart, make one expect of each size. Stages that are balanced count as equal.
  void predict(twill::Cpu device, std::int64_t batch_rows) {
    namespace pipeline = twill::pipeline;
    const double update_s = measured_update();
    for (SplitResult& split : result_.splits) {
      const Batch rows(device, split.rows);
      const int rounds = static_cast<int>(std::clamp<std::int64_t>(batch_rows / (2 * split.rows), 2, 20));
      const auto orders =
          split.micro_batches > 1 ? pipeline::WeightOrders::kept_for_step : pipeline::WeightOrders::made_each_time;
      auto costs = bench::measured_costs(pipe_, twill::nn::mse, {.rounds = rounds, .weight_orders = orders},
                                         rows.images, rows.targets);
      for (pipeline::StageCost& stage : costs.stages) stage.update_s = update_s;
      const auto step = bench::simulate_hindered<typename Pipe::ScheduleType>(costs, split.micro_batches, cluster_);
      split.predicted_s = step.step_s;
      split.simulated = step.timeline;
      twill::List<pipeline::StageCost> counted;
      for (const double operations : result_.operations)
        counted.push_back(is_balanced_
                              ? pipeline::StageCost{.forward_s = 1, .input_gradient_s = 2}
                              : pipeline::StageCost{.forward_s = operations, .input_gradient_s = 2 * operations});
      double total = 0;
      for (const pipeline::StageCost& stage : counted) total += stage.forward_s + stage.input_gradient_s;
      split.ideal = total * split.micro_batches /
                    pipeline::simulate<typename Pipe::ScheduleType>({counted, split.micro_batches}).step_s;
    }
  }

  /// The link between the devices, as two threads measure it.
  void measure_link() {
    auto communicators = twill::parallel::thread_communicators(pipe_.devices());
    twill::parallel::run_ranks(communicators, [&](auto& communicator) {
      const auto link = bench::measure_link(communicator, 1 - communicator.rank());
      if (communicator.rank() == 0) cluster_.between_stages = link;
    });
  }

  [[nodiscard]] const CutResult& result() const { return result_; }

private:
  /// Of all weights, one stage after the other, as a step does it; the gradients are those that the last step has left.
  [[nodiscard]] double measured_update() {
    double shortest = 1e9;
    for (int run = 0; run < 3; ++run)
      shortest = std::min(shortest, seconds_of([&] {
                            steps_[0]->template optimiser<0>().step();
                            steps_[0]->template optimiser<1>().step();
                          }));
    return shortest;
  }

  Pipe pipe_{{twill::Cpu{0}, twill::Cpu{1}}};
  bool is_balanced_;
  std::vector<std::unique_ptr<Step>> steps_{};
  CutResult result_;
  twill::pipeline::Cluster cluster_{};
};

/// Runs the experiment on a model whose own mark is the reference's cut. The other cut is the library's balance of arithmetic
/// and bytes, or, where `Percent` is not 0, the one that gives the first stage such a part of the work.
template <class Model, std::int64_t Extent, std::int64_t Classes, int Percent = 0>
[[nodiscard]] SplitSizeResult run_split_size(const SplitSizeOptions& options) {
  using namespace twill;
  using Own = pipeline::Cut<Model>;
  using Even =
      std::conditional_t<Percent == 0, pipeline::Balanced<Model, 2, nn::Size<"batch", 8>>, CutAtShare<Model, Percent>>;
  using Schedule = pipeline::OneForwardOneBackward;
  const auto divide = [] { configure_host({.devices = 2, .threads_per_device = 1, .oversubscribe = true}); };
  struct OneDevice {
    nn::Network<Model, Cpu> model;
    SplitSizeBatch<Extent, Classes> batch;
    decltype(train_step(model, nn::mse, split_size_rule)) step;

    OneDevice(Cpu device, std::int64_t rows)
        : model{device}, batch(device, rows), step{train_step(model, nn::mse, split_size_rule)} {}
  };
  const auto one_device = [&](int core) {
    return [=] {
      divide();
      const auto own = std::make_shared<OneDevice>(Cpu{core}, options.batch);
      return [own] { static_cast<void>(own->step(own->batch.images, own->batch.targets).item()); };
    };
  };
  CoreProcess first{one_device(0)};
  CoreProcess second{one_device(1)};
  divide();

  SplitSizeResult result{options.batch, Extent, {}, {}, {}};
  const SplitSizeBatch<Extent, Classes> batch(Cpu{0}, options.batch);
  std::unique_ptr<SplitSizeCut<Pipeline<Schedule, Own>, Own, Extent, Classes>> own;
  std::unique_ptr<SplitSizeCut<Pipeline<Schedule, Even>, Even, Extent, Classes>> even;
  using OwnCut = typename decltype(own)::element_type;
  using EvenCut = typename decltype(even)::element_type;
  if (options.cut != "balanced") own = std::make_unique<OwnCut>("behind the second group", false, options);
  if (options.cut != "own") even = std::make_unique<EvenCut>("balanced", true, options);
  const auto with_cuts = [&](auto f) {
    if (own) f(*own);
    if (even) f(*even);
  };
  for (int repeat = -1; repeat < options.repeats; ++repeat) {
    first.ask();
    const double alone = first.seconds();
    first.ask();
    second.ask();
    const double of_first = first.seconds();
    const double pair = std::max(of_first, second.seconds());
    if (repeat >= 0) {
      result.one_s.push_back(alone);
      result.pair_s.push_back(pair);
    }
    with_cuts([&](auto& cut) { cut.round(batch, repeat >= 0); });
    std::fprintf(stderr, "%d of %d\n", repeat + 1, options.repeats);
  }
  with_cuts([&](auto& cut) {
    cut.measure_link();
    cut.predict(Cpu{0}, options.batch);
    result.cuts.push_back(cut.result());
  });
  return result;
}

} // namespace examples
