#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The order in which units run: depth first by age, and what only updates parameters as soon as it can, because that frees
// its gradient. Read next: compile/lower.hpp.

#include <twill/compile/group.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace twill::inline v0::compile {

namespace detail {

/// For each unit the updates that wait for it, as linked lists.
struct UpdatesAfter {
  struct Link {
    int update = -1;
    int next = -1;
  };
  std::vector<int> first{};
  std::vector<Link> links{};

  constexpr void add(int on, int update) {
    int& head = first[static_cast<std::size_t>(on)];
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
        updates_{std::vector<int>(static_cast<std::size_t>(units.size()), -1), {}} {
    find_updates();
    for (int node = 0; node < graph.size(); ++node)
      if (const int start = units.unit_of(node); start >= 0) run(start);
  }

  [[nodiscard]] constexpr const std::vector<int>& order() const { return order_; }

private:
  constexpr void find_updates() {
    for (int id = 0; id < units_->size(); ++id) {
      if (!units_->alive(id) || !units_->unit(id).assigns) continue;
      std::vector<int> distinct{};
      for (int dependency : units_->unit(id).dependencies) {
        const int on = units_->find(dependency);
        if (std::find(distinct.begin(), distinct.end(), on) == distinct.end()) distinct.push_back(on);
      }
      waiting_[static_cast<std::size_t>(id)] = static_cast<int>(distinct.size());
      for (int on : distinct) updates_.add(on, id);
    }
  }

  /// Runs a unit after everything it depends on.
  constexpr void run(int start) {
    std::vector<int> stack{start};
    while (!stack.empty()) {
      const int current = stack.back();
      if (is_done(current)) {
        stack.pop_back();
        continue;
      }
      bool ready = true;
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

  constexpr void finish(int unit) {
    done_[static_cast<std::size_t>(unit)] = 1;
    order_.push_back(unit);
    for (int link = updates_.first[static_cast<std::size_t>(unit)]; link >= 0;) {
      const UpdatesAfter::Link& entry = updates_.links[static_cast<std::size_t>(link)];
      link = entry.next;
      if (--waiting_[static_cast<std::size_t>(entry.update)] == 0 && !is_done(entry.update)) finish(entry.update);
    }
  }

  [[nodiscard]] constexpr bool is_done(int unit) const { return done_[static_cast<std::size_t>(unit)] != 0; }

  const Grouping* units_;
  std::vector<int> waiting_;
  std::vector<char> done_;
  UpdatesAfter updates_;
  std::vector<int> order_{};
};

} // namespace detail

/// The units in the order of execution.
[[nodiscard]] constexpr std::vector<int> execution_order(const Graph& graph, const Grouping& units) {
  return detail::Ordering{graph, units}.order();
}

} // namespace twill::inline v0::compile
