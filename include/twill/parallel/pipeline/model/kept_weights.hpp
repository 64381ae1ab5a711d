#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Kept weights of a stage's convolutions, in the orders in which the host's library reads them, for the micro-batches
// of one step, which all read the same weights: the first one makes them, the others find them. The memory is a pool's,
// as large as the weights once for the forward and once for the backward pass, so that a step's memory is known to the
// byte. Orders that need more, for channels that fill no block, are made each time. The gradients of these weights stay
// in the library's order during the sum over micro-batches; after the last one their sums are brought into the order of
// the weights, and are read only then. Read next: device/cpu/kept_orders.hpp.

#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/device/cpu/kept_orders.hpp>
#include <twill/device/cpu/onednn_convolution.hpp>
#include <twill/device/device.hpp>
#include <twill/device/meta/meta.hpp>
#include <twill/kernel/convolution.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/nn/network_state.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// Whether weights can be kept on this kind of device; `Meta` counts the needs of hosts.
template <class D>
inline constexpr bool can_keep_orders = cpu::has_onednn_convolution && (HostDevice<D> || std::same_as<D, Meta>);

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// Calls `f(weight, is_backward, bytes)` for each weight of a convolution that a program reads, by its number: whether
/// for the gradient of an input, and the bytes that it takes in another order.
template <class F> void for_each_ordered_weight(const compile::TableView& table, F f) {
  for (const compile::Instruction& instruction : table.instructions) {
    const compile::KernelInfo& kernel = table.kernels[static_cast<std::size_t>(instruction.kernel)];
    if (kernel.kind != compile::KernelKind::operation ||
        (kernel.dtype != DType::float32 && kernel.dtype != DType::bfloat16))
      continue;
    const bool is_backward = kernel.operation == "convolution_input_gradient";
    if (!is_backward && kernel.operation != "convolution") continue;
    const compile::OperandBinding& operand = table.operands[static_cast<std::size_t>(instruction.first_operand) + 1];
    const compile::ValueInfo& value = table.values[static_cast<std::size_t>(operand.value)];
    if (value.storage != compile::Storage::parameter ||
        table.parameters[static_cast<std::size_t>(value.index)].role != graph::Role::weight)
      continue;
    constexpr std::int64_t line = 64;
    const std::int64_t bytes = value.shape.elements().factor * static_cast<std::int64_t>(size_of(value.dtype));
    f(value.index, is_backward, (bytes + line - 1) / line * line);
  }
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// The weights that a stage keeps in the orders of their readers, for the micro-batches of one step.
template <ComputeDevice D> class KeptWeights {
public:
  KeptWeights() = default;
  KeptWeights(const KeptWeights&) = delete;
  KeptWeights& operator=(const KeptWeights&) = delete;

  /// Allocates memory for the weights that a program reads.
  void add(const D& device, const compile::TableView& table, std::span<void* const> parameters) {
    detail::for_each_ordered_weight(table, [&](int weight, bool is_backward, std::int64_t bytes) {
      if (!known_.emplace(weight, is_backward).second) return;
      buffers_.emplace_back(device, static_cast<std::size_t>(bytes));
      orders_.add(parameters[static_cast<std::size_t>(weight)],
                  is_backward ? ConvolutionPart::input_gradient : ConvolutionPart::output, buffers_.back().data(),
                  static_cast<std::size_t>(bytes));
    });
  }

  /// Finds the gradients of weights that are convolutions' results without other readers, in the program that makes
  /// them. Its first outputs are those of the stage's `weights`; others go to other stages, which read them.
  void add_gradients(const compile::TableView& table, int weights) {
    for (const compile::Instruction& instruction : table.instructions) {
      const compile::KernelInfo& kernel = table.kernels[static_cast<std::size_t>(instruction.kernel)];
      if (kernel.kind != compile::KernelKind::operation || kernel.dtype != DType::float32 ||
          kernel.operation != "convolution_weight_gradient" || instruction.loop >= 0) // whose steps make slices of one
        continue;
      const compile::OperandBinding& result = table.operands[static_cast<std::size_t>(instruction.first_operand) + 2];
      if (result.kind != compile::OperandKind::memory) continue;
      const compile::ValueInfo& value = table.values[static_cast<std::size_t>(result.value)];
      const bool is_read = value.first_use != value.last_use;
      if (value.storage == compile::Storage::output && value.index < weights && !is_read)
        orders_with_gradients_.add_gradient(static_cast<std::size_t>(value.index));
    }
  }

  /// Brings the sums of the gradients into the order of their weights.
  void leave_orders(nn::NetworkState<D>& state) {
    if constexpr (HostDevice<D>) {
      if (orders_with_gradients_.gradients().empty()) return;
      std::vector<void*> sums;
      for (std::size_t i = 0; i < state.infos.size(); ++i)
        if (state.infos[i].role == graph::Role::weight) sums.push_back(state.gradients[i].data());
      launch(state.device, [this, sums = std::move(sums)](const team_t<D>&) {
        for (cpu::GradientOrder& gradient : orders_with_gradients_.gradients())
          kernel::leave_order(gradient, sums[gradient.output]);
      });
    }
  }

  /// The orders read by a run's kernels; outlives the run.
  [[nodiscard]] cpu::KeptOrders& orders() { return orders_; }
  /// The orders for the runs of the program that makes the gradients.
  [[nodiscard]] cpu::KeptOrders& orders_with_gradients() { return orders_with_gradients_; }
  [[nodiscard]] const cpu::KeptOrders& orders() const { return orders_; }

private:
  std::set<std::pair<int, bool>> known_{}; ///< weights by their numbers, and whether backward passes read them
  std::vector<memory::Buffer<D>> buffers_{};
  cpu::KeptOrders orders_{};
  cpu::KeptOrders orders_with_gradients_{&orders_};
};

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA
