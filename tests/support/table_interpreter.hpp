#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Runs a lowered table at run time without compiling any of its programs: the same binding, offsets, strides and order of
// lines that the executor uses, in naive loops. Bytes of the arena that hold no live value are filled with NaN, so a plan
// that lets two live values share bytes shows. Read next: tests/compile/fused_equals_unfused.test.cpp.

#include "tests/support/program_run.hpp"

#include <twill/ops/matmul.hpp>

#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace twill::test {

/// A lowered table with memory of its own, whose instructions run when they are told to.
class TableRun {
public:
  TableRun(const compile::Lowered& table, const Environment& environment)
      : lowered_{&table},
        symbols_{&environment.symbols},
        binding_{compile::bind(compile::view_of(table), environment.symbols)},
        outputs_(static_cast<std::size_t>(table.outputs)),
        arena_(binding_.arena_bytes, unwritten) {
    for (std::size_t i = 0; i < table.inputs.size(); ++i)
      inputs_.push_back(detail::bytes_of(environment.inputs[i], table.inputs[i].dtype));
    for (std::size_t i = 0; i < table.parameters.size(); ++i)
      parameters_.push_back(detail::bytes_of(environment.parameters[i], table.parameters[i].dtype));
    for (std::size_t i = 0; i < table.run_scalars.size(); ++i)
      run_scalars_.push_back(kernel::bits_of(table.run_scalars[i].dtype, environment.run_scalars[i]));
    for (std::size_t v = 0; v < table.values.size(); ++v)
      if (table.values[v].storage == compile::Storage::output)
        outputs_[static_cast<std::size_t>(table.values[v].index)].resize(binding_.value_bytes[v]);
    place();
    for (std::size_t i = 0; i < binding_.instructions.size(); ++i) detail::check_bounds(table, binding_, i);
  }
  TableRun(const TableRun&) = delete;
  TableRun& operator=(const TableRun&) = delete;

  /// throws: TableFault where the table is wrong in itself
  void run(std::size_t number) {
    const compile::BoundInstruction& bound = binding_.instructions[number];
    const compile::Instruction& instruction = lowered_->instructions[number];
    const compile::KernelInfo& info = lowered_->kernels[static_cast<std::size_t>(instruction.kernel)];
    const kernel::Operand* operands = binding_.operands.data() + bound.first_operand;
    if (instruction.moves) {
      const auto source = static_cast<std::size_t>(lowered_->operands[bound.first_operand].value);
      if (binding_.value_bytes[source] > 0)
        std::memcpy(operands[1].data, operands[0].data, binding_.value_bytes[source]);
    } else if (info.kind == compile::KernelKind::operation) {
      require(info.operation == graph::matmul_operation.name, "the interpreter knows no other operation");
      using Product = KernelOf<&graph::matmul_operation>;
      if (info.dtype == DType::float64)
        Product::run<double>(Team::serial(), binding_.launch_of(bound));
      else
        Product::run<float>(Team::serial(), binding_.launch_of(bound));
    } else {
      const std::span lines{lowered_->lines.data() + info.first_line, static_cast<std::size_t>(info.line_count)};
      const detail::ProgramRun run{lines, bound.grid, operands};
      require(run.operands() == instruction.operand_count,
              "a program takes another number of operands than it is given");
    }
  }

  /// What an instruction has used for the last time is gone.
  void forget_after(std::size_t number) {
    for (const auto& operand : binding_.inside) {
      const auto v = static_cast<std::size_t>(lowered_->operands[operand.operand].value);
      if (lowered_->values[v].last_use == static_cast<int>(number) && binding_.value_bytes[v] > 0)
        std::memset(binding_.operands[operand.operand].data, 0xFF, binding_.value_bytes[v]);
    }
  }

  [[nodiscard]] Results results() const {
    Results results{};
    results.outputs.resize(outputs_.size());
    for (const compile::ValueInfo& value : lowered_->values)
      if (value.storage == compile::Storage::output)
        results.outputs[static_cast<std::size_t>(value.index)] = detail::array_of(
            outputs_[static_cast<std::size_t>(value.index)], value.dtype, value.shape.evaluate(*symbols_));
    for (std::size_t i = 0; i < lowered_->parameters.size(); ++i)
      results.parameters.push_back(detail::array_of(parameters_[i], lowered_->parameters[i].dtype,
                                                    lowered_->parameters[i].shape.evaluate(*symbols_)));
    return results;
  }

private:
  static constexpr auto unwritten = std::byte{0xFF}; // NaN in every floating type

  void place() {
    using compile::Storage;
    for (const auto& operand : binding_.inside) {
      binding_.operands[operand.operand].data = arena_.data() + operand.index;
      const auto v = static_cast<std::size_t>(lowered_->operands[operand.operand].value);
      require(operand.index + binding_.value_bytes[v] <= arena_.size(), "a value lies outside the arena");
    }
    for (std::size_t k = 0; k < lowered_->operands.size(); ++k) {
      const compile::OperandBinding& info = lowered_->operands[k];
      if (info.kind != compile::OperandKind::memory) continue;
      const compile::ValueInfo& value = lowered_->values[static_cast<std::size_t>(info.value)];
      const auto index = static_cast<std::size_t>(value.index);
      void*& data = binding_.operands[k].data;
      if (value.storage == Storage::input) data = inputs_[index].data();
      if (value.storage == Storage::parameter) data = parameters_[index].data();
      if (value.storage == Storage::run_scalar) data = &run_scalars_[index];
      if (value.storage == Storage::output) data = outputs_[index].data();
    }
  }

  const compile::Lowered* lowered_;
  const graph::SymbolValues* symbols_;
  compile::Binding binding_;
  std::vector<std::vector<std::byte>> inputs_{};
  std::vector<std::vector<std::byte>> parameters_{};
  std::vector<std::vector<std::byte>> outputs_;
  std::vector<std::uint64_t> run_scalars_{};
  std::vector<std::byte> arena_;
};

/// One run of a lowered table.
/// throws: TableFault where the table is wrong in itself
inline Results interpret(const compile::Lowered& lowered, const Environment& environment) {
  TableRun run{lowered, environment};
  for (std::size_t i = 0; i < lowered.instructions.size(); ++i) {
    run.run(i);
    run.forget_after(i);
  }
  return run.results();
}

} // namespace twill::test
