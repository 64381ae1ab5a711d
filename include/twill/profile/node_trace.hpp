#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The nodes of compiled programs in the Trace Event Format, which chrome://tracing and Perfetto open: a process for each
// device, an event for each run and in it one for each launch, with its layer, bytes, arithmetic and share of the limit that
// binds. Runs of one device that overlap stand in threads of their own. Read next: profile/trace.hpp.

#include <twill/core/text.hpp>
#include <twill/profile/gantt.hpp>
#include <twill/profile/trace.hpp>
#include <twill/profile/trace_events.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace twill::inline v0::profile::detail {

class NodeTraceText {
public:
  explicit NodeTraceText(const Trace& trace) : trace_{trace} {}

  [[nodiscard]] std::string text() {
    for (const RecordedRun& run : trace_.runs)
      for (std::size_t slot = 0; slot < run.devices.size(); ++slot) add(run, static_cast<int>(slot));
    return events_.text();
  }

private:
  struct Device {
    std::size_t process = 0;
    Peaks peaks{};
    std::vector<double> lane_ends{}; ///< of the last run in each thread
  };

  void add(const RecordedRun& run, int slot) {
    double start = 0;
    double end = 0;
    std::size_t launches = 0;
    for (const NodeTime& time : run.times) {
      if ((*run.nodes)[time.node].slot != slot) continue;
      start = launches == 0 ? time.start_s : std::min(start, time.start_s);
      end = std::max(end, time.end_s);
      ++launches;
    }
    if (launches == 0) return;
    Device& device = device_of(run.devices[static_cast<std::size_t>(slot)]);
    const std::size_t thread = lane_of(device, start, end);
    complete(run.is_update ? "step" : "run", "run", device, thread, start, end,
             join_text({"\"launches\": ", launches}));
    for (const NodeTime& time : run.times)
      if (const NodeInfo& node = (*run.nodes)[time.node]; node.slot == slot)
        complete(node.operation, node.kind, device, thread, time.start_s, time.end_s, arguments_of(node, time, device));
  }

  [[nodiscard]] Device& device_of(const std::string& name) {
    const auto [known, is_new] = devices_.try_emplace(name);
    if (is_new) {
      known->second.process = devices_.size() - 1;
      known->second.peaks = peaks_of(trace_, name);
      events_.name_process(known->second.process, name);
    }
    return known->second;
  }

  /// The first thread of a device in which no run overlaps this one.
  [[nodiscard]] std::size_t lane_of(Device& device, double start, double end) {
    std::size_t lane = 0;
    while (lane < device.lane_ends.size() && device.lane_ends[lane] > start) ++lane;
    if (lane == device.lane_ends.size()) {
      device.lane_ends.push_back(end);
      events_.name_thread(device.process, lane, join_text({"runs ", lane + 1}));
    }
    device.lane_ends[lane] = end;
    return lane;
  }

  /// Whole nanoseconds, so that launches end where the next begins and none leaves its run.
  void complete(const std::string& name, std::string_view category, const Device& device, std::size_t thread,
                double start, double end, const std::string& arguments) {
    const auto nanoseconds = [&](double seconds) { return std::round((seconds - trace_.start_s) * 1e9); };
    events_.complete(name, category, device.process, thread, nanoseconds(start) * 1e-3,
                     (nanoseconds(end) - nanoseconds(start)) * 1e-3, arguments);
  }

  [[nodiscard]] static std::string arguments_of(const NodeInfo& node, const NodeTime& time, const Device& device) {
    std::string text =
        join_text({"\"layer\": \"", TraceEvents::escaped(node.layer),
                   "\", \"gradient\": ", node.is_gradient ? "true" : "false", ", \"dtype\": \"", name(node.dtype),
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

  const Trace& trace_;
  std::map<std::string, Device> devices_{};
  TraceEvents events_{};
};

} // namespace twill::inline v0::profile::detail

namespace twill::inline v0::profile {

/// The trace in the Trace Event Format.
[[nodiscard]] inline std::string chrome_trace(const Trace& trace) { return detail::NodeTraceText{trace}.text(); }

/// Writes it to a file.    throws: SystemError
inline void save_chrome_trace(const std::string& path, const Trace& trace) {
  detail::write_text(path, chrome_trace(trace), "trace");
}

} // namespace twill::inline v0::profile
