#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Current stream and graph recording of a thread: the stream of the innermost guard for each device, and the graph that
// it is recording, if any. While a thread records a graph it cannot wait for a device of that driver, nor read from
// one. Read next: device/gpu/stream.hpp, memory/gpu/capture.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/device/gpu/gpu.hpp>

#include <string_view>

namespace twill { inline namespace v0 { namespace gpu {

namespace detail {

/// A stream that a thread works on for a scope; scopes of all devices of a driver are linked.
template <Runtime R> struct StreamScope {
  int device = 0;
  StreamState<R>* stream = nullptr;
  unsigned capture = 0; ///< the number of the graph that is being recorded; 0 when none is
  const StreamScope* outer = nullptr;
};
template <Runtime R> TWILL_EXPORT inline constinit thread_local const StreamScope<R>* innermost_scope = nullptr;

[[noreturn]] TWILL_COLD inline void refuse_while_recording(std::string_view call, std::string_view kind, int device) {
  throw CaptureError(join_text({call, ": this thread records a graph, and ", kind, ":", device,
                                " cannot be waited for or read meanwhile; do it before or after the recording"}));
}

} // namespace detail

/// The number of the graph that this thread is recording; 0 when it records none.
template <Runtime R> [[nodiscard]] unsigned recorded_graph() {
  return detail::innermost_scope<R> != nullptr ? detail::innermost_scope<R>->capture : 0;
}

/// throws: CaptureError while this thread records a graph
template <Runtime R> void require_no_recording(std::string_view call, int device) {
  if (recorded_graph<R>() != 0) [[unlikely]]
    detail::refuse_while_recording(call, R::name, device);
}

}}} // namespace twill::v0::gpu
