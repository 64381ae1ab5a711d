#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/fit_table.hpp.

#include <twill/io/json.hpp>
#include <twill/profile/fit_table.hpp>
#include <twill/profile/svg.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace profile { namespace detail {

/// A class of bytes by its number.
[[nodiscard]] inline parallel::fit::Bytes kind_of_bytes(std::size_t number) {
  return static_cast<parallel::fit::Bytes>(number);
}

/// A number as JSON has it.
[[nodiscard]] inline std::string json_number(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", number);
  return text;
}

[[nodiscard]] inline std::string json_numbers(const std::vector<std::int64_t>& numbers) {
  std::string text{};
  for (const std::int64_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

/// The links of a pipeline that carry something: "0 to 1 2.00 MiB, 1 to 0 1.00 MiB".
[[nodiscard]] inline std::string links_of(const parallel::fit::Report& report) {
  std::string text{};
  for (std::size_t from = 0; from < report.ranks.size(); ++from)
    for (std::size_t to = 0; to < report.ranks[from].sent_to.size(); ++to)
      if (const std::int64_t bytes = report.ranks[from].sent_to[to]; bytes > 0)
        text +=
            (text.empty() ? "" : ", ") + std::to_string(from) + " to " + std::to_string(to) + " " + format_bytes(bytes);
  return text;
}

/// Memory of decompositions and transforms on GPUs, which libraries ask for when they run.
[[nodiscard]] inline std::string operations_of(const parallel::fit::Report& report) {
  std::int64_t most = 0;
  for (const parallel::fit::RankReport& rank : report.ranks) most = std::max(most, rank.operation_bytes);
  if (most == 0) return {};
  return "working memory has " + format_bytes(most) +
         " for one decomposition or transform: for cuFFT the most that its manual names, for cuSOLVER, which names no "
         "bound, four times the matrices and 2^18 elements; a run warns where it asks for more\n";
}

[[nodiscard]] inline std::string fit_json_of(const parallel::fit::Report& report) {
  const parallel::fit::Options& options = report.options;
  std::string text = "{\"data\": " + std::to_string(options.data) + ", \"tensor\": " + std::to_string(options.tensor) +
                     ", \"pipeline\": " + std::to_string(options.pipeline) +
                     ", \"slots\": " + std::to_string(options.slots) + ", \"zero\": " + std::to_string(options.zero) +
                     ", \"shards\": " + std::to_string(options.shards) +
                     ", \"precision\": " + io::json_quoted(name(options.precision));
  if (options.pipeline > 1)
    text += ", \"schedule\": " + io::json_quoted(options.schedule) +
            ", \"micro_batches\": " + std::to_string(options.micro_batches) +
            ", \"checkpointing\": " + io::json_quoted(parallel::fit::checkpointing_text(options)) +
            ", \"keeps_weight_orders\": " +
            (options.weight_orders == parallel::pipeline::WeightOrders::kept_for_step ? "true" : "false");
  if (options.budget_bytes > 0) text += ", \"recompute_within_bytes\": " + std::to_string(options.budget_bytes);
  text += ", \"rows\": " + std::to_string(report.rows) + ", \"peak_bytes\": " + std::to_string(report.peak_bytes()) +
          ", \"step_s\": " + json_number(report.step_s) + ", \"bubble_s\": " + json_number(report.bubble_s) +
          ", \"all_reduce_s\": " + json_number(report.all_reduce_s) +
          ", \"layers_s\": " + json_number(report.layers_s) + ", \"ranks\": [";
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    const parallel::fit::RankReport& own = report.ranks[rank];
    text += (rank > 0 ? ", {" : "{") + std::string{"\"bytes\": {"};
    for (std::size_t kind = 0; kind < parallel::fit::kinds_of_bytes; ++kind)
      text += (kind > 0 ? ", " : "") + io::json_quoted(name(kind_of_bytes(kind))) + ": " +
              std::to_string(own.bytes.counts[kind]);
    text += "}, \"peak_bytes\": " + std::to_string(own.bytes.total()) +
            ", \"held_bytes\": " + std::to_string(own.held_bytes) +
            ", \"sent_bytes\": " + std::to_string(own.sent_bytes) + ", \"sent_to\": " + json_numbers(own.sent_to) +
            ", \"summed_bytes\": " + std::to_string(own.summed_bytes) +
            ", \"layer_bytes\": " + std::to_string(own.layer_bytes) +
            ", \"operation_bytes\": " + std::to_string(own.operation_bytes) + "}";
  }
  return text + "]}";
}

}}}} // namespace twill::v0::profile::detail

namespace twill { inline namespace v0 { namespace profile {

TWILL_BODY std::string fit_table(const parallel::fit::Report& report) {
  std::vector<TableColumn> columns{{"rank", Align::right}};
  for (std::size_t kind = 0; kind < parallel::fit::kinds_of_bytes; ++kind)
    columns.push_back({std::string{name(detail::kind_of_bytes(kind))}, Align::right});
  columns.push_back({"peak", Align::right});
  columns.push_back({"peak in bytes", Align::right});
  columns.push_back({"sent", Align::right});
  columns.push_back({"summed", Align::right});
  if (report.options.tensor > 1) columns.push_back({"in layers", Align::right});
  Table table{std::move(columns)};
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    const parallel::fit::RankReport& own = report.ranks[rank];
    std::vector<std::string> cells{std::to_string(rank)};
    for (const std::int64_t bytes : own.bytes.counts) cells.push_back(format_bytes(bytes));
    cells.push_back(format_bytes(own.bytes.total()));
    cells.push_back(std::to_string(own.bytes.total()));
    cells.push_back(format_bytes(own.sent_bytes));
    cells.push_back(format_bytes(own.summed_bytes));
    if (report.options.tensor > 1) cells.push_back(format_bytes(own.layer_bytes));
    table.row(std::move(cells));
  }
  const std::string links = detail::links_of(report);
  return to_string(report.options) + ", " + std::to_string(report.rows) + " rows\n" + to_string(table) +
         detail::operations_of(report) + (links.empty() ? "" : "sent from rank to rank: " + links + "\n") +
         "predicted: step " + duration(report.step_s) + ", bubble " + duration(report.bubble_s) +
         ", sums among replicas " + duration(report.all_reduce_s) +
         (report.options.tensor > 1 ? ", calls in layers " + duration(report.layers_s) : "") + ", " +
         fixed(report.rows_per_s(), 0) + " rows/s\n";
}

TWILL_BODY std::string fit_table(const std::vector<parallel::fit::Report>& reports) {
  Table table{{{"options", Align::left},
               {"peak", Align::right},
               {"step", Align::right},
               {"bubble", Align::right},
               {"rows/s", Align::right}}};
  for (const parallel::fit::Report& report : reports)
    table.row({to_string(report.options), format_bytes(report.peak_bytes()), duration(report.step_s),
               duration(report.bubble_s), fixed(report.rows_per_s(), 0)});
  return to_string(table);
}

TWILL_BODY std::string fit_json(const std::vector<parallel::fit::Report>& reports) {
  std::string text = "[";
  for (const parallel::fit::Report& report : reports)
    text += (text.size() > 1 ? ",\n" : "\n") + detail::fit_json_of(report);
  return text + "\n]\n";
}

TWILL_BODY std::string svg_fit(const parallel::fit::Report& report, std::int64_t budget_bytes) {
  constexpr std::array<std::string_view, parallel::fit::kinds_of_bytes> colours{
      "#0072B2", "#E69F00", "#009E73", "#56B4E9", "#CC79A7", "#D55E00", "#999999"};
  constexpr double left = 70;
  constexpr double right = 760;
  constexpr double row_px = 26;
  const double top = 84;
  const double bottom = top + row_px * static_cast<double>(report.ranks.size());
  Svg svg{};
  svg.title(left, "bytes of each rank: " + to_string(report.options));
  double x = left;
  for (std::size_t kind = 0; kind < parallel::fit::kinds_of_bytes; ++kind)
    x = svg.legend(x, 56, name(detail::kind_of_bytes(kind)), {.stroke = colours[kind], .stroke_width = 11});
  constexpr double mib = 1024.0 * 1024.0;
  const double most = static_cast<double>(std::max(report.peak_bytes(), budget_bytes)) / mib;
  SvgAxis axis{.low = 0, .high = most, .begin_px = left, .end_px = right, .ticks = nice_ticks(0, most, 6)};
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    const double y = top + row_px * static_cast<double>(rank);
    svg.text(left - 8, y + 16, "rank " + std::to_string(rank), {.anchor = "end"});
    std::int64_t before = 0;
    for (std::size_t kind = 0; kind < parallel::fit::kinds_of_bytes; ++kind) {
      const std::int64_t bytes = report.ranks[rank].bytes.counts[kind];
      const double begin = axis.at(static_cast<double>(before) / mib);
      before += bytes;
      svg.rectangle(begin, y + 3, axis.at(static_cast<double>(before) / mib) - begin, row_px - 6,
                    {.fill = colours[kind]},
                    std::string{name(detail::kind_of_bytes(kind))} + ": " + std::to_string(bytes) + " bytes");
    }
  }
  if (budget_bytes > 0) {
    const double at = axis.at(static_cast<double>(budget_bytes) / mib);
    svg.line(at, top - 8, at, bottom, {.stroke = "black", .stroke_width = 1.5, .dashes = "5 3"});
    svg.text(at, top - 12, "budget", {.anchor = "end"});
  }
  svg.x_axis(axis, bottom + 6, "MiB at the peak of a step");
  return svg.document(right + 60, bottom + 60);
}

}}} // namespace twill::v0::profile
