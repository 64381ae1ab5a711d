#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Run-time scalars of a program (rates, seeds, steps), stored where the kernels of each device slot read them: host
// devices read them from one place, GPUs each from its own block, see compile/run/gpu/numbers.hpp. Read next:
// compile/run/executor.hpp.

#include <twill/compile/run/bindings.hpp>
#include <twill/core/config.hpp>
#include <twill/device/device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

template <ComputeDevice D> class RunNumbers {
  static_assert(HostDevice<D>, "twill: programs run on host devices, and on GPUs where <twill/cuda.cuh> is included");

public:
  RunNumbers(std::span<const D>, const TableView& table) : numbers_(table.run_scalars.size()) {}

  /// requires: the last run is done
  void write(std::span<const std::uint64_t> numbers) { std::copy(numbers.begin(), numbers.end(), numbers_.begin()); }

  /// Sets the addresses of the operands of a binding, eight bytes apart, which are those of every run.
  void place(Binding& binding) {
    for (const OutsideOperand& operand : binding.numbers)
      binding.operands[operand.operand].data = numbers_.data() + operand.index;
  }

private:
  std::vector<std::uint64_t> numbers_;
};

}}}} // namespace twill::v0::compile::TWILL_ISA
