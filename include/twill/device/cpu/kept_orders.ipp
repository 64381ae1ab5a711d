#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/kept_orders.hpp.

#include <twill/device/cpu/kept_orders.hpp>

namespace twill { inline namespace v0 { namespace cpu {

TWILL_BODY bool KeptOrder::is_of(const void* weights, ConvolutionPart part) const {
  return weights == weights_ && part == part_;
}

TWILL_BODY bool KeptOrder::claim() {
  int before = empty;
  return order_.compare_exchange_strong(before, being_filled, std::memory_order_relaxed);
}

TWILL_BODY KeptOrders::KeptOrders(KeptOrders* others) : others_{others} {}

TWILL_BODY std::span<GradientOrder> KeptOrders::gradients() { return {gradients_.data(), gradients_.size()}; }

TWILL_BODY void KeptOrders::add(const void* weights, ConvolutionPart part, void* memory, std::size_t bytes) {
  entries_.push_back(std::make_unique<KeptOrder>(weights, part, memory, bytes));
}

TWILL_BODY std::size_t KeptOrders::filled() const {
  std::size_t count = 0;
  for (const std::unique_ptr<KeptOrder>& entry : entries_) count += entry->is_filled() ? 1 : 0;
  return count;
}

TWILL_BODY KeptOrder* KeptOrders::find(const void* weights, ConvolutionPart part) {
  for (const std::unique_ptr<KeptOrder>& entry : entries_)
    if (entry->is_of(weights, part)) return entry.get();
  return others_ == nullptr ? nullptr : others_->find(weights, part);
}

TWILL_BODY void KeptOrders::place_gradients(std::span<void* const> outputs) {
  for (GradientOrder& gradient : gradients_) gradient.gradient = outputs[gradient.output];
}

TWILL_BODY GradientOrder* KeptOrders::find_gradient(const void* data) {
  for (GradientOrder& gradient : gradients_)
    if (gradient.gradient == data) return &gradient;
  return nullptr;
}

}}} // namespace twill::v0::cpu
