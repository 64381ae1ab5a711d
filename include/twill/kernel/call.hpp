#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Arguments of one launch of a compiled table's kernel. Fused programs use the grid and the operands; an operation with
// a kernel of its own may look at whole arrays, by their shapes, and at the integers it was traced with. Read next:
// compile/program_type.hpp.

#include <twill/core/dtype.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/small_launch.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace cpu {
class KeptOrders;
}}} // namespace twill::v0::cpu

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// A launch, as an operation's `run` receives it.
struct Call {
  const Grid& grid;                  ///< what it runs over
  const Operand* operands = nullptr; ///< the inputs, then the results; a further result that is not read has no data

  // For operations only.
  const Dims* shapes = nullptr;             ///< of each operand, in its own axes
  const DType* dtypes = nullptr;            ///< of each operand
  const std::int64_t* attributes = nullptr; ///< the integers that the operation was traced with
  cpu::KeptOrders* orders = nullptr; ///< of weights and their gradients in other runs, see device/cpu/kept_orders.hpp
  bool only_reserves = false;        ///< takes the working memory of the launch and computes nothing
  SmallLaunch* resolved = nullptr;   ///< of a call that only reserves: it resolves the launch instead, if it can
};

}}}} // namespace twill::v0::kernel::TWILL_ISA
