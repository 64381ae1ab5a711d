#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What the split-size experiment has found: a table, a plot of the speed-up over the rows of a micro-batch with its standard
// deviation beside the schedule's ideal, the time line of the best size beside the simulated one as a Gantt chart and a trace, and
// everything as JSON for bench/parallel/table.py. Not part of twill.

#include <twill/parallel/pipeline/schedule/timeline.hpp>
#include <twill/profile/gantt.hpp>
#include <twill/profile/schedule_trace.hpp>
#include <twill/profile/svg_plot.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace examples {

[[nodiscard]] inline double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}
/// Of a sample; 0 for a single value.
[[nodiscard]] inline double standard_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  double sum = 0;
  for (const double value : values) sum += (value - mean(values)) * (value - mean(values));
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

/// Micro-batches of one size.
struct SplitResult {
  std::int64_t rows = 0;
  int micro_batches = 1;
  std::vector<double> seconds = {};
  double ideal = 0; ///< the schedule's speed-up over one device, for stages that are unequal by so many operations
  double predicted_s = 0;
  twill::pipeline::Timeline executed = {}; ///< of the fastest step
  twill::pipeline::Timeline simulated = {};
};

struct CutResult {
  std::string name;
  std::vector<double> operations = {};  ///< of each stage, for some images
  std::vector<SplitResult> splits = {}; ///< the first is the whole batch: one device after the other

  [[nodiscard]] double total_operations() const {
    double sum = 0;
    for (const double stage : operations) sum += stage;
    return sum;
  }
  [[nodiscard]] const SplitResult& best() const {
    return *std::min_element(splits.begin() + 1, splits.end(), [](const auto& left, const auto& right) {
      return mean(left.seconds) < mean(right.seconds);
    });
  }
};

struct SplitSizeResult {
  std::int64_t batch = 0;
  std::int64_t image = 0;
  std::vector<double> one_s = {};  ///< one device of one core
  std::vector<double> pair_s = {}; ///< two processes, each with a step of its own
  std::vector<CutResult> cuts = {};

  /// How much more two processes do on two cores than one on one.
  [[nodiscard]] double scaling() const { return 2 * mean(one_s) / mean(pair_s); }
  /// The schedule's ideal on cores that slow each other down.
  [[nodiscard]] double attainable(const SplitResult& split) const { return split.ideal * scaling() / 2; }
  /// Over one device.
  [[nodiscard]] double speed_up(const SplitResult& split) const { return mean(one_s) / mean(split.seconds); }
};

/// What each rank computes, in seconds.
[[nodiscard]] inline std::vector<double> busy(const twill::pipeline::Timeline& timeline) {
  std::vector<double> seconds;
  for (const auto& events : timeline.ranks) {
    seconds.push_back(0);
    for (const auto& event : events) seconds.back() += event.end - event.start;
  }
  return seconds;
}

/// Where the time of a rank goes: computing, waiting for the other one, and what lies before its first and behind its last
/// action, in parts of a step.
inline void print_ranks(const twill::pipeline::Timeline& timeline, double step_s) {
  for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
    const auto& events = timeline.ranks[rank];
    const double stands = timeline.idle(static_cast<int>(rank));
    const double present = events.back().end - events.front().start;
    double under_way = 0;
    std::int64_t bytes = 0;
    for (const auto& message : twill::pipeline::messages_of(timeline))
      if (message.from == static_cast<int>(rank)) {
        under_way += message.delivered - message.start();
        bytes += message.bytes;
      }
    std::printf(
        "    rank %d computes %.1f%%, stands still %.1f%% between its actions and %.1f%% before and behind them; "
        "its messages, %.1f MB, were under way for %.2f%%\n",
        static_cast<int>(rank), 100 * (present - stands) / step_s, 100 * stands / step_s,
        100 * (step_s - present) / step_s, static_cast<double>(bytes) / 1e6, 100 * under_way / step_s);
  }
}

inline void print(const SplitSizeResult& result) {
  std::printf("batch %d of 3x%dx%d, %d repeats\n", static_cast<int>(result.batch), static_cast<int>(result.image),
              static_cast<int>(result.image), static_cast<int>(result.one_s.size()));
  std::printf("one device: %.4f s, standard deviation %.4f; two processes scale to %.3f\n", mean(result.one_s),
              standard_deviation(result.one_s), result.scaling());
  for (const CutResult& cut : result.cuts) {
    std::printf("cut %s, %.1f%% of the multiply-adds in its first stage\n", cut.name.c_str(),
                100 * cut.operations[0] / cut.total_operations());
    std::printf("  %6s %8s %10s %10s %9s %9s %12s %10s\n", "rows", "batches", "seconds", "deviation", "speed-up",
                "ideal", "of possible", "predicted");
    for (const SplitResult& split : cut.splits)
      std::printf("  %6d %8d %10.4f %10.4f %8.3fx %8.3fx %11.1f%% %9.1f%%\n", static_cast<int>(split.rows),
                  split.micro_batches, mean(split.seconds), standard_deviation(split.seconds), result.speed_up(split),
                  split.ideal, 100 * result.speed_up(split) / result.attainable(split),
                  100 * split.predicted_s / mean(split.seconds));
    const SplitResult& best = cut.best();
    std::printf("  best: %d rows; model parallel without pipelining takes %.3f of one device's time\n",
                static_cast<int>(best.rows), mean(cut.splits[0].seconds) / mean(result.one_s));
    print_ranks(best.executed, *std::min_element(best.seconds.begin(), best.seconds.end()));
  }
}

inline void write_json(const std::string& path, const SplitSizeResult& result) {
  std::ofstream file(path);
  const auto list = [&](const char* name, const std::vector<double>& values) {
    file << "\"" << name << "\": [";
    for (std::size_t i = 0; i < values.size(); ++i) file << (i > 0 ? ", " : "") << values[i];
    file << "]";
  };
  file.precision(9);
  file << "{\n \"batch\": " << result.batch << ", \"image\": " << result.image << ",\n ";
  list("one_s", result.one_s);
  file << ",\n ";
  list("pair_s", result.pair_s);
  file << ",\n \"cuts\": [";
  for (const CutResult& cut : result.cuts) {
    file << (&cut == result.cuts.data() ? "\n" : ",\n") << "  {\"name\": \"" << cut.name << "\", ";
    list("operations", cut.operations);
    file << ", \"splits\": [";
    for (const SplitResult& split : cut.splits) {
      file << (&split == cut.splits.data() ? "\n" : ",\n") << "   {\"rows\": " << split.rows
           << ", \"micro_batches\": " << split.micro_batches << ", \"ideal\": " << split.ideal
           << ", \"predicted_s\": " << split.predicted_s << ", ";
      list("seconds", split.seconds);
      file << ",\n    \"fastest_s\": " << *std::min_element(split.seconds.begin(), split.seconds.end())
           << ", \"makespan_s\": " << split.executed.makespan() << ", ";
      list("busy_s", busy(split.executed));
      file << "}";
    }
    file << "\n  ]}";
  }
  file << "\n ]\n}\n";
}

/// The plot, and the time line of the best size of each cut.
inline void draw(const std::string& name, const SplitSizeResult& result) {
  using namespace twill;
  profile::LinePlot plot(
      {.title = "two devices against one", .x_label = "rows in a micro-batch", .y_label = "speed-up"});
  for (const CutResult& cut : result.cuts) {
    std::vector<double> rows, speed_ups, deviations, ideals;
    for (std::size_t i = 1; i < cut.splits.size(); ++i) {
      const SplitResult& split = cut.splits[i];
      rows.push_back(static_cast<double>(split.rows));
      speed_ups.push_back(result.speed_up(split));
      deviations.push_back(speed_ups.back() * standard_deviation(split.seconds) / mean(split.seconds));
      ideals.push_back(result.attainable(split));
    }
    plot.add(cut.name, rows, speed_ups, deviations).add("possible", rows, ideals);
    const SplitResult& best = cut.best();
    const std::vector<profile::NamedTimeline> timelines{{"executed", best.executed}, {"simulated", best.simulated}};
    const std::string file = name + (&cut == result.cuts.data() ? "" : "_balanced");
    profile::save_gantt(file + "_gantt.svg", timelines,
                        {.title = std::to_string(best.micro_batches) + " micro-batches of " +
                                  std::to_string(best.rows) + " rows, cut " + cut.name,
                         .time_label = "seconds"});
    profile::save_chrome_trace(file + "_trace.json", timelines, 1e6);
  }
  plot.save(name + ".svg");
}

} // namespace examples
