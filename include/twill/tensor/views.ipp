#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of tensor/views.hpp.

#include <twill/tensor/views.hpp>

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY void flip_axis(layout::Layout& where, int axis) {
  if (where.extents[axis] > 0) where.offset += (where.extents[axis] - 1) * where.strides[axis];
  where.strides[axis] = -where.strides[axis];
}

TWILL_BODY void cut(const char* operation, layout::Layout& where, int axis, std::int64_t first, std::int64_t length) {
  const std::int64_t extent = where.extents[axis];
  const std::int64_t begin = first < 0 ? first + extent : first;
  if (begin < 0 || length < 0 || begin > extent - length)
    throw IndexError(std::string(operation) + ": " + std::to_string(length) + " elements from " +
                     std::to_string(first) + " on are outside axis " + std::to_string(axis) + " of extent " +
                     std::to_string(extent));
  where.offset += begin * where.strides[axis];
  where.extents[axis] = length;
}

TWILL_BODY void throw_sections(const char* operation, std::int64_t sections, std::int64_t extent, int axis) {
  throw ValueError(std::string(operation) + ": " + std::to_string(sections) + " sections do not divide axis " +
                   std::to_string(axis) + " of extent " + std::to_string(extent) +
                   (sections < 1 ? "; there is at least one" : "; array_split allows unequal ones"));
}

}}}} // namespace twill::v0::detail::TWILL_ISA
