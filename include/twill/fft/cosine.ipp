#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of fft/cosine.hpp.

#include <twill/core/error.hpp>
#include <twill/fft/cosine.hpp>

#include <string>

namespace twill { inline namespace v0 { namespace fft { namespace detail {

TWILL_BODY void require_cosine_type(const char* function, int type) {
  if (type != 2 && type != 3)
    throw ValueError(std::string(function) + ": type is " + std::to_string(type) + "; types 2 and 3 are there");
}

}}}} // namespace twill::v0::fft::detail
