#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Divisions of a forward pass into parts that are computed again and stretches that are kept, from no part to the least
// memory. Cuts are placed where few bytes cross. For a bound on the inside of a part, and a price of a byte in work,
// dynamic programming over the cuts finds the best division (Chen et al., Training Deep Nets with Sublinear Memory
// Cost, 2016; Beaumont et al., Optimal checkpointing for heterogeneous chains, 2019). Bytes are estimates here, and
// only order the attempts on the real planner. Read next: compile/passes/fit.hpp.

#include <twill/compile/plan/memory_use.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/checkpoint.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// One way to compute parts of a forward pass again.
struct Division {
  graph::Parts parts{};
  std::int64_t bytes = 0; ///< of activations at the worst moment, by estimate
  std::int64_t work = 0;  ///< done again

  [[nodiscard]] friend constexpr bool operator==(const Division&, const Division&) = default;
};

inline constexpr int most_divisions = 16;

/// Divisions, each with less memory and more work than the one before; the first has no parts.
struct Divisions {
  graph::Few<Division, most_divisions> items{};
  int count = 0;
};

/// Places where a forward pass can be cut, and the values and work between them.
class Cuts {
public:
  constexpr Cuts(const Graph& graph, int root, const graph::SymbolValues& symbols)
      : graph_{&graph}, root_{root}, needed_(at(root + 1), 0), stored_(at(root + 1), 0), last_use_(at(root + 1), -1) {
    find_uses();
    measure(symbols);
    thin();
  }

  [[nodiscard]] constexpr int count() const { return static_cast<int>(cuts_.size()); }
  [[nodiscard]] constexpr int node(int cut) const { return cuts_.data()[cut].node; }
  /// The bytes of values from before a cut that are read after it.
  [[nodiscard]] constexpr std::int64_t crossing(int cut) const { return cuts_.data()[cut].crossing; }
  [[nodiscard]] TWILL_CONSTEXPR std::int64_t bytes(int from, int to) const {
    return cuts_.data()[to].bytes - cuts_.data()[from].bytes;
  }
  [[nodiscard]] TWILL_CONSTEXPR std::int64_t work(int from, int to) const {
    return cuts_.data()[to].work - cuts_.data()[from].work;
  }
  [[nodiscard]] TWILL_CONSTEXPR bool can_be_computed_again(int from, int to) const {
    return cuts_.data()[to].steps == cuts_.data()[from].steps && bytes(from, to) > 0;
  }

private:
  struct Cut {
    int node = 0;  ///< the first after it
    int steps = 0; ///< nodes of loops before it
    std::int64_t crossing = 0;
    std::int64_t bytes = 0; ///< of all stored values before it
    std::int64_t work = 0;
  };

  [[nodiscard]] static constexpr std::size_t at(int id) { return static_cast<std::size_t>(id); }

  TWILL_CONSTEXPR void find_uses() {
    needed_[at(root_)] = 1;
    last_use_[at(root_)] = root_;
    for (int id = root_; id >= 0; --id) {
      if (needed_[at(id)] == 0) continue;
      const Node& node = graph_->node(id);
      if (node.kind == Kind::operation || node.kind == Kind::result || node.kind == Kind::reduce) stored_[at(id)] = 1;
      for (int k = 0; k < node.arity; ++k) {
        const int input = node.input(k);
        const int source = view_root(graph_->nodes, input);
        needed_[at(input)] = 1;
        if (last_use_[at(source)] < id) last_use_[at(source)] = id;
        if (node.kind == Kind::operation) stored_[at(source)] = 1;
      }
    }
  }

  [[nodiscard]] TWILL_CONSTEXPR bool is_inside_something(int id) const {
    for (const graph::LoopInfo& loop : graph_->loops)
      if (id > loop.begin && id < loop.results_end) return true;
    for (const graph::RegionInfo& region : graph_->regions)
      if (id > region.begin && id < region.end) return true;
    return false;
  }

  /// The first of the nodes right before `id` that hold or only view something, or are weights of another type: rules
  /// of gradients see through them, so they belong to their reader.
  [[nodiscard]] TWILL_CONSTEXPR int before_views(int id) const {
    while (id > 0 && !is_inside_something(id - 1)) {
      const Node& node = graph_->node(id - 1);
      const bool is_weight = node.kind == Kind::cast && graph_->node(node.input(0)).kind == Kind::parameter;
      if (needed_[at(id - 1)] != 0 && node.arity > 0 && !is_weight && !is_view(node.kind)) break;
      --id;
    }
    return id;
  }

  TWILL_CONSTEXPR void measure(const graph::SymbolValues& symbols) {
    List<std::int64_t> ending(at(root_ + 1), 0); // bytes that are not read after a node
    std::int64_t live = 0;
    Cut now{};
    cuts_.push_back(now);
    for (int id = 0; id <= root_; ++id) {
      if (needed_[at(id)] == 0) continue;
      const Node& node = graph_->node(id);
      const std::int64_t own = node.arity == 0 || is_view(node.kind) ? 0 : bytes_of(node.dtype, node.shape, symbols);
      now.node = before_views(id);
      now.crossing = live;
      // Elementwise work goes with what comes before it, as it does in fused kernels.
      if ((node.kind == Kind::operation || node.kind == Kind::reduce) && !is_inside_something(id)) cuts_.push_back(now);
      live += own - ending[at(id)];
      if (own > 0 && last_use_[at(id)] > id)
        ending[at(last_use_[at(id)])] += own;
      else
        live -= own;
      if (stored_[at(id)] != 0) now.bytes += own;
      now.work += work_of(*graph_, node, symbols).total();
      if (node.kind == Kind::carry || node.kind == Kind::slice) ++now.steps;
    }
    now.node = root_ + 1;
    now.crossing = 0;
    cuts_.push_back(now);
  }

  /// Keeps the narrowest cut of each of `stretches` stretches of equal bytes.
  TWILL_CONSTEXPR void thin() {
    constexpr std::int64_t stretches = 40;
    const std::int64_t total = cuts_.back().bytes;
    if (cuts_.size() <= at(stretches) || total == 0) return;
    List<Cut> narrow{cuts_.front()};
    std::int64_t stretch = -1;
    for (std::size_t i = 1; i + 1 < cuts_.size(); ++i) {
      const Cut& cut = cuts_[i];
      const std::int64_t own = cut.bytes * stretches / (total + 1);
      if (own != stretch)
        narrow.push_back(cut);
      else if (cut.crossing <= narrow.back().crossing)
        narrow.back() = cut;
      stretch = own;
    }
    narrow.push_back(cuts_.back());
    cuts_.swap(narrow);
  }

  const Graph* graph_;
  int root_;
  List<char> needed_;
  List<char> stored_;
  List<int> last_use_;
  List<Cut> cuts_{};
};

}}}} // namespace twill::v0::compile::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// A part between two cuts.
struct Stretch {
  int from = 0;
  int to = 0;
};

/// The parts of the cheapest division with parts of at most these bytes, where a byte costs that much work.
[[nodiscard]] TWILL_CONSTEXPR List<Stretch> cheapest(const Cuts& cuts, std::int64_t largest_part, double price) {
  const int last = cuts.count() - 1;
  List<double> cost(static_cast<std::size_t>(cuts.count()), 0);
  List<int> from(cost.size(), -1); // where the part that ends here begins; -1: what is before the cut is kept
  for (int to = 1; to <= last; ++to) {
    double best = cost.data()[to - 1] + price * static_cast<double>(cuts.bytes(to - 1, to));
    for (int i = to; to < last && i-- > 0 && cuts.bytes(i, to) <= largest_part;) {
      if (!cuts.can_be_computed_again(i, to)) continue;
      const double again =
          cost.data()[i] + price * static_cast<double>(cuts.crossing(to)) + static_cast<double>(cuts.work(i, to));
      if (again >= best) continue;
      best = again;
      from.data()[to] = i;
    }
    cost.data()[to] = best;
  }
  List<Stretch> reversed{};
  for (int to = last; to > 0; to = from.data()[to] < 0 ? to - 1 : from.data()[to])
    if (from.data()[to] >= 0) reversed.push_back({from.data()[to], to});
  List<Stretch> parts{};
  for (std::size_t i = reversed.size(); i-- > 0;) parts.push_back(reversed[i]);
  return parts;
}

/// The division with the first `count` parts.
[[nodiscard]] TWILL_CONSTEXPR Division division_of(const Cuts& cuts, const List<Stretch>& parts, int count) {
  Division division{};
  std::int64_t kept = 0;
  int cut = 0;
  for (int i = 0; i < count; ++i) {
    const Stretch& part = parts.data()[i];
    kept += cuts.bytes(cut, part.from);
    const std::int64_t at_work = kept + cuts.bytes(part.from, part.to);
    if (at_work > division.bytes) division.bytes = at_work;
    kept += cuts.crossing(part.to);
    division.work += cuts.work(part.from, part.to);
    division.parts.items[static_cast<std::size_t>(i)] = {cuts.node(part.from), cuts.node(part.to)};
    cut = part.to;
  }
  division.parts.count = count;
  kept += cuts.bytes(cut, cuts.count() - 1);
  if (kept > division.bytes) division.bytes = kept;
  return division;
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Divisions of a traced forward pass whose result is `root`, from no part to the least memory.
[[nodiscard]] TWILL_CONSTEXPR Divisions divisions(const Graph& graph, int root, const graph::SymbolValues& symbols) {
  const Cuts cuts{graph, root, symbols};
  const int last = cuts.count() - 1;
  const std::int64_t bytes = cuts.bytes(0, last);
  const double price = bytes > 0 ? static_cast<double>(cuts.work(0, last)) / static_cast<double>(bytes) : 0;
  List<Division> sorted{}; // by work, then bytes
  const auto insert = [&](const Division& fresh) {
    sorted.push_back(fresh);
    for (std::size_t i = sorted.size() - 1; i > 0; --i) {
      const Division before = sorted[i - 1];
      if (before.work < fresh.work || (before.work == fresh.work && before.bytes <= fresh.bytes)) return;
      sorted[i] = before;
      sorted[i - 1] = fresh;
    }
  };
  insert(detail::division_of(cuts, {}, 0));
  for (const int share : {2, 3, 4, 6, 8, 12, 16, 24})
    for (const double factor : {0.3, 2.0, 100.0}) {
      const List<detail::Stretch> parts = detail::cheapest(cuts, bytes / share, price * factor);
      const int all = static_cast<int>(parts.size());
      if (all > graph::most_parts) continue;
      for (int k = 1; k <= 8; ++k) // the oldest activations live longest: they go first
        if (all * k / 8 > all * (k - 1) / 8) insert(detail::division_of(cuts, parts, all * k / 8));
    }
  List<Division> better{};
  for (const Division& division : sorted)
    if (better.empty() || division.bytes <= better.back().bytes - bytes / 128) better.push_back(division);
  Divisions found{};
  const int all = static_cast<int>(better.size());
  found.count = all < most_divisions ? all : most_divisions;
  for (int i = 0; i < found.count; ++i) {
    const int from = found.count < 2 ? 0 : (i * (all - 1) + (found.count - 1) / 2) / (found.count - 1);
    found.items[static_cast<std::size_t>(i)] = better[static_cast<std::size_t>(from)];
  }
  return found;
}

}}}} // namespace twill::v0::compile::TWILL_ISA
