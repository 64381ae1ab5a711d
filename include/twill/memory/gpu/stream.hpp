#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Streams of a GPU beside the default one: `gpu::Stream` owns one, and a program's own are to be forgotten before it destroys
// them. A tensor belongs to the stream that its thread worked on when it was made; work on another stream that uses it is
// ordered by events and told to its memory (`x.storage().record_stream(stream)`), as in PyTorch. Read next:
// device/gpu/stream.hpp.

#include <twill/core/config.hpp>
#include <twill/device/gpu/event.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/memory.hpp>
#include <twill/device/gpu/stream.hpp>
#include <twill/memory/registry.hpp>

namespace twill { inline namespace v0 {

/// Says that a stream of the caller's is about to be destroyed: waits for its work; memory that belongs to it becomes the
/// default stream's. throws: GpuError when work failed, CaptureError while this thread records a graph
template <gpu::GpuDevice D> void forget_stream(const D& device, typename D::Runtime::Stream stream) {
  using R = typename D::Runtime;
  gpu::require_no_recording<R>("forget_stream", device.index);
  gpu::state_of(device).synchronize(stream);
  memory::pool(device).forget_stream(gpu::StreamKey<R>{stream}, gpu::Event<R>{}); // all of it has passed
  gpu::state_of(device).forget(stream);
}

}} // namespace twill::v0

namespace twill { inline namespace v0 { namespace gpu {

/// A stream of a device, which waits for its work when it goes out of scope. Its working memory stays for the next one.
template <GpuDevice D> class Stream {
  using R = typename D::Runtime;

public:
  /// throws: DeviceError, GpuError
  explicit Stream(const D& device) : device_{device}, state_{&state_of(device).borrow_stream()} {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    if (detail::process_is_ending) return;
    try {
      forget_stream(device_, handle());
    } catch (...) { // a device that failed runs nothing any more
    }
    state_of(device_).give_back_stream(*state_);
  }

  /// As the driver knows it; for `StreamGuard`.
  [[nodiscard]] typename R::Stream handle() const { return state_->queue.stream(); }
  /// Whose stream it is.
  [[nodiscard]] const D& device() const { return device_; }

private:
  D device_;
  StreamState<R>* state_;
};

}}} // namespace twill::v0::gpu
