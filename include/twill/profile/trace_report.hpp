#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Reports of traces: a table of the most expensive nodes, as PyTorch's profiler shows them (`key_averages().table()`),
// with bytes and arithmetic a second and the share of the limit that binds, and a document for chrome://tracing and
// Perfetto. The document has a process for each device, an event for each run and in it one for each launch. Runs of
// one device that overlap have threads of their own, and so do copies between the slots of a program, which go beside
// the work of both. Read next: profile/trace.hpp, profile/trace_events.hpp.

#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/core/text.hpp>
#include <twill/profile/format.hpp>
#include <twill/profile/trace.hpp>
#include <twill/profile/trace_events.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace profile {

/// Which launches stand in one row: those of a node, an operation of a layer, or those of all nodes with the same
/// operation.
enum class GroupBy : bool { node, operation };

/// How much of a trace a table shows, and by what it adds up.
struct NodeTableOptions {
  std::size_t rows = 10;            ///< the most; the rest counts in the last row, which is all of the trace
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
[[nodiscard]] std::vector<NodeTotal> node_totals(const Trace& trace, GroupBy group_by = GroupBy::node);

/// The most expensive nodes: launches, time, share of all nodes' time, mean, billions of bytes and of operations a
/// second, and the share of the limit that binds where the trace knows the device's. The last row is all of the trace.
[[nodiscard]] Table node_table(const Trace& trace, const NodeTableOptions& options = {});

/// The trace in the Trace Event Format.
[[nodiscard]] std::string chrome_trace(const Trace& trace);

/// Writes the trace in the Trace Event Format to a file.    throws: SystemError
inline void save_chrome_trace(const std::string& path, const Trace& trace) {
  save_text("trace", path, chrome_trace(trace));
}

}}} // namespace twill::v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/trace_report.ipp>
#endif
