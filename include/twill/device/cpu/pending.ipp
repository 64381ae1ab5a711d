#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/pending.hpp.

#include <twill/device/cpu/pending.hpp>

namespace twill { inline namespace v0 { namespace detail {

TWILL_BODY Ending::~Ending() {
  if (error && !observed) report();
}

TWILL_COLD TWILL_BODY void Ending::report() noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& failure) {
    warn(join_text({"submit: a task on ", where, " failed and nothing waited for it: ", failure.what()}));
  } catch (...) {
    warn(join_text({"submit: a task on ", where, " failed and nothing waited for it"}));
  }
}

}}} // namespace twill::v0::detail
