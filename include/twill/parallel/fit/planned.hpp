#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Programs that are traced and planned at run time, by the functions with which the compiler makes those that run: a
// question about a model costs milliseconds, whatever its options, and needs neither kernels nor a device.
// Not in twill.hpp. Read next: parallel/fit/replica.hpp.

#include <twill/compile/plan/memory_use.hpp>
#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/graph.hpp>
#include <twill/parallel/fit/options.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

/// Bytes of an arena: those of the values that are alive together at most, and all of it.
struct ArenaBytes {
  std::int64_t live = 0;  ///< at the instruction that needs most
  std::int64_t total = 0; ///< as the pool counts them
};

/// These sizes, with another number of rows.
[[nodiscard]] Sizes with_rows(const Sizes& sizes, std::string_view rows_name, std::int64_t rows);
/// The numbers of a trace's symbols; one for those that have no size.
[[nodiscard]] graph::SymbolValues symbols_of(const graph::Graph& graph, const Sizes& sizes);

/// A traced graph and its table. One thread uses it.
class PlannedProgram {
public:
  PlannedProgram() = default;
  /// throws: ValueError naming `what` for a graph that cannot be planned
  PlannedProgram(graph::Graph traced, std::string_view what);

  /// The table, like that of a compiled program.
  [[nodiscard]] compile::TableView view() const { return compile::view_of(lowered_); }
  /// The trace, before fusion.
  [[nodiscard]] const graph::Graph& graph() const { return graph_; }

  /// The numbers of its symbols. throws: ValueError naming a dimension without a size
  [[nodiscard]] graph::SymbolValues symbols(const Sizes& sizes) const;
  /// Its arena on the device of a slot, planned once for these numbers.
  [[nodiscard]] const ArenaBytes& arena(const graph::SymbolValues& symbols, int slot = 0) const;
  /// The most that its operations take of the pool of a GPU while they run; 0 for programs of hosts.
  [[nodiscard]] std::int64_t working_bytes(const graph::SymbolValues& symbols, int slot = 0) const {
    return compile::working_bytes(view(), symbols, slot);
  }
  /// Whether it reads an input.
  [[nodiscard]] bool reads_input(std::size_t input) const;

private:
  graph::Graph graph_{};
  compile::Lowered lowered_{};
  mutable std::map<std::pair<graph::SymbolValues, int>, ArenaBytes> arenas_{};
};

/// Plans the trace of a source now.
template <class S> [[nodiscard]] PlannedProgram planned(std::string_view what) { return {S::trace(), what}; }

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/fit/planned.ipp>
#endif
