#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Runs of equal elements in a sorted vector on a GPU: the start and length of each, and the run of each element. All
// NaN are equal here. Read next: algorithms/unique.hpp.

#include <twill/kernel/gpu/select.hpp>
#include <twill/kernel/gpu/sort.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// Flag of a sorted element that differs from the one before it.
template <class T> struct BeginsRun {
  const T* sorted = nullptr;
  constexpr bool operator()(std::int64_t i) const {
    return i == 0 || order_key<false>(sorted[i]) != order_key<false>(sorted[i - 1]);
  }
};

/// Arrays of the runs and their properties.
template <class T> struct Runs {
  const T* sorted = nullptr;
  const std::int64_t* order = nullptr; ///< the original index of each sorted element
  std::int64_t elements = 0;
  std::int64_t count = 0;
  T* values = nullptr;
  std::int64_t* starts = nullptr;  ///< null: the following are not wanted
  std::int64_t* indices = nullptr; ///< of the first element of a run, before the sort
  std::int64_t* lengths = nullptr;
  std::int64_t* inverse = nullptr; ///< the run of each element, in the order before the sort
};

template <class T> struct RunWriter {
  Runs<T> runs{};
  constexpr void operator()(std::int64_t number, std::int64_t i) const {
    runs.values[number] = runs.sorted[i];
    if (runs.starts == nullptr) return;
    runs.starts[number] = i;
    runs.indices[number] = runs.order[i];
  }
};

/// Finds the lengths of runs, and the run of each element.
template <class T> struct FinishRuns {
  static constexpr int most_threads = tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const Runs<T>& p) const {
    each_below(block, p.elements, [&](std::int64_t i) {
      if (i < p.count) p.lengths[i] = (i + 1 < p.count ? p.starts[i + 1] : p.elements) - p.starts[i];
      std::int64_t first = 0; // the last run that begins at i or before
      for (std::int64_t count = p.count; count > 1;) {
        const std::int64_t middle = count / 2;
        if (p.starts[first + middle] <= i) first += middle;
        count -= middle;
      }
      p.inverse[p.order[i]] = first;
    });
  }
};

/// Counts the runs of a sorted vector, which `write_runs` then writes.
template <class T, class D>
[[nodiscard]] Counted<D, BeginsRun<T>> counted_runs(const D& device, const T* sorted, std::int64_t elements) {
  return {device, elements, BeginsRun<T>{sorted}};
}

/// Writes the value of each run.
template <class T, class D>
void write_values_of_runs(const Counted<D, BeginsRun<T>>& counted, const T* sorted, T* values) {
  counted.write(RunWriter<T>{{.sorted = sorted, .values = values}});
}
/// Writes the properties of `found` runs of elements whose indices before the sort were `order`.
template <class T, class D>
void write_runs(const Counted<D, BeginsRun<T>>& counted, const D& device, const T* sorted, const std::int64_t* order,
                std::int64_t elements, std::int64_t found, T* values, std::int64_t* starts, std::int64_t* indices,
                std::int64_t* lengths, std::int64_t* inverse) {
  if (elements == 0) return;
  const Runs<T> runs{sorted, order, elements, found, values, starts, indices, lengths, inverse};
  counted.write(RunWriter<T>{runs});
  launch(device, [&](const auto& queue) { enqueue(queue, FinishRuns<T>{}, one_thread_each(elements), runs); });
}

}}}} // namespace twill::v0::kernel::gpu
