#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The run-time numbers of a program with several device slots, where the kernels of each slot read them: host devices read
// them from one place, GPUs each from a block of their own, see compile/gpu/slot_numbers.hpp. Read next:
// compile/slot_executor.hpp.

#include <twill/compile/bindings.hpp>
#include <twill/core/config.hpp>
#include <twill/device/device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace twill::inline v0::compile::inline TWILL_ISA {

template <ComputeDevice D> class SlotNumbers {
  static_assert(HostDevice<D>, "twill: a model with parts in several device slots runs on host devices, and on GPUs "
                               "where <twill/cuda.cuh> is included");

public:
  SlotNumbers(std::span<const D>, const TableView& table) : numbers_(table.knobs.size()) {}

  /// requires: the last run is done
  void write(std::span<const std::uint64_t> numbers) { std::copy(numbers.begin(), numbers.end(), numbers_.begin()); }

  /// Tells the operands of a binding where they lie.
  void place(Bound& bound) { place_numbers(bound, numbers_.data()); }

private:
  std::vector<std::uint64_t> numbers_;
};

} // namespace twill::inline v0::compile::inline TWILL_ISA
