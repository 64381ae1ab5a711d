#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/node_trace.hpp.

#include <twill/profile/node_trace.hpp>

namespace twill::inline v0::profile::detail {

TWILL_BODY NodeTraceText::NodeTraceText(const Trace& trace) : trace_{trace}, begin_s_{trace.start_s} {
  for (const RecordedRun& run : trace.runs) // the clocks of GPUs are compared with the host's once
    for (const NodeTime& time : run.times) begin_s_ = std::min(begin_s_, time.start_s);
}

TWILL_BODY std::string NodeTraceText::text() {
  for (const RecordedRun& run : trace_.runs)
    for (std::size_t slot = 0; slot < run.devices.size(); ++slot) add(run, static_cast<int>(slot));
  return events_.text();
}

TWILL_BODY void NodeTraceText::add(const RecordedRun& run, int slot) {
  std::vector<NodeTime> launches{};
  std::vector<NodeTime> copies{};
  for (const NodeTime& time : run.times)
    if (const NodeInfo& node = (*run.nodes)[time.node]; node.slot == slot)
      (node.kind == "move" ? copies : launches).push_back(time);
  if (launches.empty() && copies.empty()) return;
  Device& device = device_of(run.devices[static_cast<std::size_t>(slot)]);
  add_launches(run, device, launches);
  sort_stably(copies, begins_earlier);
  for (const NodeTime& time : copies)
    add_node((*run.nodes)[time.node], device, lane_of(device, device.copies, "copies", time.start_s, time.end_s), time);
}

TWILL_BODY void NodeTraceText::add_launches(const RecordedRun& run, Device& device, std::vector<NodeTime>& times) {
  if (times.empty()) return;
  sort_stably(times, begins_earlier);
  const double start = times.front().start_s;
  double end = start;
  for (const NodeTime& time : times) end = std::max(end, time.end_s);
  const std::size_t thread = lane_of(device, device.runs, "runs", start, end);
  if (!run.is_statement)
    complete(join_text({run.is_checked ? "checked " : "", run.is_update ? "step" : "run"}), "run", device, thread,
             start, end, join_text({"\"launches\": ", times.size()}));
  for (const NodeTime& time : times) add_node((*run.nodes)[time.node], device, thread, time);
}

TWILL_BODY void NodeTraceText::add_node(const NodeInfo& node, const Device& device, std::size_t thread,
                                        const NodeTime& time) {
  complete(node.operation, node.kind, device, thread, time.start_s, time.end_s, arguments_of(node, time, device));
}

TWILL_BODY bool NodeTraceText::begins_earlier(const NodeTime& left, const NodeTime& right) {
  return left.start_s < right.start_s;
}

TWILL_BODY NodeTraceText::Device& NodeTraceText::device_of(const std::string& name) {
  const auto [process, is_new] = number_of(processes_, name);
  if (is_new) {
    devices_.push_back({process, peaks_of(trace_, name)});
    events_.name_process(process, name);
  }
  return devices_[process];
}

TWILL_BODY std::size_t NodeTraceText::lane_of(const Device& device, std::vector<Lane>& lanes, std::string_view words,
                                              double start, double end) {
  std::size_t lane = 0;
  while (lane < lanes.size() && lanes[lane].end > start) ++lane;
  if (lane == lanes.size()) {
    const std::size_t thread = device.runs.size() + device.copies.size();
    lanes.push_back({thread, end});
    events_.name_thread(device.process, thread, join_text({words, " ", lane + 1}));
  }
  lanes[lane].end = end;
  return lanes[lane].thread;
}

TWILL_BODY void NodeTraceText::complete(const std::string& name, std::string_view category, const Device& device,
                                        std::size_t thread, double start, double end, const std::string& arguments) {
  events_.complete(name, category, device.process, thread, 1e6 * (start - begin_s_), 1e6 * (end - begin_s_), arguments);
}

TWILL_BODY std::string NodeTraceText::arguments_of(const NodeInfo& node, const NodeTime& time, const Device& device) {
  std::string text =
      join_text({"\"layer\": ", TraceEvents::quoted(node.layer),
                 ", \"gradient\": ", node.is_gradient ? "true" : "false", ", \"dtype\": \"", name(node.dtype),
                 "\", \"instructions\": ", node.instructions, ", \"bytes_read\": ", node.bytes_read,
                 ", \"bytes_written\": ", node.bytes_written, ", \"flops\": ", node.flops});
  const auto bytes = static_cast<double>(node.bytes_read + node.bytes_written);
  const LimitShare limit =
      limit_share(bytes, static_cast<double>(node.flops), node.dtype, time.end_s - time.start_s, device.peaks);
  if (limit.share >= 0)
    text += join_text({", \"share\": ", fixed(limit.share, 4), ", \"limit\": \"",
                       limit.is_arithmetic ? "arithmetic" : "bandwidth", "\""});
  return text;
}

} // namespace twill::inline v0::profile::detail

namespace twill::inline v0::profile {

TWILL_BODY void save_chrome_trace(const std::string& path, const Trace& trace) {
  detail::write_text(path, chrome_trace(trace), "trace");
}

} // namespace twill::inline v0::profile
