#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/convolution.hpp.

#include <twill/kernel/convolution.hpp>

namespace twill { inline namespace v0 { namespace kernel { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY std::int64_t pixels_at_once(const ConvolutionShape& s) {
  constexpr std::int64_t elements_at_once = 1 << 18;
  return std::clamp<std::int64_t>(elements_at_once / std::max<std::int64_t>(s.taps(), 1), 1,
                                  std::max<std::int64_t>(s.out_pixels(), 1));
}

TWILL_BODY bool is_shared(const Team& team, const ConvolutionShape& shape) {
  return team.size() > 1 && shape.multiply_adds() >= cpu::multiply_adds_worth_sharing;
}

TWILL_BODY std::int64_t gradients_of(const Team& team, const ConvolutionShape& shape) {
  return std::min<std::int64_t>(shape.batch, team.size());
}

}}}}} // namespace twill::v0::kernel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

TWILL_BODY void run_weight_gradient(const Team& team, const Convolution<float>& convolution, cpu::GradientOrder& kept) {
  using cpu::GradientOrder;
#if defined(TWILL_WITH_ONEDNN)
  if constexpr (cpu::has_onednn_convolution) {
    const ConvolutionShape& shape = convolution.shape;
    if (kept.order != GradientOrder::plain && shape.multiply_adds() > 0 && !detail::is_shared(team, shape))
      if (auto* const plan = cpu::find_convolution(convolution.part, DType::float32, shape);
          plan != nullptr && plan->can_stay_in_order() &&
          (kept.order == GradientOrder::undecided || kept.order == plan->order()) &&
          plan->run_in_order(convolution.x, convolution.w, convolution.y, Scratch::of_thread(plan->scratch_bytes()))) {
        if (kept.order == GradientOrder::undecided) kept.shape = shape;
        kept.order = plan->order();
        return;
      }
  }
#endif
  run_convolution(team, convolution);
  if (kept.order == GradientOrder::undecided) kept.order = GradientOrder::plain;
  if (kept.order != GradientOrder::plain) detail::change_order<true>(kept, convolution.w);
}

TWILL_BODY void leave_order(cpu::GradientOrder& kept, void* gradient) {
  if (kept.order >= 0) detail::change_order<false>(kept, static_cast<float*>(gradient));
  kept.order = cpu::GradientOrder::undecided;
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
