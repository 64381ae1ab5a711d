#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of core/list.hpp.

#include <twill/core/list.hpp>

namespace twill { inline namespace v0 { namespace detail {

TWILL_BODY List<std::size_t> stable_order(std::size_t count, ComesBefore before, const void* context) {
  List<std::size_t> order(count, 0);
  List<std::size_t> merged(count, 0);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  for (std::size_t width = 1; width < count; width *= 2) {
    for (std::size_t begin = 0; begin < count; begin += 2 * width) {
      const std::size_t middle = width < count - begin ? begin + width : count;
      const std::size_t end = width < count - middle ? middle + width : count;
      std::size_t left = begin, right = middle;
      for (std::size_t to = begin; to < end; ++to) {
        const bool takes_right = left == middle || (right < end && before(context, order[right], order[left]));
        merged[to] = takes_right ? order[right++] : order[left++];
      }
    }
    order.swap(merged);
  }
  return order;
}

}}} // namespace twill::v0::detail
