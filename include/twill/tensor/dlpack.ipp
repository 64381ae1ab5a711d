#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of tensor/dlpack.hpp.

#include <twill/tensor/dlpack.hpp>

namespace twill { inline namespace v0 { namespace detail {

TWILL_BODY void require_countable(const DlpackView& view, std::size_t element_bytes) {
  std::int64_t product = static_cast<std::int64_t>(element_bytes);
  std::int64_t reach = 0;
  bool overflow = false;
  for (int axis = 0; axis < view.extents.rank; ++axis) {
    const std::int64_t extent = std::max<std::int64_t>(view.extents[axis], 1);
    std::int64_t step = 0;
    overflow = overflow || __builtin_mul_overflow(product, extent, &product) ||
               __builtin_mul_overflow(extent - 1, view.strides[axis], &step) ||
               step == std::numeric_limits<std::int64_t>::min() ||
               __builtin_add_overflow(reach, step < 0 ? -step : step, &reach);
  }
  if (overflow || __builtin_mul_overflow(reach, static_cast<std::int64_t>(element_bytes), &reach))
    throw ShapeError(join_text({"from_dlpack: shape ", to_string(view.extents), " with strides ",
                                to_string(view.strides), " reaches beyond 64 bits of address"}));
}

}}} // namespace twill::v0::detail
