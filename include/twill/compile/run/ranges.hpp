#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Ranges for NVIDIA's profilers (NVTX): one for each run of a program, in it one for each launch, with layer and
// operation. Files compiled with TWILL_WITH_NVTX=1 have them, all files of a program or none; others include and run
// nothing for it. In a captured graph the launches are named when they are recorded. Read next: core/range.hpp,
// compile/report/node_info.hpp.

#include <twill/compile/plan/binding.hpp>
#include <twill/compile/report/node_info.hpp>
#include <twill/core/config.hpp>
#include <twill/core/range.hpp>
#include <twill/core/text.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

#if defined(TWILL_WITH_NVTX) && TWILL_WITH_NVTX

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

struct LaunchRange {
  constexpr LaunchRange(const Binding&, const BoundInstruction*) {}
};
struct RunRange {
  constexpr RunRange(const TableView&, Binding&) {}
};

#endif

}}}} // namespace twill::v0::compile::TWILL_ISA
