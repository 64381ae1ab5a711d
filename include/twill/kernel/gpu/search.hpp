#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Searches in sorted vectors on a GPU by bisection: of values, and of the bounds between which elements are counted.
// NaN counts as the greatest. Read next: algorithms/search.hpp.

#include <twill/kernel/gpu/sort.hpp>

#include <cstdint>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// The number of first elements that satisfy a condition which no later one satisfies.
template <class F> [[nodiscard]] constexpr std::int64_t partition_point(std::int64_t count, F&& holds) {
  std::int64_t first = 0;
  while (count > 0) {
    const std::int64_t middle = count / 2;
    if (holds(first + middle)) {
      first += middle + 1;
      count -= middle + 1;
    } else {
      count = middle;
    }
  }
  return first;
}

template <class T> struct SearchParameters {
  const T* sorted = nullptr;
  std::int64_t elements = 0;
  const T* values = nullptr;
  const double* edges = nullptr;
  std::int64_t* to = nullptr;
  std::int64_t count = 0;
};

/// Finds the place before all elements that are not less than a value, or after all that are not greater.
template <class T, bool IsRight> struct FindPlaces {
  static constexpr int most_threads = tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const SearchParameters<T>& p) const {
    each_below(block, p.count, [&](std::int64_t i) {
      const auto key = order_key<false>(p.values[i]);
      p.to[i] = partition_point(p.elements, [&](std::int64_t k) {
        const auto other = order_key<false>(p.sorted[k]);
        return IsRight ? other <= key : other < key;
      });
    });
  }
};

/// Counts the sorted integers that equal i.
template <class T> struct CountEqual {
  static constexpr int most_threads = tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const SearchParameters<T>& p) const {
    each_below(block, p.count, [&](std::int64_t i) {
      const auto up_to = [&](std::int64_t bound) {
        return partition_point(p.elements,
                               [&](std::int64_t k) { return static_cast<std::int64_t>(p.sorted[k]) <= bound; });
      };
      p.to[i] = up_to(i) - up_to(i - 1);
    });
  }
};

/// Counts the sorted elements between two edges; the last edge is included.
template <class T> struct CountBetween {
  static constexpr int most_threads = tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const SearchParameters<T>& p) const {
    each_below(block, p.count, [&](std::int64_t i) {
      const auto below = [&](double edge, bool with_edge) {
        return partition_point(p.elements, [&](std::int64_t k) {
          const auto value = static_cast<double>(p.sorted[k]);
          return value < edge || (with_edge && value == edge);
        });
      };
      p.to[i] = below(p.edges[i + 1], i + 1 == p.count) - below(p.edges[i], false);
    });
  }
};

namespace detail {
template <class T, class D, class Body> void search(const D& device, Body body, const SearchParameters<T>& p) {
  if (p.count == 0) return;
  launch(device, [&](const auto& queue) { enqueue(queue, body, one_thread_each(p.count), p); });
}
} // namespace detail

/// The places at which values would keep a sorted vector sorted.
template <bool IsRight, class T, class D>
void find_places(const D& device, const T* sorted, std::int64_t elements, const T* values, std::int64_t count,
                 std::int64_t* to) {
  detail::search(device, FindPlaces<T, IsRight>{}, SearchParameters<T>{sorted, elements, values, nullptr, to, count});
}
/// The counts of 0, 1, ..., count - 1 among sorted integers.
template <class T, class D>
void count_equal(const D& device, const T* sorted, std::int64_t elements, std::int64_t* to, std::int64_t count) {
  detail::search(device, CountEqual<T>{}, SearchParameters<T>{sorted, elements, nullptr, nullptr, to, count});
}
/// The number of sorted elements in each of `count` bins between edges.
template <class T, class D>
void count_between(const D& device, const T* sorted, std::int64_t elements, const double* edges, std::int64_t* to,
                   std::int64_t count) {
  detail::search(device, CountBetween<T>{}, SearchParameters<T>{sorted, elements, nullptr, edges, to, count});
}

}}}} // namespace twill::v0::kernel::gpu
