#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/group/text_of.hpp.

#include <twill/parallel/group/text_of.hpp>

namespace twill::inline v0::parallel::detail::inline TWILL_ISA {

TWILL_COLD TWILL_BODY std::string text_of(const std::exception_ptr& cause) {
  try {
    std::rethrow_exception(cause);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

} // namespace twill::inline v0::parallel::detail::inline TWILL_ISA
