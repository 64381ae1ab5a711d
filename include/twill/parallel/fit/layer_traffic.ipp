#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/fit/layer_traffic.hpp.

#include <twill/parallel/fit/counting_communicator.hpp>
#include <twill/parallel/fit/layer_traffic.hpp>
#include <twill/parallel/group/rank_group.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace fit::detail { inline namespace TWILL_ISA {

/// Calls `f(instruction, axis)` for each call among ranks.
template <class F> void for_each_group_call(const compile::TableView& table, const F& f) {
  for (const compile::Instruction& instruction : table.instructions) {
    if (instruction.collective == kernel::Collective::none) continue;
    const std::int64_t* const axis = table.attributes.data() + instruction.first_attribute;
    f(instruction, kernel::AxisId{axis[0], axis[1], axis[2]});
  }
}

/// The messages that a rank sends one after another in all these calls, around rings.
[[nodiscard]] inline std::int64_t messages_of(const OperationTraffic& traffic, int ranks) {
  std::int64_t rings = 2 * traffic[Operation::all_reduce].calls;
  for (const Operation operation : {Operation::reduce_scatter, Operation::all_gather, Operation::all_to_all})
    rings += traffic[operation].calls;
  return rings * (ranks - 1) + traffic[Operation::send].calls;
}

}}}}} // namespace twill::v0::parallel::fit::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

TWILL_BODY LayerTraffic layer_traffic(const PlannedProgram& program, const graph::SymbolValues& symbols,
                                      const pipeline::Link& link) {
  const compile::TableView table = program.view();
  LayerTraffic all{};
  detail::for_each_group_call(table, [&](const compile::Instruction& instruction, const kernel::AxisId& axis) {
    const auto count = [&](int operand) {
      return table.shapes[static_cast<std::size_t>(instruction.first_shape + operand)].evaluate(symbols).elements();
    };
    kernel::GroupCall call{};
    call.collective = instruction.collective;
    call.dtype = table.operands[static_cast<std::size_t>(instruction.first_operand)].dtype;
    call.source_count = count(0);
    call.target_count = count(1);
    std::int64_t times = 1;
    for (int loop = instruction.loop; loop >= 0; loop = table.loops[static_cast<std::size_t>(loop)].around)
      times *= table.loops[static_cast<std::size_t>(loop)].count.evaluate(symbols);
    const auto ranks = static_cast<int>(axis.size);
    CountingCommunicator communicator{0, ranks};
    CommunicatorGroup<CountingCommunicator>{communicator, axis}.run(call);
    const std::int64_t bytes = communicator.traffic().total().sent_bytes;
    const auto messages = static_cast<double>(detail::messages_of(communicator.traffic(), ranks));
    const double transfer_s = link.bytes_per_s > 0 ? static_cast<double>(bytes) / link.bytes_per_s : 0;
    all.sent_bytes += times * bytes;
    all.seconds += static_cast<double>(times) * (messages * link.latency_s + transfer_s);
  });
  return all;
}

TWILL_BODY int layer_ranks(const PlannedProgram& program) {
  std::vector<kernel::AxisId> axes{};
  const auto add = [&](const kernel::AxisId& axis) {
    if (axis.size > 0 && std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  };
  const compile::TableView table = program.view();
  for (const graph::ParameterInfo& info : table.parameters) add(info.shard.axis);
  detail::for_each_group_call(table, [&](const compile::Instruction&, const kernel::AxisId& axis) { add(axis); });
  std::int64_t ranks = 1;
  for (const kernel::AxisId& axis : axes) ranks *= axis.size;
  return static_cast<int>(ranks);
}

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA
