#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/library_threads.hpp.

#include <twill/device/cpu/library_threads.hpp>

namespace twill { inline namespace v0 { namespace cpu { namespace detail {

TWILL_BODY OneOpenMpThread::OneOpenMpThread() {
  if (open_mp().set == nullptr) return;
  previous_ = open_mp().get();
  if (previous_ != 1) open_mp().set(1);
}

TWILL_BODY OneOpenMpThread::~OneOpenMpThread() {
  if (previous_ > 1) open_mp().set(previous_);
}

}}}} // namespace twill::v0::cpu::detail
