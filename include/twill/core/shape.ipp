#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of core/shape.hpp.

#include <twill/core/shape.hpp>
#include <twill/core/text.hpp>

namespace twill { inline namespace v0 {

TWILL_COLD TWILL_BODY std::string to_string(const Dims& dims) {
  std::string text = "(";
  for (int axis = 0; axis < dims.rank; ++axis) text = join_text({text, axis > 0 ? ", " : "", dims[axis]});
  return join_text({text, dims.rank == 1 ? ",)" : ")"});
}

}} // namespace twill::v0
