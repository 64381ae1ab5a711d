#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Topological order of units that is kept while units merge: the dependencies of a unit come before it. Two units may
// become one when no third has to run between them; the search for such a third looks only at the units between the
// two, and gives up (no merge) after a bounded number of them, so fusing stays linear in the size of the graph. Read
// next: compile/passes/group.hpp.

#include <twill/core/config.hpp>
#include <twill/core/list.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// A list of units, linked both ways, with labels that grow along it.
class UnitOrder {
public:
  /// Appends the next unit, number `size()`.
  TWILL_CONSTEXPR void append() {
    const int unit = static_cast<int>(label_.size());
    label_.push_back(last_ < 0 ? 0 : label_.items[last_] + gap);
    previous_.push_back(last_);
    next_.push_back(-1);
    mark_.push_back(0);
    if (last_ >= 0) next_.items[last_] = unit;
    last_ = unit;
  }

  [[nodiscard]] constexpr bool is_before(int a, int b) const { return label_.items[a] < label_.items[b]; }

  /// True when `lower` and the later `upper` can become one unit at the place of `lower`. Units after `lower` that have
  /// to run before `upper` are moved before it. `dependencies(unit, visit)` calls `visit(other)` for each dependency.
  template <class Dependencies> constexpr bool join(int lower, int upper, const Dependencies& dependencies) {
    ++stamp_;
    List<int> between{};
    bool possible = true;
    const auto visit = [&](int on) {
      if (on == upper || !possible || label_.items[on] < label_.items[lower] || mark_.items[on] == stamp_) return;
      if (on == lower || between.size() == search_limit) {
        possible = false;
        return;
      }
      mark_.items[on] = stamp_;
      between.push_back(on);
    };
    // Values that `upper` reads from `lower` itself are no obstacle: they are why the two are joined.
    dependencies(upper, [&](int on) {
      if (on != lower) visit(on);
    });
    for (std::size_t i = 0; i < between.size() && possible; ++i) dependencies(between[i], visit);
    if (!possible) return false;
    move_before(lower, between);
    return true;
  }

  /// Takes out a unit that has become part of another.
  TWILL_CONSTEXPR void remove(int unit) {
    const int before = previous_.items[unit];
    const int after = next_.items[unit];
    if (before >= 0) next_.items[before] = after;
    (after >= 0 ? previous_.items[after] : last_) = before;
  }

  /// Gives `unit` the earlier of its own place and that of `other`, which leaves the order.
  TWILL_CONSTEXPR void take_place(int unit, int other) {
    if (is_before(other, unit)) {
      remove(unit);
      insert_before(other, unit);
      label_.items[unit] = label_.items[other];
    }
    remove(other);
  }

private:
  static constexpr std::size_t search_limit = 64;
  static constexpr std::int64_t gap = std::int64_t{1} << 32;

  TWILL_CONSTEXPR void insert_before(int place, int unit) {
    const int before = previous_.items[place];
    previous_.items[unit] = before;
    next_.items[unit] = place;
    previous_.items[place] = unit;
    if (before >= 0) next_.items[before] = unit;
  }

  /// Moves units before `place`, in their present order.
  TWILL_CONSTEXPR void move_before(int place, List<int>& units) {
    for (std::size_t i = 1; i < units.size(); ++i)
      for (std::size_t k = i; k > 0 && is_before(units[k], units[k - 1]); --k) {
        const int later = units[k - 1];
        units[k - 1] = units[k];
        units[k] = later;
      }
    for (int unit : units) {
      remove(unit);
      insert_before(place, unit);
      const int before = previous_.items[unit];
      const std::int64_t low = before < 0 ? label_.items[place] - 2 * gap : label_.items[before];
      label_.items[unit] = low + (label_.items[place] - low) / 2;
      if (label_.items[unit] == low) relabel();
    }
  }

  TWILL_CONSTEXPR void relabel() {
    std::int64_t label = 0;
    for (int unit = last_; unit >= 0; unit = previous_.items[unit]) label_.items[unit] = label -= gap;
  }

  List<std::int64_t> label_{};
  List<int> previous_{};
  List<int> next_{};
  List<int> mark_{};
  int stamp_ = 0;
  int last_ = -1;
};

}}}} // namespace twill::v0::compile::TWILL_ISA
