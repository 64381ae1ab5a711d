#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The nodes of compiled programs in the Trace Event Format, which chrome://tracing and Perfetto open: a process for each
// device, an event for each run and in it one for each launch, with its layer, bytes, arithmetic and share of the limit that
// binds. Runs of one device that overlap stand in threads of their own, and so do copies between the slots of a program,
// which go beside the work of both. In each thread events begin one after the other. Read next: profile/trace.hpp.

#include <twill/core/config.hpp>
#include <twill/core/stable_order.hpp>
#include <twill/core/text.hpp>
#include <twill/profile/detail/numbers.hpp>
#include <twill/profile/gantt.hpp>
#include <twill/profile/trace.hpp>
#include <twill/profile/trace_events.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace twill::inline v0::profile::detail {

class NodeTraceText {
public:
  explicit NodeTraceText(const Trace& trace);

  [[nodiscard]] std::string text();

private:
  /// A thread in which nothing overlaps.
  struct Lane {
    std::size_t thread = 0;
    double end = 0; ///< of what stands in it last
  };
  struct Device {
    std::size_t process = 0;
    Peaks peaks{};
    std::vector<Lane> runs{};
    std::vector<Lane> copies{};
  };

  void add(const RecordedRun& run, int slot);

  void add_launches(const RecordedRun& run, Device& device, std::vector<NodeTime>& times);

  void add_node(const NodeInfo& node, const Device& device, std::size_t thread, const NodeTime& time);

  [[nodiscard]] static bool begins_earlier(const NodeTime& left, const NodeTime& right);

  [[nodiscard]] Device& device_of(const std::string& name);

  /// The first of some threads of a device in which nothing overlaps what begins and ends here.
  [[nodiscard]] std::size_t lane_of(const Device& device, std::vector<Lane>& lanes, std::string_view words,
                                    double start, double end);

  void complete(const std::string& name, std::string_view category, const Device& device, std::size_t thread,
                double start, double end, const std::string& arguments);

  [[nodiscard]] static std::string arguments_of(const NodeInfo& node, const NodeTime& time, const Device& device);

  const Trace& trace_;
  double begin_s_; ///< where the document's time is 0
  TextNumbers processes_{};
  std::vector<Device> devices_{}; ///< by process
  TraceEvents events_{};
};

} // namespace twill::inline v0::profile::detail

namespace twill::inline v0::profile {

/// The trace in the Trace Event Format.
[[nodiscard]] inline std::string chrome_trace(const Trace& trace) { return detail::NodeTraceText{trace}.text(); }

/// Writes it to a file.    throws: SystemError
void save_chrome_trace(const std::string& path, const Trace& trace);

} // namespace twill::inline v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/node_trace.ipp>
#endif
