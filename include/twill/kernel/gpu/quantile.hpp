#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Quantiles of rows on a GPU: the rows are sorted, and each result is read between two of their elements. NaN is sorted
// after all numbers, so a row that ends with a number has none. Read next: kernel/gpu/sort.hpp.

#include <twill/kernel/gpu/sort.hpp>
#include <twill/kernel/on_queue.hpp>
#include <twill/kernel/quantile.hpp>
#include <twill/memory/buffer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

template <class T, class To> struct QuantileParameters {
  static constexpr int most_places = 64;
  const T* rows = nullptr;
  const std::uint32_t* order = nullptr;
  To* to = nullptr;
  std::int64_t count = 0;
  std::int64_t length = 0;
  int places = 0;
  QuantilePlace place[most_places]{};
};

/// Body in which a thread reads one quantile of one row.
template <class T, class To> struct ReadQuantiles {
  static constexpr int most_threads = tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const QuantileParameters<T, To>& p) const {
    each_below(block, p.places * p.count, [&](std::int64_t i) {
      const T* const row = p.rows + i % p.count * p.length;
      const std::uint32_t* const order = p.order + i % p.count * p.length;
      double value = std::numeric_limits<double>::quiet_NaN();
      if (p.length > 0 && !(row[order[p.length - 1]] != row[order[p.length - 1]])) {
        const QuantilePlace at = p.place[i / p.count];
        value = static_cast<double>(row[order[at.below]]);
        if (at.above != at.below) value = between(value, static_cast<double>(row[order[at.above]]), at.fraction);
      }
      p.to[i] = static_cast<To>(value);
    });
  }
};

/// Quantiles of rows that follow one another: `to` holds all rows' first quantile, then their second, and so on.
/// throws: ValueError (rows of 2^32 elements or more), OutOfMemoryError
template <class T, class To, class D>
void select_rows(const D& device, const T* rows, std::int64_t count, std::int64_t length, const QuantilePlace* places,
                 std::int64_t quantiles, To* to) {
  if (count * quantiles == 0) return;
  const memory::Buffer<D> memory(device, static_cast<std::size_t>(count * length) * sizeof(std::uint32_t));
  auto* const order = static_cast<std::uint32_t*>(memory.data());
  order_rows<false>(device, SortParameters<T>{rows, order, count, length});
  QuantileParameters<T, To> p{.rows = rows, .order = order, .count = count, .length = length};
  for (std::int64_t first = 0; first < quantiles; first += p.most_places) {
    p.places = static_cast<int>(std::min<std::int64_t>(p.most_places, quantiles - first));
    p.to = to + first * count;
    std::copy(places + first, places + first + p.places, p.place);
    launch(device,
           [&](const auto& queue) { enqueue(queue, ReadQuantiles<T, To>{}, one_thread_each(p.places * count), p); });
  }
}

}}}} // namespace twill::v0::kernel::gpu
