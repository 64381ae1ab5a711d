#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tensors of any kind of device and element type as plain numbers, for tests that compare them.

#include <twill/tensor/access.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace twill::test {

/// The elements in row-major order, as numbers of one type.
template <class Number = double, class X> std::vector<Number> numbers(const X& x) {
  std::vector<Number> result;
  for (const auto value : to_vector(x)) result.push_back(static_cast<Number>(value));
  return result;
}

/// The largest absolute difference of two equally long lists. NaN counts as far away.
inline double largest_difference(const std::vector<double>& left, const std::vector<double>& right) {
  REQUIRE(left.size() == right.size());
  double largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double difference = std::abs(left[i] - right[i]);
    largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
  }
  return largest;
}

} // namespace twill::test
