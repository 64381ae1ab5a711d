#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of tensor/extents.hpp.

#include <twill/core/text.hpp>
#include <twill/tensor/extents.hpp>

namespace twill { inline namespace v0 { namespace detail {

TWILL_COLD TWILL_BODY void throw_misfit(const char* operation, const Dims& known, const Dims& extents,
                                        std::size_t element_bytes) {
  for (int axis = 0; axis < extents.rank; ++axis)
    if (extents[axis] < 0)
      throw ShapeError(join_text({operation, ": shape ", to_string(extents), " has a negative extent at axis ", axis,
                                  "; extents are at least 0"}));
  if (counted_bytes(extents, element_bytes) < 0)
    throw ShapeError(join_text({operation, ": shape ", to_string(extents), " with ", element_bytes,
                                " bytes an element takes more bytes than 64 bits can count"}));
  throw ShapeError(join_text({operation, ": extents ", to_string(extents), " do not fit the type's shape ",
                              to_string(known), ", in which -1 is dyn"}));
}

}}} // namespace twill::v0::detail
