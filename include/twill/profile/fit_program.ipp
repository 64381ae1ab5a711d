#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/fit_program.hpp.

#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/fit/estimate.hpp>
#include <twill/parallel/fit/search.hpp>
#include <twill/profile/fit_program.hpp>
#include <twill/profile/fit_table.hpp>
#include <twill/profile/gantt.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace profile { namespace detail {

/// The options of a command line.
struct FitCommand {
  parallel::fit::Sizes sizes{};
  parallel::fit::Options options{};
  parallel::fit::SearchOptions search{};
  parallel::fit::Machine machine{};
  bool searches = false;
  bool is_json = false;
  bool shows_usage = false;
  std::string svg{};
  std::string gantt{};
  std::string precision{};
};

/// A number of at least `least`. throws: ValueError naming the option
[[nodiscard]] inline std::int64_t whole_number(std::string_view option, std::string_view text, std::int64_t least) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < least)
    throw ValueError(join_text({"fit: ", option, " takes a whole number of at least ", least, ", got \"", text, "\""}));
  return number;
}

[[nodiscard]] inline double positive_number(std::string_view option, const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !(number >= 0))
    throw ValueError(join_text({"fit: ", option, " takes a number of at least 0, got \"", text, "\""}));
  return number;
}

/// "64=0.0021,0.0003": rows, seconds of gradients and of the update. throws: ValueError naming the option
[[nodiscard]] inline parallel::fit::TimedStep timed_step(std::string_view option, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::size_t comma = text.find(',');
  if (equals == std::string::npos || comma == std::string::npos || comma < equals)
    throw ValueError(
        join_text({"fit: ", option, " takes rows, seconds of gradients and of the update, 64=0.0021,0.0003, got \"",
                   text, "\""}));
  return {whole_number(option, std::string_view{text}.substr(0, equals), 1),
          positive_number(option, text.substr(equals + 1, comma - equals - 1)),
          positive_number(option, text.substr(comma + 1))};
}

/// Bytes: "24GB", "512MiB", "1000". throws: ValueError naming the option
[[nodiscard]] inline std::int64_t number_of_bytes(std::string_view option, std::string_view text) {
  constexpr std::pair<std::string_view, std::int64_t> units[] = {{"KiB", std::int64_t{1} << 10},
                                                                 {"MiB", std::int64_t{1} << 20},
                                                                 {"GiB", std::int64_t{1} << 30},
                                                                 {"kB", 1'000},
                                                                 {"MB", 1'000'000},
                                                                 {"GB", 1'000'000'000}};
  for (const auto& [unit, bytes] : units)
    if (text.ends_with(unit)) return whole_number(option, text.substr(0, text.size() - unit.size()), 1) * bytes;
  return whole_number(option, text, 1);
}

[[nodiscard]] inline parallel::pipeline::Checkpointing checkpointing_called(std::string_view name) {
  using parallel::pipeline::Checkpointing;
  if (name == "never") return Checkpointing::never;
  if (name == "except-last") return Checkpointing::except_last;
  if (name == "always") return Checkpointing::always;
  throw ValueError(join_text({"fit: --checkpointing is never, except-last or always, got \"", name, "\""}));
}

/// The mode of all stages, "always", or of each, "never,always".
[[nodiscard]] inline parallel::pipeline::StageCheckpointing stage_checkpointing(std::string_view text) {
  std::vector<parallel::pipeline::Checkpointing> each{};
  for (;; text.remove_prefix(text.find(',') + 1)) {
    const std::size_t comma = text.find(',');
    each.push_back(checkpointing_called(text.substr(0, comma)));
    if (comma == std::string_view::npos) break;
  }
  if (each.size() == 1) return each[0];
  return parallel::pipeline::StageCheckpointing{std::span<const parallel::pipeline::Checkpointing>{each}};
}

/// Reads one option with a value; false for others.
inline bool read_option(FitCommand& command, const std::string& option, const std::string& value) {
  const auto count = [&] { return static_cast<int>(whole_number(option, value, 1)); };
  const auto rate = [&] { return positive_number(option, value); };
  if (option == "--size") {
    const std::size_t equals = value.find('=');
    if (equals == std::string::npos)
      throw ValueError(join_text({"fit: --size takes a dimension and its number, batch=64, got \"", value, "\""}));
    command.sizes.emplace_back(value.substr(0, equals), whole_number(option, value.substr(equals + 1), 1));
  } else if (option == "--devices") {
    command.search.devices = count(), command.searches = true;
  } else if (option == "--budget") {
    command.search.budget_bytes = number_of_bytes(option, value), command.searches = true;
  } else if (option == "--top") {
    command.search.most = static_cast<std::size_t>(count());
  } else if (option == "--data") {
    command.options.data = count();
  } else if (option == "--pipeline") {
    command.options.pipeline = count();
  } else if (option == "--zero") {
    command.options.zero = static_cast<int>(whole_number(option, value, 0));
  } else if (option == "--shards") {
    command.options.shards = count();
  } else if (option == "--schedule") {
    command.options.schedule = parallel::fit::schedule_called(value).name;
  } else if (option == "--micro-batches") {
    command.options.micro_batches = count();
  } else if (option == "--checkpointing") {
    command.options.checkpointing = stage_checkpointing(value);
  } else if (option == "--weight-orders") {
    if (value != "made-each-time" && value != "kept-for-step")
      throw ValueError(join_text({"fit: --weight-orders is made-each-time or kept-for-step, got \"", value, "\""}));
    command.options.weight_orders = value == "kept-for-step" ? parallel::pipeline::WeightOrders::kept_for_step
                                                             : parallel::pipeline::WeightOrders::made_each_time;
  } else if (option == "--recompute-within") {
    command.options.budget_bytes = number_of_bytes(option, value);
  } else if (option == "--precision") {
    command.precision = value;
  } else if (option == "--svg") {
    command.svg = value;
  } else if (option == "--gantt") {
    command.gantt = value;
  } else if (option == "--operations-per-s") {
    command.machine.device.operations_per_s = rate();
  } else if (option == "--bytes-per-s") {
    command.machine.device.bytes_per_s = rate();
  } else if (option == "--launch-s") {
    command.machine.device.launch_s = rate();
  } else if (option == "--link-bytes-per-s") {
    command.machine.between_stages.bytes_per_s = command.machine.between_replicas.bytes_per_s =
        command.machine.between_layers.bytes_per_s = rate();
  } else if (option == "--link-latency-s") {
    command.machine.between_stages.latency_s = command.machine.between_replicas.latency_s =
        command.machine.between_layers.latency_s = rate();
  } else if (option == "--timed") {
    command.machine.timed.push_back(timed_step(option, value));
  } else if (option == "--library-bytes") {
    command.machine.library_bytes = number_of_bytes(option, value);
  } else {
    return false;
  }
  return true;
}

[[nodiscard]] inline FitCommand read_fit_command(std::span<const std::string> arguments) {
  FitCommand command{};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& option = arguments[i];
    if (option == "--json") {
      command.is_json = true;
    } else if (option == "--help") {
      command.shows_usage = true;
    } else if (option == "--one-process") {
      command.options.is_replicated = true;
    } else if (i + 1 == arguments.size() || !read_option(command, option, arguments[i + 1])) {
      const bool is_known = i + 1 == arguments.size() && fit_usage().find(option + " ") != std::string::npos;
      throw ValueError(
          join_text({"fit: ", option, is_known ? " takes a value" : " is no option", "; --help lists them"}));
    } else {
      ++i;
    }
  }
  return command;
}

}}}} // namespace twill::v0::profile::detail

namespace twill { inline namespace v0 { namespace profile {

TWILL_BODY std::string fit_usage() {
  return "--size NAME=N             the number of a named dimension, once for each\n"
         "one way to divide a step:\n"
         "  --data N                replicas\n"
         "  --one-process           replicas of a DataParallel, not ranks\n"
         "  --zero N                what replicas divide: 1 states, 2 gradients as well, 3 weights as well\n"
         "  --shards N              of a batch under parallel::Reproducible\n"
         "  --pipeline N            ranks of a pipeline\n"
         "  --schedule NAME         gpipe, 1f1b, interleaved-2, zb-h1, zb-h2, zbv\n"
         "  --micro-batches N       of a pipeline\n"
         "  --checkpointing MODE    of a pipeline: never, except-last, always, or one for each stage: never,always\n"
         "  --weight-orders MODE    of convolutions in a pipeline: made-each-time, kept-for-step\n"
         "  --recompute-within SIZE of one device: computes parts again, as nn::Fit does\n"
         "  --precision NAME        the model's elements: float32, or another that the program was made for\n"
         "all ways that fit, the best first:\n"
         "  --budget SIZE           most bytes of a device: 24GB, 512MiB\n"
         "  --devices N             their number\n"
         "  --top N                 how many to show, 20\n"
         "the machine, for times:\n"
         "  --operations-per-s X, --bytes-per-s X, --launch-s X   of a device\n"
         "  --link-bytes-per-s X, --link-latency-s X              between devices\n"
         "  --timed ROWS=S,S        seconds of gradients and of the update of a step timed on one device, for each\n"
         "                          number of rows\n"
         "  --library-bytes SIZE    that libraries take of each device, outside of twill's pool\n"
         "output:\n"
         "  --json                  instead of the table\n"
         "  --svg FILE              bars of the ranks' bytes, of the best way\n"
         "  --gantt FILE            the predicted time line of a pipeline\n";
}

inline namespace TWILL_ISA {

TWILL_BODY std::string fit_program(std::span<const FitPrecision> precisions, std::span<const std::string> arguments) {
  const detail::FitCommand command = detail::read_fit_command(arguments);
  if (command.shows_usage) return fit_usage();
  const FitPrecision* chosen = nullptr;
  std::string known{};
  for (const FitPrecision& precision : precisions) {
    if (chosen == nullptr && (command.precision.empty() || command.precision == name(precision.dtype)))
      chosen = &precision;
    known += (known.empty() ? "" : ", ") + std::string{name(precision.dtype)};
  }
  if (chosen == nullptr)
    throw ValueError(join_text({"fit: the program was not made for ", command.precision, " but for ", known,
                                "; add it to PRECISIONS of twill_add_fit"}));
  parallel::fit::Estimator estimator{chosen->traces, command.sizes, command.machine};
  std::vector<parallel::fit::Report> reports{};
  if (command.searches)
    reports = parallel::fit::search(estimator, command.search);
  else
    reports.push_back(estimator.report(command.options));
  for (parallel::fit::Report& report : reports) report.options.precision = chosen->dtype;
  if (!command.svg.empty() && !reports.empty())
    save_text("fit", command.svg, svg_fit(reports.front(), command.search.budget_bytes));
  if (!command.gantt.empty() && !reports.empty())
    save_gantt(command.gantt, reports.front().timeline, {.time_label = "s"});
  if (command.is_json) return fit_json(reports);
  if (reports.empty())
    return "nothing fits " + format_bytes(command.search.budget_bytes) + " on " +
           std::to_string(command.search.devices) + " devices\n";
  return command.searches ? fit_table(reports) + "\n" + fit_table(reports.front()) : fit_table(reports.front());
}

} // namespace TWILL_ISA
}}} // namespace twill::v0::profile
