#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Report on captured runs: whether a planned step runs as one captured graph of its device, and if not, why. Host
// devices have no graphs: they ignore the request and the report says so. Read next: compile/run/capture.hpp.

#include <twill/core/config.hpp>

#include <cstdint>
#include <string>

namespace twill { inline namespace v0 { namespace compile {

/// Whether steps may be captured.
enum class Capture : unsigned char {
  automatic, ///< from the second run with the same shapes and weights on
  never,
};

/// The runs of a program so far.
struct CaptureReport {
  std::int64_t plain_runs = 0; ///< launch by launch
  std::int64_t graph_runs = 0; ///< one captured graph
  std::int64_t captures = 0;   ///< graphs made
  std::string reason{};        ///< the reason why the last run was not a graph's; empty when it was

  /// Whether the last run was a graph's.
  [[nodiscard]] bool is_captured() const { return graph_runs > 0 && reason.empty(); }
};

}}} // namespace twill::v0::compile
