#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Where the time of a trace went: the most expensive nodes, with the launches of a node in all runs together, as PyTorch's
// profiler shows them (`key_averages().table()`), beside bytes and arithmetic a second and the share of the limit that binds.
// Read next: profile/trace.hpp.

#include <twill/core/bytes.hpp>
#include <twill/core/stable_order.hpp>
#include <twill/profile/detail/numbers.hpp>
#include <twill/profile/table.hpp>
#include <twill/profile/trace.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill::inline v0::profile {

/// Which launches stand in one row: those of a node, an operation of a layer, or those of all nodes with the same operation.
enum class GroupBy : bool { node, operation };

/// How much of a trace a table shows, and by what it adds up.
struct NodeTableOptions {
  std::size_t rows = 10;            ///< the most; the rest is added up in one
  GroupBy group_by = GroupBy::node; ///< what one row is
};

/// Launches together.
struct NodeTotal {
  std::string operation{};      ///< what it computes
  std::string layer{};          ///< empty where several are together
  bool is_gradient = false;     ///< whether it belongs to the backward pass
  std::string device{};         ///< as messages call it
  DType dtype = DType::float32; ///< in which it computes
  std::int64_t launches = 0;    ///< how often it ran
  double seconds = 0;           ///< in all
  double bytes = 0;             ///< read and written, in all
  double flops = 0;             ///< in all, two for a multiply-add
};

/// All of a trace, the most expensive first.
[[nodiscard]] inline std::vector<NodeTotal> node_totals(const Trace& trace, GroupBy group_by = GroupBy::node) {
  detail::TextNumbers rows{};
  std::vector<NodeTotal> totals{};
  for (const RecordedRun& run : trace.runs)
    for (const NodeTime& time : run.times) {
      const NodeInfo& node = (*run.nodes)[time.node];
      const std::string& device = run.devices[static_cast<std::size_t>(node.slot)];
      const bool alone = group_by == GroupBy::node;
      const std::string layer = alone ? node.layer : std::string{};
      const bool is_gradient = alone && node.is_gradient;
      // A null character is before all that names consist of, so rows have the order of their fields.
      std::string key = node.operation;
      for (const std::string_view field :
           {std::string_view{layer}, std::string_view{is_gradient ? "1" : "0"}, std::string_view{device}})
        (key += '\0') += field;
      (key += '\0') += static_cast<char>(node.dtype);
      const auto [row, is_new] = detail::number_of(rows, key);
      if (is_new) totals.push_back({node.operation, layer, is_gradient, device, node.dtype});
      NodeTotal& total = totals[row];
      ++total.launches;
      total.seconds += time.end_s - time.start_s;
      total.bytes += static_cast<double>(node.bytes_read + node.bytes_written);
      total.flops += static_cast<double>(node.flops);
    }
  std::vector<NodeTotal> sorted{};
  for (const auto& [key, row] : rows) sorted.push_back(std::move(totals[row]));
  sort_stably(sorted, [](const NodeTotal& left, const NodeTotal& right) { return left.seconds > right.seconds; });
  return sorted;
}

namespace detail {
[[nodiscard]] inline std::string time_text(double seconds) {
  char text[32];
  if (seconds < 0.99995e-3)
    std::snprintf(text, sizeof text, "%.1f us", 1e6 * seconds);
  else if (seconds < 0.99995)
    std::snprintf(text, sizeof text, "%.2f ms", 1e3 * seconds);
  else
    std::snprintf(text, sizeof text, "%.2f s", seconds);
  return text;
}
/// In billions a second.
[[nodiscard]] inline std::string rate_text(double amount, double seconds) {
  if (amount <= 0 || seconds <= 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", 1e-9 * amount / seconds);
  return text;
}
[[nodiscard]] inline std::string share_text(double share) {
  if (share < 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f%%", 100 * share);
  return text;
}
[[nodiscard]] inline std::string layer_text(const NodeTotal& total) {
  if (!total.is_gradient) return total.layer;
  return "gradient of " + total.layer;
}
} // namespace detail

/// The most expensive nodes: launches, time, share of all nodes' time, mean, billions of bytes and of operations a second, and
/// the share of the limit that binds where the trace knows the device's. The last row is all of the trace.
[[nodiscard]] inline Table node_table(const Trace& trace, const NodeTableOptions& options = {}) {
  Table table({{"operation", Align::left},
               {"layer", Align::left},
               {"device", Align::left},
               {"launches"},
               {"time"},
               {"of all"},
               {"mean"},
               {"GB/s"},
               {"GFLOP/s"},
               {"of limit"},
               {"limit", Align::left}});
  const std::vector<NodeTotal> totals = node_totals(trace, options.group_by);
  NodeTotal all{};
  for (const NodeTotal& total : totals) {
    all.launches += total.launches;
    all.seconds += total.seconds;
    all.bytes += total.bytes;
    all.flops += total.flops;
  }
  const auto add = [&](const NodeTotal& total, const LimitShare& limit) {
    const double mean = total.launches > 0 ? total.seconds / static_cast<double>(total.launches) : 0;
    const char* const words = limit.share < 0 ? "" : limit.is_arithmetic ? "arithmetic" : "bandwidth";
    table.row({total.operation, detail::layer_text(total), total.device, std::to_string(total.launches),
               detail::time_text(total.seconds), detail::share_text(all.seconds > 0 ? total.seconds / all.seconds : 0),
               detail::time_text(mean), detail::rate_text(total.bytes, total.seconds),
               detail::rate_text(total.flops, total.seconds), detail::share_text(limit.share), words});
  };
  for (std::size_t i = 0; i < std::min(options.rows, totals.size()); ++i)
    add(totals[i], limit_share(totals[i].bytes, totals[i].flops, totals[i].dtype, totals[i].seconds,
                               peaks_of(trace, totals[i].device)));
  table.rule();
  all.operation = "all";
  add(all, {-1, false});
  return table;
}

} // namespace twill::inline v0::profile
