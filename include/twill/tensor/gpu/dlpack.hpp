#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// DLPack exchange between GPU streams without a waiting host: the consumer's stream waits for the producer's. A
// consumer passes its stream to `to_dlpack`, as a handle or as its number in Python; a producer's stream goes to
// `from_dlpack`. Returning memory needs no waiting: the work that the stream was given until then comes before the
// memory is reused. Read next: tensor/dlpack.hpp.

#include <twill/device/gpu/event.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/memory.hpp>
#include <twill/device/gpu/stream.hpp>
#include <twill/tensor/dlpack.hpp>

#include <bit>
#include <cstdint>

namespace twill { inline namespace v0 {

/// Shares the elements with a consumer that works on its own stream: that stream waits for the work so far of this
/// thread's stream of the device, and the memory is not reused, nor returned to its owner, before the work is done that
/// the consumer's stream has when the deleter runs.
/// throws: ValueError for a tensor without elements, GpuError    cost: one allocation, no waiting
template <dlpack::AnyManaged M = dlpack::ManagedVersioned, Scalar T, gpu::GpuDevice D, AnyShape S>
[[nodiscard]] dlpack::Owned<M> to_dlpack(const Tensor<T, D, S>& x, typename D::Runtime::Stream consumer) {
  detail::require_exportable(x);
  auto managed = detail::exported_to_dlpack<M>(x);
  record(x.device()).hold(consumer, x.device().index);
  memory::Buffer<D> storage = x.storage();
  storage.record_stream(gpu::StreamKey<typename D::Runtime>{consumer});
  return managed;
}

/// Shares the elements by the stream number used in Python: none and 1 for the driver's default stream, -1 for no order
/// at all, else the stream's handle. Without a number the host waits, because the consumer may not know streams.
/// throws: also ValueError for 0, which the protocol leaves open
template <dlpack::AnyManaged M = dlpack::ManagedVersioned, Scalar T, gpu::GpuDevice D, AnyShape S>
[[nodiscard]] dlpack::Owned<M> to_dlpack(const Tensor<T, D, S>& x, const dlpack::StreamNumber& stream) {
  using Stream = typename D::Runtime::Stream;
  static_assert(sizeof(Stream) == sizeof(std::int64_t), "twill: a stream's handle is the number that stands for it");
  if (!stream.number) return to_dlpack<M>(x);
  if (*stream.number == -1) return to_dlpack<M>(x, dlpack::unsynchronized);
  if (*stream.number < 1)
    throw ValueError(join_text({"to_dlpack: the consumer passed stream ", *stream.number,
                                "; DLPack allows -1, 1, 2 and handles, since 0 may mean two streams"}));
  return to_dlpack<M>(x, *stream.number == 1 ? Stream{} : std::bit_cast<Stream>(*stream.number));
}

/// A tensor that shares the elements of another library, whose work on `producer` may be unfinished: twill's stream of
/// this thread waits for it. throws: as without a stream, and GpuError; the managed tensor is the caller's then
template <class X, dlpack::AnyManaged M>
requires gpu::GpuDevice<typename X::device_type>
[[nodiscard]] X from_dlpack(M* managed, const typename X::device_type& device,
                            typename X::device_type::Runtime::Stream producer) {
  wait(device, gpu::Event<typename X::device_type::Runtime>{gpu::state_of(device), producer});
  return detail::tensor_from_dlpack<X>(managed, device);
}

}} // namespace twill::v0
