#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Compile-time plan of a row program on a GPU: how many elements a thread loads at once, how many vectors it holds,
// which values stay in its registers from stage to stage, and which a later pass has to load and compute again. Levels
// and costs are those of the host's plan. Arithmetic is cheap here and registers are few, so only inputs are kept
// across passes over memory. Read next: kernel/gpu/rows_shape.hpp.

#include <twill/core/dtype.hpp>
#include <twill/kernel/plan.hpp>
#include <twill/kernel/summary.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// The facts about a row program that decide its launch.
struct RowTraits {
  int stages = 1;
  int vector = 4;          ///< elements of a vector: 16 bytes of the widest operand
  int vectors = 4;         ///< that a thread loads before it uses the first, and keeps
  int pass_vectors = 4;    ///< `vectors` where each stage is a pass of its own
  int most_threads = 1024; ///< of a block, so that nothing spills
  int pass_threads = 512;  ///< threads where each stage is a pass: two blocks on a processor at least
  int kept_bytes = 0;      ///< of one element of all inputs that several stages read: a row's bytes in shared memory
  int reductions = 0;      ///< of the stage that has the most
  bool revisits = false;   ///< some stage needs values that an earlier one has loaded
  friend constexpr bool operator==(const RowTraits&, const RowTraits&) = default;
};

/// The work of one line in the stages. Bit s is for stage s.
struct RowLine {
  std::uint32_t once = 0;  ///< computed or loaded there, where registers keep values across stages
  std::uint32_t again = 0; ///< `once` where each stage is a pass of its own
  bool kept = false;       ///< has registers of its own: loaded, or worth keeping
  int shared_offset = -1;  ///< bytes of kept inputs before it, for each element; -1: shared memory does not hold it
};

/// The passes of a program over its rows.
template <int Count> struct RowPlan {
  std::array<RowLine, static_cast<std::size_t>(Count)> lines{};
  RowTraits traits{};
};

namespace detail {

inline constexpr int row_elements = 16; ///< of a thread at once: four loads of 16 bytes of float32

/// Chooses `vector` and `vectors`: 16 bytes of the widest operand that moves along the row, and no more than four of a
/// one-byte type, which compilers have miscompiled.
constexpr void choose_vectors(const Line* lines, const RowLine* rows, int count, RowTraits& traits) {
  int widest = 0, narrowest = 8, registers = 0;
  bool draws = false;
  for (int i = 0; i < count; ++i) {
    const Line& line = lines[i];
    if (line.uniform) continue;
    draws = draws || (line.kind == LineKind::step && line.primitive == Primitive::random_uniform);
    if (rows[i].kept) registers += computed_bytes(line.type) <= 4 ? 1 : 2;
    if (line.kind != LineKind::input && line.kind != LineKind::gather && line.kind != LineKind::output) continue;
    const int bytes = static_cast<int>(size_of(line.type));
    widest = bytes > widest ? bytes : widest;
    narrowest = bytes < narrowest ? bytes : narrowest;
  }
  traits.vector = widest == 0 ? 4 : 16 / widest;
  if (traits.vector > 4 && narrowest == 1) traits.vector = 4;
  // kept values take registers; about thirty more go into addresses, sums and values in progress
  const int elements = registers > 10 ? row_elements / 4 : registers > 5 ? row_elements / 2 : row_elements;
  traits.vectors = elements / traits.vector > 0 ? elements / traits.vector : 1;
  const int kept = registers * traits.vectors * traits.vector;
  traits.pass_vectors = traits.stages == 1 || traits.vectors == 1 ? traits.vectors : traits.vectors / 2;
  traits.pass_threads = kept <= 88 ? 512 : 256;
  traits.most_threads = kept <= 32 && !draws ? 1024 : kept <= 88 ? 512 : 256;
}

} // namespace detail

/// Plans the passes of a program.
template <int Count> [[nodiscard]] constexpr RowPlan<Count> make_row_plan(const Summary<Count>& summary) {
  const Plan<Count> keeping = make_plan(summary);
  Plan<Count> passing = keeping;
  kernel::detail::mark_needs(summary.lines.data(), passing.lines.data(), Count, keeping.stages, summary.shape, false);
  RowPlan<Count> plan{};
  RowTraits& traits = plan.traits;
  traits.stages = keeping.stages;
  std::array<int, 32> reductions{};
  for (int i = 0; i < Count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Line& line = summary.lines[at];
    RowLine& own = plan.lines[at];
    own.once = keeping[i].computed;
    own.again = passing[i].computed;
    if (line.uniform && line.kind != LineKind::reduce) continue;
    if (line.kind == LineKind::reduce) {
      int& number = reductions[static_cast<std::size_t>(keeping[i].level)];
      if (++number > traits.reductions) traits.reductions = number;
      continue;
    }
    const bool is_read = line.kind == LineKind::input || line.kind == LineKind::gather;
    own.kept = is_read || keeping[i].scratch >= 0;
    const bool is_repeated = (own.again & (own.again - 1)) != 0;
    if (is_read) {
      own.once &= ~own.once + 1; // loaded by the first stage that needs it
      traits.revisits = traits.revisits || is_repeated;
    }
    if (line.kind == LineKind::input && is_repeated) {
      own.shared_offset = traits.kept_bytes;
      traits.kept_bytes += static_cast<int>(size_of(line.type));
    }
  }
  detail::choose_vectors(summary.lines.data(), plan.lines.data(), Count, traits);
  return plan;
}

/// The plan of a program.
template <class P> inline constexpr auto row_plan_of = make_row_plan(summary_of<P>);

/// How stages share values: a thread holds its part of the row in registers, or each stage is a pass of its own.
enum class RowMode : std::uint8_t { once, again };

namespace detail {

template <int Count> struct ChosenNumbers {
  int size = 0;
  int number[static_cast<std::size_t>(Count)]{};
};
template <class P, class Predicate> [[nodiscard]] consteval auto choose_lines() {
  constexpr int count = static_cast<int>(summary_of<P>.lines.size());
  ChosenNumbers<count> chosen{};
  for (int i = 0; i < count; ++i)
    if (Predicate::holds(summary_of<P>.lines[static_cast<std::size_t>(i)], plan_of<P>[i],
                         row_plan_of<P>.lines[static_cast<std::size_t>(i)]))
      chosen.number[chosen.size++] = i;
  return chosen;
}

} // namespace detail

/// Lines selected by a predicate, as a sequence.
template <class P, class Predicate> struct ChosenLines {
  static constexpr auto numbers = detail::choose_lines<P, Predicate>();
  template <int... K>
  static auto sequence(std::integer_sequence<int, K...>) -> std::integer_sequence<int, numbers.number[K]...>;
  using type = decltype(sequence(std::make_integer_sequence<int, numbers.size>{}));
};

/// Inputs that a stage loads before it computes.
template <RowMode M, int Stage> struct IsLoaded {
  static constexpr bool holds(const Line& line, const LinePlan&, const RowLine& row) {
    const std::uint32_t stages = M == RowMode::once ? row.once : row.again;
    return line.kind == LineKind::input && !line.uniform && ((stages >> Stage) & 1U) != 0;
  }
};
/// Lines that vary along the row and are computed, gathered or stored by a stage.
template <RowMode M, int Stage> struct IsComputed {
  static constexpr bool holds(const Line& line, const LinePlan&, const RowLine& row) {
    const std::uint32_t stages = M == RowMode::once ? row.once : row.again;
    return line.kind != LineKind::input && (!line.uniform || line.kind == LineKind::reduce) &&
           ((stages >> Stage) & 1U) != 0;
  }
};
template <int Stage> struct IsReduced {
  static constexpr bool holds(const Line& line, const LinePlan& plan, const RowLine&) {
    return line.kind == LineKind::reduce && plan.level == Stage + 1;
  }
};
/// Lines that the row shares and that are known before a stage, except reductions.
template <int Level> struct IsKnown {
  static constexpr bool holds(const Line& line, const LinePlan& plan, const RowLine&) {
    return line.uniform && plan.level == Level && line.kind != LineKind::reduce && line.kind != LineKind::output;
  }
};
/// Lines with registers for a whole tile.
struct IsKept {
  static constexpr bool holds(const Line&, const LinePlan&, const RowLine& row) { return row.kept; }
};
/// Lines that vary along the row and are computed where they are needed.
struct IsPassing {
  static constexpr bool holds(const Line& line, const LinePlan&, const RowLine& row) {
    return !line.uniform && !row.kept && line.kind != LineKind::output;
  }
};
struct IsUniform {
  static constexpr bool holds(const Line& line, const LinePlan&, const RowLine&) {
    return line.uniform && line.kind != LineKind::output;
  }
};
struct IsUniformOutput {
  static constexpr bool holds(const Line& line, const LinePlan&, const RowLine&) {
    return line.uniform && line.kind == LineKind::output;
  }
};
/// Divisions of a stage by a value that the row shares.
template <RowMode M, int Stage> struct IsScaled {
  static constexpr bool holds(const Line& line, const LinePlan& plan, const RowLine& row) {
    return plan.reciprocal && IsComputed<M, Stage>::holds(line, plan, row);
  }
};

/// The lines of a program that a predicate selects.
template <class P, class Predicate> using lines_t = typename ChosenLines<P, Predicate>::type;

}}}} // namespace twill::v0::kernel::gpu
