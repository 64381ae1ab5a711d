#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Batches on their way to a GPU: workers fill pinned memory, and the copy is work of the GPU's stream, for which nobody
// waits. The memory of a batch that is gone serves the next one when its copy is done. Read next: memory/gpu/pinned.hpp.

#include <twill/data/staging.hpp>
#include <twill/device/gpu/event.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/stream.hpp>
#include <twill/memory/gpu/pinned.hpp>

#include <cstddef>

namespace twill::inline v0::data {

template <gpu::GpuDevice D> struct Staging<D> {
  using R = typename D::Runtime;

  template <class T> class Field {
  public:
    Field() = default;
    explicit Field(std::size_t count) : memory_{memory::PinnedPool<R>::get().allocate(Cpu{}, count * sizeof(T))} {}
    [[nodiscard]] T* data() const { return static_cast<T*>(memory_.data()); }

  private:
    memory::Buffer<Cpu> memory_{};
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

} // namespace twill::inline v0::data
