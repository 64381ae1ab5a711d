#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// GPU streams beside the default one: `gpu::Stream` owns one, and a program calls `forget_stream` before it destroys a
// stream of its own. A tensor belongs to the stream on which its thread worked when it was made; other streams that use
// it are ordered by events and recorded with its memory (`x.storage().record_stream(stream)`), as in PyTorch.
// Read next: device/gpu/stream.hpp.

#include <twill/core/config.hpp>
#include <twill/device/gpu/event.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/memory.hpp>
#include <twill/device/gpu/stream.hpp>
#include <twill/memory/registry.hpp>

namespace twill { inline namespace v0 {

/// Call this before you destroy a stream of your own: waits for its work; memory that belongs to it becomes the default
/// stream's. throws: GpuError when work failed, CaptureError while this thread records a graph
template <gpu::GpuDevice D> void forget_stream(const D& device, typename D::Runtime::Stream stream) {
  using R = typename D::Runtime;
  gpu::require_no_recording<R>("forget_stream", device.index);
  gpu::state_of(device).synchronize(stream);
  memory::pool(device).forget_stream(gpu::StreamKey<R>{stream}, gpu::Event<R>{}); // all work has passed
  gpu::state_of(device).forget(stream);
}

}} // namespace twill::v0

namespace twill { inline namespace v0 { namespace gpu {

/// A stream of a device. Its destructor waits for its work. Its working memory stays for the next one.
template <GpuDevice D> class Stream {
  using R = typename D::Runtime;

public:
  /// throws: DeviceError, GpuError
  explicit Stream(const D& device) : device_{device}, state_{&state_of(device).borrow_stream()} {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    if (process_is_ending) return;
    try {
      forget_stream(device_, handle());
    } catch (...) { // a device that failed runs nothing any more
    }
    state_of(device_).give_back_stream(*state_);
  }

  /// The driver's handle; for `StreamGuard`.
  [[nodiscard]] typename R::Stream handle() const { return state_->queue.stream(); }
  /// The device that has the stream.
  [[nodiscard]] const D& device() const { return device_; }

private:
  D device_;
  StreamState<R>* state_;
};

}}} // namespace twill::v0::gpu
