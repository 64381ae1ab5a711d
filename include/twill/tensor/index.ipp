#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of tensor/index.hpp.

#include <twill/tensor/index.hpp>

namespace twill { inline namespace v0 { namespace detail {

TWILL_BODY void Indexer::keep() {
  layout::append(result, from.extents[axis], from.strides[axis]);
  ++axis;
}

TWILL_BODY void Indexer::apply(const slice& range) {
  layout::append_slice(result, from.extents[axis], from.strides[axis], range);
  ++axis;
}

TWILL_BODY void Indexer::apply(Ellipsis) {
  for (int count = 0; count < rest; ++count) keep();
}

}}} // namespace twill::v0::detail
