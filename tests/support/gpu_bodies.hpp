#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Small kernels for tests of what is around kernels: streams, copies, graphs. They take a number of ints each, whatever the
// grid.

#include <twill/device/gpu/queue.hpp>

#include <cstdint>

namespace twill::test {

struct Ints {
  int* to = nullptr;
  const int* from = nullptr;
  int count = 0;
  int value = 0;
};

/// Calls f(i) for each of the numbers, spread over the grid.
template <class Block, class F> constexpr void for_each_int(const Block& block, const Ints& ints, F f) {
  block.each([&](int thread) {
    for (int i = block.block() * block.threads() + thread; i < ints.count; i += block.blocks() * block.threads()) f(i);
  });
}

/// to = value
struct FillInts {
  static constexpr int most_threads = 128;
  template <class Block> constexpr void operator()(const Block& block, const Ints& ints) const {
    for_each_int(block, ints, [&](int i) { ints.to[i] = ints.value; });
  }
};

/// to += value
struct AddToInts {
  static constexpr int most_threads = 128;
  template <class Block> constexpr void operator()(const Block& block, const Ints& ints) const {
    for_each_int(block, ints, [&](int i) { ints.to[i] += ints.value; });
  }
};

/// to = 3 * from + value, modulo 1009
struct MixInts {
  static constexpr int most_threads = 128;
  template <class Block> constexpr void operator()(const Block& block, const Ints& ints) const {
    for_each_int(block, ints, [&](int i) { ints.to[i] = (3 * ints.from[i] + ints.value) % 1009; });
  }
};

/// Launches one of them.
template <class D, class Body> void start(const D& device, Body body, const Ints& ints) {
  launch(device, [&](const auto& queue) { enqueue(queue, body, gpu::LaunchShape{.blocks = 3, .threads = 128}, ints); });
}

} // namespace twill::test
