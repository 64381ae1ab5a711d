#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Draws by rejection on a GPU, one thread for each element. Read next: kernel/distributions.hpp.

#include <twill/device/generator.hpp>
#include <twill/kernel/distributions.hpp>
#include <twill/kernel/gpu/tile.hpp>
#include <twill/kernel/on_queue.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

template <class T, class Law> struct DrawParameters {
  T* to = nullptr;
  std::int64_t count = 0;
  RandomDraw draw{};
  Law law{};
};

template <class T, class Law> struct DrawElements {
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const DrawParameters<T, Law>& p) const {
    each_below(block, p.count, [&](std::int64_t i) {
      ElementDraws draws{p.draw.seed, p.draw.step, static_cast<std::uint64_t>(i)};
      p.to[i] = static_cast<T>(p.law(draws, i));
    });
  }
};

template <class Law, class T, class D>
void draw_elements(const D& device, T* to, std::int64_t count, RandomDraw draw, const Law& law) {
  if (count == 0) return;
  launch(device, [&](const auto& queue) {
    enqueue(queue, DrawElements<T, Law>{}, one_thread_each(count), DrawParameters<T, Law>{to, count, draw, law});
  });
}

}}}} // namespace twill::v0::kernel::gpu
