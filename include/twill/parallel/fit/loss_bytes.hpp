#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Bytes that a loss and its gradient take of a device at most, beside the prediction and the targets: those that the
// pool of a `Meta` counts while both run on it. Not in twill.hpp. Read next: parallel/fit/pipeline_replay.hpp.

#include <twill/core/config.hpp>
#include <twill/device/meta/meta.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/nn/leaf.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstdint>
#include <mutex>
#include <type_traits>

namespace twill { inline namespace v0 { namespace parallel { namespace fit {

/// Whether targets are in one piece on the device of the loss, or are copied there first.
enum class Targets : bool { are_there, are_copied };

}}}} // namespace twill::v0::parallel::fit

namespace twill { inline namespace v0 { namespace parallel { namespace fit::detail { inline namespace TWILL_ISA {

/// Protects the pool in which losses are measured, that of the last device that there is.
inline constinit std::mutex measuring{};

}}}}} // namespace twill::v0::parallel::fit::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

/// The bytes of a loss of a prediction and targets of these types and shapes, on `Meta`.
template <class Prediction, class Target, class L>
[[nodiscard]] std::int64_t loss_bytes(const L& loss, const Dims& prediction, const Dims& targets, Targets where) {
  const std::lock_guard lock(detail::measuring);
  const Meta device{Meta::count() - 1};
  const Prediction made(device, prediction);
  const Target wanted(where == Targets::are_there ? device : Meta{Meta::count() - 2}, targets);
  const std::int64_t before = memory_allocated(device);
  reset_peak_memory_stats(device);
  {
    const nn::Leaf result{made};
    const auto value = loss(result, wanted.to(device).contiguous());
    using Value = typename std::remove_cvref_t<decltype(value)>::Value;
    const Value weight(value.device(), value.shape());
    value.backward_from(weight);
  }
  return max_memory_allocated(device) - before;
}

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA
