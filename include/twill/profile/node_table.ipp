#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/node_table.hpp.

#include <twill/profile/node_table.hpp>

namespace twill::inline v0::profile {

TWILL_BODY std::vector<NodeTotal> node_totals(const Trace& trace, GroupBy group_by) {
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

TWILL_BODY std::string time_text(double seconds) {
  char text[32];
  if (seconds < 0.99995e-3)
    std::snprintf(text, sizeof text, "%.1f us", 1e6 * seconds);
  else if (seconds < 0.99995)
    std::snprintf(text, sizeof text, "%.2f ms", 1e3 * seconds);
  else
    std::snprintf(text, sizeof text, "%.2f s", seconds);
  return text;
}

TWILL_BODY std::string rate_text(double amount, double seconds) {
  if (amount <= 0 || seconds <= 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", 1e-9 * amount / seconds);
  return text;
}

TWILL_BODY std::string share_text(double share) {
  if (share < 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f%%", 100 * share);
  return text;
}

TWILL_BODY std::string layer_text(const NodeTotal& total) {
  if (!total.is_gradient) return total.layer;
  return "gradient of " + total.layer;
}

} // namespace detail

TWILL_BODY Table node_table(const Trace& trace, const NodeTableOptions& options) {
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
