#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Launches of a segment, and the execution of one on a host device. Instructions that share a launch are one pass of
// the team: each thread takes an equal share of all their elements; elementwise results do not depend on where a range
// is cut. Between the steps of a loop the operands of its launches move to the next slice of a stacked tensor or the
// next positions of random draws, and back at the end; loops inside run as a whole in each step. Read next:
// compile/run/executor.hpp.

#include <twill/compile/plan/binding.hpp>
#include <twill/compile/program_type.hpp>
#include <twill/compile/report/node_info.hpp>
#include <twill/core/config.hpp>
#include <twill/core/range.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/team.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

#if defined(TWILL_WITH_NVTX) && TWILL_WITH_NVTX
inline constexpr bool names_launches = true;

/// The range of a launch.
class LaunchRange {
public:
  LaunchRange(const Binding& binding, const BoundInstruction* launch) : range_{name_of(binding, launch).c_str()} {}

private:
  [[nodiscard]] static std::string name_of(const Binding& binding, const BoundInstruction* launch) {
    if (binding.nodes == nullptr) return "launch";
    const NodeInfo& node = (*binding.nodes)[static_cast<std::size_t>(launch - binding.instructions.data())];
    return join_text({node.layer, node.is_gradient ? " (gradient): " : node.layer.empty() ? "" : ": ", node.operation});
  }
  ProfilerRange range_;
};

/// The range of a run.
class RunRange {
public:
  RunRange(const TableView& table, Binding& binding) : range_{updates_weights(table) ? "step" : "run"} {
    describe(table, binding);
  }

private:
  ProfilerRange range_;
};

#else
inline constexpr bool names_launches = false;

struct LaunchRange {
  constexpr LaunchRange(const Binding&, const BoundInstruction*) {}
};
struct RunRange {
  constexpr RunRange(const TableView&, Binding&) {}
};

#endif

}}}} // namespace twill::v0::compile::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// Moves the operands of a loop by some steps.
void move_operands(Binding& binding, const BoundLoop& loop, std::int64_t steps);

/// Calls `run` for all steps of a loop, by its number.
template <class Run> void run_steps(Binding& binding, std::size_t number, const Run& run) {
  const BoundLoop& loop = binding.loops.data()[number];
  const BoundInstruction* const instructions = binding.instructions.data();
  for (std::int64_t step = 0; step < loop.count; ++step) {
    if (step > 0) move_operands(binding, loop, 1);
    std::size_t inner = number + 1; // the next loop in the steps of this one, if it is before the end
    for (std::size_t i = loop.first; i < loop.end;) {
      if (inner < binding.loops.size() && binding.loops.data()[inner].first == i) {
        run_steps(binding, inner, run);
        i = binding.loops.data()[inner].end;
        while (inner < binding.loops.size() && binding.loops.data()[inner].first < i) ++inner;
        continue;
      }
      run(instructions + i);
      i += instructions[i].members;
    }
  }
  if (loop.count > 1) move_operands(binding, loop, 1 - loop.count);
}

/// Whether the threads of the team share the elements of the instructions of one launch.
[[nodiscard]] bool are_worth_a_team(const Team& team, std::span<const BoundInstruction> members);

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Calls `run(launch)` for every launch of a segment, by the first of its instructions, in the order of execution.
template <class Run> void for_each_launch(Binding& binding, const Segment& segment, const Run& run) {
  if (segment.loop >= 0) return detail::run_steps(binding, static_cast<std::size_t>(segment.loop), run);
  const BoundInstruction* const end = binding.instructions.data() + segment.end;
  for (const BoundInstruction* launch = binding.instructions.data() + segment.begin; launch < end;
       launch += launch->members)
    run(launch);
}

/// The place of an instruction among those of its program.
[[nodiscard]] inline std::size_t number_of(const Binding& binding, const BoundInstruction& instruction) {
  return static_cast<std::size_t>(&instruction - binding.instructions.data());
}

/// The number of launches of a segment; with `alone`, of launches of one instruction each.
[[nodiscard]] std::size_t launches_of(const Binding& binding, const Segment& segment, bool alone = false);

/// Resolves the small launches of a binding, once, on hosts.
void resolve_small_launches(Binding& binding, std::span<const KernelFunction> kernels);

/// Runs launches that have fused SGD updates of weights of type T, which is float or double.
template <class T>
void fused_sgd(const Team& team, const Binding& binding, const KernelFunction& run,
               std::span<const BoundInstruction> members);

/// Runs a launch, which begins with this instruction.
void run_launch(const Team& team, const Binding& binding, const BoundInstruction* launch,
                std::span<const KernelFunction> kernels);

/// Runs an instruction by itself, as its own kernel.
void run_alone(const Team& team, const Binding& binding, const BoundInstruction& instruction,
               std::span<const KernelFunction> kernels);

/// Runs all launches of a segment.
void run_segment(const Team& team, Binding& binding, const Segment& segment, std::span<const KernelFunction> kernels);

}}}} // namespace twill::v0::compile::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/run/launch.ipp>
#endif
