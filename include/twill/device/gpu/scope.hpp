#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Current device, stream and graph recording of a thread: the driver's device for a scope, the stream of the innermost
// guard for each device, and the graph that the thread is recording, if any. While a thread records a graph it cannot
// wait for a device of that driver, nor read from one. Read next: device/gpu/stream.hpp, memory/gpu/capture.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/runtime.hpp>

#include <string_view>

namespace twill { inline namespace v0 { namespace gpu {

/// Makes a device the driver's current one in this thread, for a scope, and restores the previous one, unless that is
/// unused: making it current would create a context there.
template <Runtime R> class Using {
public:
  /// throws: GpuError
  explicit Using(int device) : device_{device} {
    check<R>(R::device_in_use(&previous_), "device_in_use", device);
    if (previous_ != device) check<R>(R::use_device(device), "use_device", device);
  }
  ~Using() {
    if (previous_ != device_ && R::has_context(previous_)) static_cast<void>(R::use_device(previous_));
  }
  Using(const Using&) = delete;
  Using& operator=(const Using&) = delete;

private:
  int device_;
  int previous_ = 0;
};

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
