#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Execution order of units: depth first by age. The update of a large parameter runs as soon as it can, because that
// frees its gradient; those of small ones wait for the end to share a launch. Read next: compile/passes/storage.hpp.

#include <twill/compile/passes/group.hpp>
#include <twill/core/config.hpp>

#include <cstddef>

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// For each unit the updates that wait for it, as linked lists.
struct UpdatesAfter {
  struct Link {
    int update = -1;
    int next = -1;
  };
  List<int> first{};
  List<Link> links{};

  constexpr explicit UpdatesAfter(std::size_t units) : first(units, -1) {}

  TWILL_CONSTEXPR void add(int on, int update) {
    int& head = first.items[on];
    links.push_back({update, head});
    head = static_cast<int>(links.size()) - 1;
  }
};

class Ordering {
public:
  constexpr Ordering(const Graph& graph, const Grouping& units)
      : units_{&units},
        waiting_(static_cast<std::size_t>(units.size()), 0),
        done_(static_cast<std::size_t>(units.size()), 0),
        updates_{static_cast<std::size_t>(units.size())},
        units_of_loop_(graph.loops.size(), List<int>{}),
        is_begun_(graph.loops.size(), 0) {
    find_updates();
    for (int id = 0; id < units.size(); ++id)
      for (int loop = units.alive(id) ? units.unit(id).loop : -1; loop >= 0; loop = units.loops().around(loop))
        units_of_loop_.items[loop].push_back(id);
    const int nodes = graph.size();
    for (int node = 0; node < nodes; ++node)
      if (const int start = units.unit_of(node); start >= 0 && !is_done(start) && !waits(start)) run(start);
    for (int node = 0; node < nodes; ++node)
      if (const int start = units.unit_of(node); start >= 0 && !is_done(start)) run(start);
  }

  [[nodiscard]] constexpr const List<int>& order() const { return order_; }

private:
  /// True for the update of parameters whose gradients are worth less memory than a launch.
  [[nodiscard]] TWILL_CONSTEXPR bool waits(int id) const {
    constexpr std::int64_t small = 4096;
    const Unit& unit = units_->unit(id);
    if (unit.assigned.empty() || unit.kind != UnitKind::elementwise || unit.loop >= 0) return false;
    const graph::Extent elements = unit.grid.elements();
    return elements.is_static() && elements.factor <= small;
  }

  TWILL_CONSTEXPR void find_updates() {
    for (int id = 0; id < units_->size(); ++id) {
      if (!units_->alive(id) || units_->unit(id).assigned.empty() || waits(id) || units_->unit(id).loop >= 0) continue;
      List<int> distinct{};
      for (int dependency : units_->unit(id).dependencies) {
        const int on = units_->find(dependency);
        bool known = on == id;
        for (int other : distinct) known = known || other == on;
        if (!known) distinct.push_back(on);
      }
      waiting_.items[id] = static_cast<int>(distinct.size());
      for (int on : distinct) updates_.add(on, id);
    }
  }

  /// Runs a unit after everything it depends on.
  TWILL_CONSTEXPR void run(int start) {
    List<int> stack{start};
    while (!stack.empty()) {
      const int current = stack.back();
      if (is_done(current)) {
        stack.pop_back();
        continue;
      }
      bool ready = true;
      if (const int loop = loop_to_begin(current); loop >= 0) {
        if (push_needs(loop, stack)) run_loop(loop);
        continue;
      }
      for (int dependency : units_->unit(current).dependencies) {
        const int on = units_->find(dependency);
        if (on == current || is_done(on)) continue;
        stack.push_back(on);
        ready = false;
      }
      if (!ready) continue;
      stack.pop_back();
      finish(current);
    }
  }

  /// The outermost loop around a unit that has not begun, -1 for none.
  [[nodiscard]] TWILL_CONSTEXPR int loop_to_begin(int unit) const {
    int found = -1;
    for (int loop = units_->unit(unit).loop; loop >= 0 && is_begun_.items[loop] == 0;
         loop = units_->loops().around(loop))
      found = loop;
    return found;
  }

  /// Pushes units outside the loop that its units need and that have not run; true when all have run.
  TWILL_CONSTEXPR bool push_needs(int loop, List<int>& stack) const {
    const std::size_t before = stack.size();
    for (int id : units_of_loop_.items[loop])
      for (int dependency : units_->unit(id).dependencies) {
        const int on = units_->find(dependency);
        if (!units_->loops().holds(loop, units_->unit(on).loop) && !is_done(on)) stack.push_back(on);
      }
    return stack.size() == before;
  }

  /// Runs the units of a loop one after another; units that they release wait for the end of the outermost one.
  TWILL_CONSTEXPR void run_loop(int loop) {
    is_begun_.items[loop] = 1;
    const bool was_inside = is_inside_;
    is_inside_ = true;
    for (int id : units_of_loop_.items[loop]) run(id);
    is_inside_ = was_inside;
    for (std::size_t k = 0; k < units_of_loop_.items[loop].size() && !is_inside_; ++k)
      release_updates(units_of_loop_.items[loop][k]);
  }

  TWILL_CONSTEXPR void finish(int unit) {
    done_.items[unit] = 1;
    order_.push_back(unit);
    if (!is_inside_) release_updates(unit);
  }

  TWILL_CONSTEXPR void release_updates(int unit) {
    for (int link = updates_.first.items[unit]; link >= 0;) {
      const UpdatesAfter::Link& entry = updates_.links.items[link];
      link = entry.next;
      if (--waiting_.items[entry.update] == 0 && !is_done(entry.update)) finish(entry.update);
    }
  }

  [[nodiscard]] constexpr bool is_done(int unit) const { return done_.items[unit] != 0; }

  const Grouping* units_;
  List<int> waiting_;
  List<char> done_;
  UpdatesAfter updates_;
  List<List<int>> units_of_loop_; ///< with those of loops inside
  List<char> is_begun_;
  bool is_inside_ = false; ///< of a loop
  List<int> order_{};
};

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The units in the order of execution.
[[nodiscard]] TWILL_CONSTEXPR List<int> execution_order(const Graph& graph, const Grouping& units) {
  return detail::Ordering{graph, units}.order();
}

}}}} // namespace twill::v0::compile::TWILL_ISA
