#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of tensor/extents.hpp.

#include <twill/tensor/extents.hpp>

namespace twill { inline namespace v0 { namespace detail {

TWILL_BODY void throw_misfit(const char* operation, const Dims& known, const Dims& extents) {
  throw ShapeError(std::string(operation) + ": extents " + to_string(extents) + " do not fit the type's shape " +
                   to_string(known) + ", in which -1 is dyn");
}

}}} // namespace twill::v0::detail
