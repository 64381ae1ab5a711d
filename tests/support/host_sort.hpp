#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Long sorts of devices without CUB: a launch in which one thread sorts all elements by the standard library, for the emulated GPU
// and the queues of the tests of single bodies. Read next: kernel/gpu/radix.hpp, kernel/cuda/radix.cuh.

#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/gpu/radix.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// Body in which one thread sorts all elements.
template <class Key> struct HostSort {
  static constexpr int most_threads = 1;

  template <class Block> void operator()(const Block& block, const RadixParameters<Key>& p) const {
    block.each([&](int) {
      const Key mask = p.bits == 8 * sizeof(Key) ? ~Key{0} : (Key{1} << p.bits) - 1;
      std::vector<std::pair<Key, std::uint32_t>> elements(static_cast<std::size_t>(p.count));
      for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = {p.keys[i], p.values[i]};
      std::stable_sort(elements.begin(), elements.end(),
                       [&](const auto& a, const auto& b) { return (a.first & mask) < (b.first & mask); });
      for (std::size_t i = 0; i < elements.size(); ++i) {
        p.to_keys[i] = elements[i].first;
        p.to_values[i] = elements[i].second;
      }
    });
  }
};

template <class Key, class Queue>
requires std::unsigned_integral<Key>
int enqueue_radix_sort(const Queue& queue, const RadixBuffers<Key>& buffers, const RadixRoom&, std::int64_t count,
                       int bits, int from) {
  if (bits == 0) return from;
  const RadixParameters<Key> all{.keys = buffers.keys[from],
                                 .to_keys = buffers.keys[1 - from],
                                 .values = buffers.values[from],
                                 .to_values = buffers.values[1 - from],
                                 .count = count,
                                 .bits = bits};
  enqueue(queue, HostSort<Key>{}, twill::gpu::LaunchShape{1, 1, 0}, all);
  return 1 - from;
}

}}}} // namespace twill::v0::kernel::gpu
