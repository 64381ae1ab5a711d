#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A loop of a traced function, and the same steps traced one after another, called alike: tests compare what is made of
// the one and of the other.

#include <twill/graph/scan.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/slice.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace twill::test {

struct Loop {
  template <std::size_t C, std::size_t I, class Body>
  constexpr auto operator()(const std::array<graph::Value, C>& initial, const std::array<graph::Value, I>& stacked,
                            const Body& body, graph::ScanOptions options = {}) const {
    return graph::scan(initial, stacked, body, options);
  }
};

struct OneByOne {
  template <std::size_t C, std::size_t I, class Body>
  auto operator()(std::array<graph::Value, C> carry, const std::array<graph::Value, I>& stacked, const Body& body,
                  graph::ScanOptions options = {}) const {
    std::int64_t steps = options.count.factor;
    if constexpr (I > 0) steps = stacked[0].shape()[0].factor;
    const auto at = [&](std::int64_t place) {
      std::array<graph::Value, I> elements{};
      for (std::size_t i = 0; i < I; ++i) {
        graph::Extents shape{};
        for (int axis = 1; axis < stacked[i].rank(); ++axis) shape.append(stacked[i].shape()[axis]);
        elements[i] = reshape(graph::slice_axis(stacked[i], 0, {.begin = place, .end = place + 1}), shape);
      }
      return std::apply(body, std::tuple_cat(carry, elements));
    };
    auto result = at(options.reversed ? steps - 1 : 0);
    std::vector<std::vector<graph::Value>> seen(result.results.size());
    for (std::int64_t step = 0; step < steps; ++step) {
      result = at(options.reversed ? steps - 1 - step : step);
      carry = result.carry;
      for (std::size_t k = 0; k < seen.size(); ++k)
        seen[k].insert(options.reversed ? seen[k].begin() : seen[k].end(), result.results[k]);
    }
    for (std::size_t k = 0; k < seen.size(); ++k) result.results[k] = graph::stack(seen[k]);
    return result;
  }
};

} // namespace twill::test
