#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The weights of a stage's convolutions in the orders in which the host's library reads them, for the micro-batches of one
// step, which all read the same weights: the first one brings them there, the others find them. The memory is a pool's, as
// large as the weights once for the forward and once for the backward pass, so that what a step needs is known to the byte.
// Orders that need more, for channels that fill no block, are made each time. Read next: device/cpu/kept_orders.hpp.

#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/device/cpu/kept_orders.hpp>
#include <twill/device/cpu/onednn_convolution.hpp>
#include <twill/device/device.hpp>
#include <twill/device/meta/meta.hpp>
#include <twill/memory/buffer.hpp>

#include <concepts>
#include <cstddef>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace twill::inline v0::pipeline::inline TWILL_ISA {

/// Whether weights can be kept on this kind of device; `Meta` counts what hosts would need.
template <class D>
inline constexpr bool can_keep_orders = cpu::has_onednn_convolution && (HostDevice<D> || std::same_as<D, Meta>);

/// What a stage keeps in the orders of who reads it, for the micro-batches of one step.
template <ComputeDevice D> class KeptWeights {
public:
  /// Makes room for what a program reads of its weights.
  void add(const D& device, const compile::TableView& table, std::span<void* const> parameters) {
    for (const compile::Instruction& instruction : table.instructions) {
      const compile::KernelInfo& kernel = table.kernels[static_cast<std::size_t>(instruction.kernel)];
      if (kernel.kind != compile::KernelKind::operation ||
          (kernel.dtype != DType::float32 && kernel.dtype != DType::bfloat16))
        continue;
      const bool is_backward = kernel.operation == "convolution_input_gradient";
      if (!is_backward && kernel.operation != "convolution") continue;
      const compile::OperandInfo& operand = table.operands[static_cast<std::size_t>(instruction.first_operand) + 1];
      const compile::ValueInfo& value = table.values[static_cast<std::size_t>(operand.value)];
      if (value.storage != compile::Storage::parameter ||
          table.parameters[static_cast<std::size_t>(value.index)].role != graph::Role::weight ||
          !known_.emplace(value.index, is_backward).second)
        continue;
      constexpr std::size_t line = 64;
      const auto elements = static_cast<std::size_t>(value.shape.elements().factor);
      const std::size_t bytes = (elements * size_of(value.dtype) + line - 1) / line * line;
      buffers_.emplace_back(device, bytes);
      orders_.add(parameters[static_cast<std::size_t>(value.index)],
                  is_backward ? ConvolutionPart::input_gradient : ConvolutionPart::output, buffers_.back().data(),
                  bytes);
    }
  }

  /// What a run's kernels ask; outlives the run.
  [[nodiscard]] cpu::KeptOrders& orders() { return orders_; }
  [[nodiscard]] const cpu::KeptOrders& orders() const { return orders_; }

private:
  std::set<std::pair<int, bool>> known_{}; ///< weights by their numbers, and whether backward passes read them
  std::vector<memory::Buffer<D>> buffers_{};
  cpu::KeptOrders orders_{};
};

} // namespace twill::inline v0::pipeline::inline TWILL_ISA
