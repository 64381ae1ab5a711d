#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Where the time of a trace went: the most expensive nodes, with the launches of a node in all runs together, as PyTorch's
// profiler shows them (`key_averages().table()`), beside bytes and arithmetic a second and the share of the limit that binds.
// Read next: profile/trace.hpp.

#include <twill/core/bytes.hpp>
#include <twill/core/config.hpp>
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
[[nodiscard]] std::vector<NodeTotal> node_totals(const Trace& trace, GroupBy group_by = GroupBy::node);

namespace detail {
[[nodiscard]] std::string time_text(double seconds);
/// In billions a second.
[[nodiscard]] std::string rate_text(double amount, double seconds);
[[nodiscard]] std::string share_text(double share);
[[nodiscard]] std::string layer_text(const NodeTotal& total);
} // namespace detail

/// The most expensive nodes: launches, time, share of all nodes' time, mean, billions of bytes and of operations a second, and
/// the share of the limit that binds where the trace knows the device's. The last row is all of the trace.
[[nodiscard]] Table node_table(const Trace& trace, const NodeTableOptions& options = {});

} // namespace twill::inline v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/node_table.ipp>
#endif
