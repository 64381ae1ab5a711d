#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/onednn_objects.hpp.

#include <twill/device/cpu/onednn_objects.hpp>

#if defined(TWILL_WITH_ONEDNN) && DNNL_VERSION_MAJOR == 2
namespace twill { inline namespace v0 { namespace cpu { namespace detail {

TWILL_BODY DnnlThread& dnnl_thread() {
  thread_local DnnlThread thread{};
  return thread;
}

}}}}   // namespace twill::v0::cpu::detail
#endif // defined(TWILL_WITH_ONEDNN) && DNNL_VERSION_MAJOR == 2
