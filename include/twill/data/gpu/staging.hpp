#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Staging of batches for a GPU: workers fill pinned memory, which is copied on a stream of its own, beside the work on
// the batch before. A program asks for a batch when it has submitted that work, not when it is done; its stream waits
// for the copy, the program does not. The host memory of a batch serves the next one when its copy is done. Read next:
// memory/gpu/pinned.hpp.

#include <twill/data/staging.hpp>
#include <twill/device/gpu/event.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/stream.hpp>
#include <twill/memory/gpu/pinned.hpp>

#include <cstddef>

namespace twill { inline namespace v0 { namespace data {

template <gpu::GpuDevice D> struct Staging<D> {
  using R = typename D::Runtime;

  /// Work on the last batch is still to run when the next one is copied.
  static constexpr bool keeps_last_batch = true;

  template <class T> class Field {
  public:
    Field() = default;
    explicit Field(std::size_t count) : memory_{memory::PinnedPool<R>::get().allocate(Cpu{}, count * sizeof(T))} {}
    [[nodiscard]] T* data() const { return static_cast<T*>(memory_.data()); }

  private:
    memory::Buffer<Cpu> memory_{};
  };

  /// A scope in which tensors of the device belong to the stream of arrivals, so that no earlier work uses their
  /// memory.
  class Arrival {
  public:
    /// throws: CaptureError while this thread records a graph, which would copy the same host memory at each launch,
    /// GpuError
    explicit Arrival(const D& device)
        : device_{device},
          consumer_{consumer_of(device)},
          guard_{device, gpu::state_of(device).loading_stream().queue.stream()} {}

    /// Work on the stream that this thread was on comes after all copies so far, and may use the tensors. throws:
    /// GpuError
    template <class... X> void hand_over(const X&... tensors) {
      record(device_).hold(consumer_, device_.index);
      const auto tell = [this](memory::Buffer<D> storage) { storage.record_stream(consumer_); };
      (tell(tensors.storage()), ...);
    }

  private:
    [[nodiscard]] static typename R::Stream consumer_of(const D& device) {
      gpu::require_no_recording<R>("DataLoader", device.index);
      return gpu::current_stream(gpu::state_of(device)).queue.stream();
    }

    D device_;
    typename R::Stream consumer_;
    StreamGuard<D> guard_;
  };

  /// The field may go when this returns: its memory knows of the copy. throws: GpuError
  static void copy(const D& device, void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    auto& state = gpu::state_of(device);
    const auto stream = gpu::current_stream(state).queue.stream();
    const gpu::Using<R> scope{device.index};
    gpu::check<R>(R::copy(to, from, bytes, stream), "copy", device.index);
    static_cast<void>(memory::PinnedPool<R>::get().note_use(from, gpu::Event<R>{state, stream}));
  }
};

}}} // namespace twill::v0::data
