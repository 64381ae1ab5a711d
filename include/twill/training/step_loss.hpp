#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Loss of a training step, of one type for all kinds of steps: read from its device when it is needed, or a number that
// the step itself has waited for, as pipelines and searches along lines do. Read next: training/train_step.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/device/device.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/tensor/extents.hpp>

#include <cstdint>
#include <string>

namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {

/// The loss of a step, read when it is needed. The next step overwrites it, except where a step waits for its loss:
/// those of pipelines, `sam_step` and `lbfgs_step`, whose loss is known on every rank and stays readable.
template <class T, ComputeDevice D> class StepLoss {
public:
  /// The loss of step `step`, read from its slot on demand.
  StepLoss(const memory::Buffer<D>& slot, const std::int64_t& newest, std::int64_t step)
      : slot_{&slot}, newest_{&newest}, step_{step} {}
  /// A loss that the step has waited for.
  explicit StepLoss(T known) : known_{known} {}

  /// Waits for the step and reads its loss. throws: ValueError when a later step has overwritten it
  [[nodiscard]] T item() const {
    if (slot_ == nullptr) return known_;
    if (step_ != *newest_)
      throw ValueError("item: the loss of step " + std::to_string(step_) + " was overwritten by step " +
                       std::to_string(*newest_) + "; read it before the next step");
    return read_item(slot_->device(), static_cast<const T*>(slot_->data()), Dims{});
  }
  /// The number; waits for the step.
  operator T() const { return item(); }

private:
  const memory::Buffer<D>* slot_ = nullptr; ///< null where the loss is known
  const std::int64_t* newest_ = nullptr;
  std::int64_t step_ = 0;
  T known_{};
};

}}}} // namespace twill::v0::training::TWILL_ISA
