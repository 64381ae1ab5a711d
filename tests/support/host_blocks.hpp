#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Lets a host device run the kernel bodies of GPUs, block by block in the calling thread: tests of single bodies need no
// emulated driver. Shared memory is full of garbage, and asking for more than a GPU has fails.

#include <tests/support/host_block.hpp>

#include <twill/device/device.hpp>
#include <twill/device/gpu/queue.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

template <class Body, class Parameters>
void enqueue(const Team&, Body body, const twill::gpu::LaunchShape& shape, const Parameters& parameters) {
  if (shape.blocks == 0 || shape.threads == 0 || shape.threads > static_cast<unsigned>(Body::most_threads) ||
      shape.shared_bytes > (48U << 10))
    throw std::logic_error("a GPU would refuse this launch");
  const std::size_t units = shape.shared_bytes / sizeof(std::max_align_t) + 1;
  const auto shared = std::make_unique<std::max_align_t[]>(units);
  for (unsigned block = 0; block < shape.blocks; ++block) {
    std::memset(static_cast<void*>(shared.get()), 0xa5, units * sizeof(std::max_align_t));
    body(test::HostBlock(static_cast<int>(block), static_cast<int>(shape.blocks), static_cast<int>(shape.threads),
                         reinterpret_cast<std::byte*>(shared.get())),
         parameters);
  }
}

}}}} // namespace twill::v0::kernel::gpu
