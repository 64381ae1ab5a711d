#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Computation without history for a backward pass, for a scope of the calling thread.

#include <twill/core/config.hpp>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

TWILL_EXPORT inline thread_local bool gradients_are_off = false;

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// True inside a `NoGrad` scope of this thread.
[[nodiscard]] inline bool is_no_grad() { return detail::gradients_are_off; }

/// During its life, `forward` on this thread keeps nothing, and its results cannot run backward.
class NoGrad {
public:
  NoGrad() : previous_{detail::gradients_are_off} { detail::gradients_are_off = true; }
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;
  ~NoGrad() { detail::gradients_are_off = previous_; }

private:
  bool previous_;
};

}}}} // namespace twill::v0::nn::TWILL_ISA
