#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Batches copied to a GPU on a stream of their own, by hand: what a loader with a device `Cuda{0}` does by itself. 05_gpu.cu calls
// it where there is a GPU, tests/gpu/tensors.suite.hpp on an emulated one.

#include <twill/expr.hpp>
#include <twill/memory/gpu/stream.hpp>
#include <twill/tensor.hpp>
#include <twill/tensor/gpu/pin_memory.hpp>

#include <vector>

namespace examples {

using namespace twill;

// region: copies
/// The sum of all batches: each is copied while the GPU is at work on those before.
template <gpu::GpuDevice D> float sum_of(const std::vector<Tensor<float, Cpu, Shape<dyn>>>& batches, D device) {
  const gpu::Stream<D> copying{device};
  Tensor total = zeros<float, Shape<>>(device);
  for (const auto& batch : batches) {
    const Tensor staged = pin_memory<D>(batch);
    Tensor<float, D, Shape<dyn>> x{};
    typename D::Event copied{};
    {
      const StreamGuard<D> guard{device, copying.handle()};
      x = staged.to(device, {.non_blocking = true});
      copied = record(device);
    }
    wait(device, copied); // the device's own stream does, the program goes on
    memory::Buffer<D> storage = x.storage();
    storage.record_stream(current_queue(device).stream()); // which will read this memory
    total = eval(total + sum(x));
  }
  return total.item();
}
// end region

} // namespace examples
