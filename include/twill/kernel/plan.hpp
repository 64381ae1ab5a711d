#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Loop plans of programs, made at compile time. A program with reductions runs one loop over the row for each stage; a
// value belongs to the first stage in which it can be known, is needed in some stages, and between two of them is
// either kept in a scratch row or computed again, whichever is cheaper. Column programs have a single stage. Read next:
// kernel/body.hpp.

#include <twill/core/config.hpp>
#include <twill/core/promotion.hpp>
#include <twill/kernel/primitive.hpp>
#include <twill/kernel/summary.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel {

/// The plan of one line.
struct LinePlan {
  int level = 0;    ///< varying: the first stage that can compute it; uniform: the stage before which it is known
  int home = -1;    ///< the first stage that needs it
  int cost = 0;     ///< of computing it from what is loaded, in additions
  int scratch = -1; ///< its scratch row, -1 for none
  std::uint32_t computed = 0; ///< bit s: stage s computes it
  std::uint32_t loaded = 0;   ///< bit s: stage s reads it from its scratch row
  bool reciprocal = false;    ///< a division by a value that one row shares: multiply by its reciprocal

  [[nodiscard]] constexpr bool in_stage(int stage) const { return ((computed >> stage) & 1U) != 0; }
  [[nodiscard]] constexpr bool from_scratch(int stage) const { return ((loaded >> stage) & 1U) != 0; }
  [[nodiscard]] constexpr bool kept_in(int stage) const { return scratch >= 0 && home == stage; }
};

/// The plan of a program as a whole.
struct PlanTotals {
  int stages = 1;
  int scratch_rows = 0;
  int element_bytes = 4; ///< a pack holds one register of elements of this size
  int operations = 0;    ///< for one element, in additions: decides whether threads are worth waking
};

/// The loops of a program.
template <int Count> struct Plan : PlanTotals {
  std::array<LinePlan, Count> lines{};

  [[nodiscard]] constexpr const LinePlan& operator[](int line) const { return lines[static_cast<std::size_t>(line)]; }
};

namespace detail {

inline constexpr int max_stages = 16;
inline constexpr int worth_keeping =
    8; ///< additions: more expensive values are kept in a scratch row rather than computed again

[[nodiscard]] constexpr int cost_of(Primitive primitive) {
  using enum Primitive;
  switch (primitive) {
  case sqrt:
  case divide:
  case reciprocal:
    return 4;
  case rsqrt:
    return 6;
  case exp:
    return 10;
  case tanh:
  case erf:
  case log:
  case expm1:
  case log1p:
  case sin:
  case cos:
    return 14;
  case tan:
  case asin:
  case acos:
  case atan:
  case sinh:
  case cosh:
  case power:
  case atan2:
  case remainder:
  case floor_divide:
  case random_uniform:
  case random_integer:
    return 30;
  default:
    return 1;
  }
}

[[nodiscard]] constexpr int cost_of(const Line& line) {
  if (line.uniform) return 0;
  if (line.kind == LineKind::step) return cost_of(line.primitive);
  if (line.kind == LineKind::cast) return 1;
  if (line.kind == LineKind::input && line.access == Access::strided) return 4;
  if (line.kind == LineKind::gather) return 4;
  if (line.kind == LineKind::input && is_short_float(line.type)) return 2;
  return 0;
}

/// The element size that decides how many lanes a pack has: float64 makes packs of doubles, any other float packs of
/// floats, and integers that only index or count among floats do not matter.
[[nodiscard]] constexpr int element_bytes(const Line* lines, int count) {
  bool has_double = false, has_float = false, has_long = false, has_int = false, has_short = false;
  for (int i = 0; i < count; ++i) {
    has_double |= lines[i].type == DType::float64;
    has_float |= is_floating(lines[i].type) && lines[i].type != DType::float64;
    has_long |= lines[i].type == DType::int64 || lines[i].type == DType::uint64;
    has_int |= lines[i].type == DType::int32 || lines[i].type == DType::uint32;
    has_short |= lines[i].type == DType::int16 || lines[i].type == DType::uint16;
  }
  return has_double ? 8 : has_float ? 4 : has_long ? 8 : has_int ? 4 : has_short ? 2 : 1;
}

/// Levels, costs and the number of stages. Returns the latter.
constexpr int assign_levels(const Line* lines, LinePlan* plan, int count) {
  int stages = 1;
  std::array<bool, 256> reduced{}; // derived from a reduction of the row
  for (int i = 0; i < count; ++i) {
    const Line& line = lines[i];
    plan[i].cost = cost_of(line);
    for (int a = 0; a < line.arity; ++a) {
      const int from = line.arguments[static_cast<std::size_t>(a)];
      if (plan[from].level > plan[i].level) plan[i].level = plan[from].level;
      if (!lines[from].uniform) plan[i].cost += plan[from].cost;
      reduced[static_cast<std::size_t>(i)] |= reduced[static_cast<std::size_t>(from)];
    }
    if (line.kind == LineKind::reduce) {
      plan[i].level += 1;
      plan[i].cost = 0;
      reduced[static_cast<std::size_t>(i)] = !line.in_order;
      if (plan[i].level > stages) stages = plan[i].level;
    } else if (line.kind == LineKind::output && !line.uniform && plan[i].level + 1 > stages) {
      stages = plan[i].level + 1;
    }
    plan[i].reciprocal = line.kind == LineKind::step && line.primitive == Primitive::divide && is_floating(line.type) &&
                         !line.uniform && lines[line.arguments[1]].uniform &&
                         reduced[static_cast<std::size_t>(line.arguments[1])];
  }
  return stages;
}

/// Marks the values that each stage computes; with `keep`, later stages read those with a scratch row from it.
constexpr void mark_needs(const Line* lines, LinePlan* plan, int count, int stages, KernelShape shape, bool keep) {
  for (int i = 0; i < count; ++i) plan[i].computed = plan[i].loaded = 0;
  for (int stage = stages - 1; stage >= 0; --stage) {
    const std::uint32_t bit = std::uint32_t{1} << stage;
    for (int i = count - 1; i >= 0; --i) {
      const Line& line = lines[i];
      LinePlan& own = plan[i];
      bool wanted = (own.computed & bit) != 0;
      // stores happen in the last stage, so that an output may share memory with an input; without reductions, a
      // uniform value is still stored all along the row
      if (line.kind == LineKind::output)
        wanted = !line.column && (!line.uniform || shape != KernelShape::row) && stage == stages - 1;
      if (line.kind == LineKind::reduce) wanted = own.level - 1 == stage;
      if (line.kind == LineKind::reduce_columns) wanted = true;
      if (line.uniform && line.kind != LineKind::reduce && line.kind != LineKind::output) wanted = false;
      if (!wanted) continue;
      if (keep && own.scratch >= 0 && stage > own.home) {
        own.loaded |= bit;
        own.computed &= ~bit;
        continue;
      }
      own.computed |= bit;
      for (int a = 0; a < line.arity; ++a) {
        const int from = line.arguments[static_cast<std::size_t>(a)];
        if (!lines[from].uniform && !lines[from].column) plan[from].computed |= bit;
      }
    }
  }
}

} // namespace detail

/// Plans the loops of a program's lines, each of which has a plan in `own`.
constexpr PlanTotals make_plan(const Line* lines, LinePlan* own, int count, KernelShape shape) {
  PlanTotals plan{};
  plan.element_bytes = detail::element_bytes(lines, count);
  plan.stages = detail::assign_levels(lines, own, count);
  detail::mark_needs(lines, own, count, plan.stages, shape, false);
  for (int i = 0; i < count; ++i) {
    const std::uint32_t stages = own[i].computed;
    if (stages == 0) continue;
    own[i].home = 0;
    while (((stages >> own[i].home) & 1U) == 0) ++own[i].home;
    const bool repeated = (stages & (stages - 1)) != 0;
    if (repeated && own[i].cost > detail::worth_keeping && lines[i].type != DType::boolean) own[i].scratch = 0;
  }
  detail::mark_needs(lines, own, count, plan.stages, shape, true);
  for (int i = 0; i < count; ++i) {
    if (own[i].loaded == 0)
      own[i].scratch = -1;
    else
      own[i].scratch = plan.scratch_rows++;
    if (own[i].computed != 0) plan.operations += detail::cost_of(lines[i]) + 1;
  }
  return plan;
}
template <int Count> [[nodiscard]] constexpr Plan<Count> make_plan(const Summary<Count>& summary) {
  Plan<Count> plan{};
  static_cast<PlanTotals&>(plan) = make_plan(summary.lines.data(), plan.lines.data(), Count, summary.shape);
  return plan;
}

/// The plan of a program.
template <class P> inline constexpr auto plan_of = make_plan(summary_of<P>);

}}} // namespace twill::v0::kernel
