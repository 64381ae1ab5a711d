#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/trace_report.hpp.

#include <twill/profile/trace_report.hpp>

namespace twill { inline namespace v0 { namespace profile {
namespace detail {

/// Billions a second.
TWILL_BODY std::string billions_per_second(double amount, double seconds) {
  return amount <= 0 || seconds <= 0 ? "-" : fixed(1e-9 * amount / seconds, 1);
}

/// Writes the runs of a trace as events.
class NodeTrace {
public:
  explicit NodeTrace(const Trace& trace) : trace_{trace}, begin_s_{trace.start_s} {
    for (const RecordedRun& run : trace.runs) // the clocks of GPUs are compared with the host's once
      for (const NodeTime& time : run.times) begin_s_ = std::min(begin_s_, time.start_s);
  }

  [[nodiscard]] std::string text() {
    for (const RecordedRun& run : trace_.runs)
      for (std::size_t slot = 0; slot < run.devices.size(); ++slot) add(run, slot);
    return events_.text();
  }

private:
  void add(const RecordedRun& run, std::size_t slot) {
    std::vector<NodeTime> launches{};
    std::vector<NodeTime> copies{};
    for (const NodeTime& time : run.times)
      if (const NodeInfo& node = (*run.nodes)[time.node]; node.slot == static_cast<int>(slot))
        (node.kind == "move" ? copies : launches).push_back(time);
    if (launches.empty() && copies.empty()) return;
    const auto begins_earlier = [](const NodeTime& left, const NodeTime& right) {
      return left.start_s < right.start_s;
    };
    sort_stably(launches, begins_earlier);
    sort_stably(copies, begins_earlier);
    const std::size_t process = process_of(run.devices[slot]);
    if (!launches.empty()) add_launches(run, process, launches);
    for (const NodeTime& time : copies)
      add_node((*run.nodes)[time.node], process,
               events_.free_thread(process, "copies", us(time.start_s), us(time.end_s)), time);
  }

  void add_launches(const RecordedRun& run, std::size_t process, const std::vector<NodeTime>& times) {
    const double start = times.front().start_s;
    double end = start;
    for (const NodeTime& time : times) end = std::max(end, time.end_s);
    const std::size_t thread = events_.free_thread(process, "runs", us(start), us(end));
    if (!run.is_statement)
      events_.complete(join_text({run.is_checked ? "checked " : "", run.is_update ? "step" : "run"}), "run", process,
                       thread, us(start), us(end), join_text({"\"launches\": ", times.size()}));
    for (const NodeTime& time : times) add_node((*run.nodes)[time.node], process, thread, time);
  }

  void add_node(const NodeInfo& node, std::size_t process, std::size_t thread, const NodeTime& time) {
    std::string arguments =
        join_text({"\"layer\": ", TraceEvents::quoted(node.layer),
                   ", \"gradient\": ", node.is_gradient ? "true" : "false", ", \"dtype\": \"", name(node.dtype),
                   "\", \"instructions\": ", node.instructions, ", \"bytes_read\": ", node.bytes_read,
                   ", \"bytes_written\": ", node.bytes_written, ", \"flops\": ", node.flops});
    const auto bytes = static_cast<double>(node.bytes_read + node.bytes_written);
    const LimitShare limit = limit_share(bytes, static_cast<double>(node.flops), node.dtype, time.end_s - time.start_s,
                                         peaks_of(trace_, devices_[process]));
    if (limit.share >= 0)
      arguments += join_text({", \"share\": ", fixed(limit.share, 4), ", \"limit\": \"",
                              limit.is_arithmetic ? "arithmetic" : "bandwidth", "\""});
    events_.complete(node.operation, node.kind, process, thread, us(time.start_s), us(time.end_s), arguments);
  }

  [[nodiscard]] std::size_t process_of(const std::string& device) {
    const auto found = std::find(devices_.begin(), devices_.end(), device);
    const auto process = static_cast<std::size_t>(found - devices_.begin());
    if (found == devices_.end()) {
      devices_.push_back(device);
      events_.name_process(process, device);
    }
    return process;
  }

  [[nodiscard]] double us(double seconds) const { return 1e6 * (seconds - begin_s_); }

  const Trace& trace_;
  double begin_s_;                     ///< where the document's time is 0
  std::vector<std::string> devices_{}; ///< by process
  TraceEvents events_{};
};

} // namespace detail

TWILL_BODY std::vector<NodeTotal> node_totals(const Trace& trace, GroupBy group_by) {
  std::map<std::string, std::size_t> rows{};
  std::vector<NodeTotal> totals{};
  for (const RecordedRun& run : trace.runs)
    for (const NodeTime& time : run.times) {
      const NodeInfo& node = (*run.nodes)[time.node];
      const std::string& device = run.devices[static_cast<std::size_t>(node.slot)];
      const bool is_alone = group_by == GroupBy::node;
      const std::string layer = is_alone ? node.layer : std::string{};
      const bool is_gradient = is_alone && node.is_gradient;
      constexpr std::string_view end{"\0", 1}; // of a field, in none of them
      const std::string key = join_text(
          {device, end, node.operation, end, layer, end, is_gradient ? "gradient of " : "", name(node.dtype)});
      const auto [row, is_new] = rows.try_emplace(key, totals.size());
      if (is_new) totals.push_back({node.operation, layer, is_gradient, device, node.dtype});
      NodeTotal& total = totals[row->second];
      ++total.launches;
      total.seconds += time.end_s - time.start_s;
      total.bytes += static_cast<double>(node.bytes_read + node.bytes_written);
      total.flops += static_cast<double>(node.flops);
    }
  sort_stably(totals, [](const NodeTotal& left, const NodeTotal& right) { return left.seconds > right.seconds; });
  return totals;
}

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
  all.operation = "all";
  for (const NodeTotal& total : totals) {
    all.launches += total.launches;
    all.seconds += total.seconds;
    all.bytes += total.bytes;
    all.flops += total.flops;
  }
  const auto add = [&](const NodeTotal& total, const LimitShare& limit) {
    const double mean = total.launches > 0 ? total.seconds / static_cast<double>(total.launches) : 0;
    table.row({total.operation, (total.is_gradient ? "gradient of " : "") + total.layer, total.device,
               std::to_string(total.launches), duration(total.seconds), percent(total.seconds / all.seconds, 1),
               duration(mean), detail::billions_per_second(total.bytes, total.seconds),
               detail::billions_per_second(total.flops, total.seconds), percent(limit.share, 1),
               limit.share < 0       ? ""
               : limit.is_arithmetic ? "arithmetic"
                                     : "bandwidth"});
  };
  for (std::size_t i = 0; i < std::min(options.rows, totals.size()); ++i)
    add(totals[i], limit_share(totals[i].bytes, totals[i].flops, totals[i].dtype, totals[i].seconds,
                               peaks_of(trace, totals[i].device)));
  table.rule();
  add(all, {-1, false});
  return table;
}

TWILL_BODY std::string chrome_trace(const Trace& trace) { return detail::NodeTrace{trace}.text(); }

}}} // namespace twill::v0::profile
