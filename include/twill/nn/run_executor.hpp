#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Runs of a stage by its executor: the run's context, memory for its results, and the hooks on its taps. A model has
// several sources for each stage, each of its own type; this code is shared by all of them, compiled once for a kind of
// device. Read next: nn/tracked.hpp.

#include <twill/compile/run_scalars.hpp>
#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/device/device.hpp>
#include <twill/kernel/rank_group.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/nn/layer_hooks.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Context of a run: its inputs besides its arguments.
struct RunContext {
  compile::RunScalars run_scalars{};             ///< the run-time numbers of the programs
  std::int64_t first_row = 0;                    ///< the first row's place in the whole batch, when it is split
  std::shared_ptr<const LayerHooks> on_layers{}; ///< hooks on layers; null if there are none
  kernel::RankGroups groups{};                   ///< of the ranks that the run works with
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// The inputs of a run.
struct RunInputs {
  const graph::SymbolValues& symbols;
  std::span<void* const> inputs;
  std::span<void* const> parameters;
};

/// Runs an executor on the devices of its slots. Its outputs are untyped blocks of memory.
template <class Executor, ComputeDevice D>
std::vector<memory::Buffer<D>> run_executor(Executor& executor, std::span<const D> devices, const RunInputs& given,
                                            const RunContext& context, void* first_output) {
  const compile::TableView& table = executor.table();
  std::vector<memory::Buffer<D>> buffers(static_cast<std::size_t>(table.outputs));
  std::vector<void*> outputs(buffers.size());
  for (const compile::ValueInfo& value : table.values) {
    if (value.storage != compile::Storage::output) continue;
    const auto k = static_cast<std::size_t>(value.index);
    if (k == 0 && first_output != nullptr) {
      outputs[0] = first_output;
      continue;
    }
    buffers[k] =
        memory::Buffer<D>(devices[table.slots == 1 ? 0 : static_cast<std::size_t>(value.slot)],
                          static_cast<std::size_t>(compile::bytes_of(value.dtype, value.shape, given.symbols)));
    outputs[k] = buffers[k].data();
  }
  compile::RunScalars run_scalars{table.run_scalars};
  run_scalars.take(context.run_scalars);
  run_with_hooks(executor, context.on_layers.get(), [&] {
    executor.run(given.symbols, {.inputs = given.inputs,
                                 .parameters = given.parameters,
                                 .outputs = outputs,
                                 .run_scalars = run_scalars.bits(),
                                 .first_row = context.first_row,
                                 .groups = &context.groups});
  });
  return buffers;
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA
