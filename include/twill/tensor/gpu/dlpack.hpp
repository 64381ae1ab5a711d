#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// DLPack between streams of a GPU, without a host that waits: the consumer's stream waits for the producer's. A consumer
// hands its stream to `to_dlpack`; a producer's stream goes to `from_dlpack`. Read next: tensor/dlpack.hpp.

#include <twill/device/gpu/event.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/memory.hpp>
#include <twill/device/gpu/stream.hpp>
#include <twill/tensor/dlpack.hpp>

namespace twill::inline v0 {

/// Shares the elements with a consumer that works on a stream of its own: that stream waits for twill's work on the device so
/// far, and the memory is not used again before the stream's work until the deleter ran is done.
/// throws: ValueError for a tensor without elements, GpuError    cost: one allocation, nobody waits
template <dlpack::AnyManaged M = dlpack::ManagedVersioned, Scalar T, gpu::GpuDevice D, AnyShape S>
[[nodiscard]] dlpack::Owned<M> to_dlpack(const Tensor<T, D, S>& x, typename D::Runtime::Stream consumer) {
  detail::require_exportable(x);
  auto managed = detail::exported_to_dlpack<M>(x);
  record(x.device()).hold(consumer, x.device().index);
  memory::Buffer<D> storage = x.storage();
  storage.record_stream(gpu::StreamKey<typename D::Runtime>{consumer});
  return managed;
}

/// A tensor that shares the elements of another library, whose work on `producer` may still be under way: twill's stream of
/// this thread waits for it. throws: as without a stream, and GpuError; the managed tensor is the caller's then
template <class X, dlpack::AnyManaged M>
requires gpu::GpuDevice<typename X::device_type>
[[nodiscard]] X from_dlpack(M* managed, const typename X::device_type& device,
                            typename X::device_type::Runtime::Stream producer) {
  wait(device, gpu::Event<typename X::device_type::Runtime>{gpu::state_of(device), producer});
  return detail::tensor_from_dlpack<X>(managed, device);
}

} // namespace twill::inline v0
