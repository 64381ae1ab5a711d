#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What a reduction over some axes combines, found by a loop over all elements: the reference of the tests of reductions,
// statistics, norms and quantiles.

#include "tests/support/numbers.hpp"

#include <twill/expr/reduced.hpp>
#include <twill/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace twill::test {

/// Groups of elements that a reduction over the axes of a mask combines, in row-major order of the result.
inline std::vector<std::vector<double>> axis_groups(const std::vector<double>& values, const Dims& shape,
                                                    unsigned mask) {
  const Dims kept = expr::reduced_dims(shape, mask, expr::Rest::dropped);
  std::vector<std::vector<double>> result(static_cast<std::size_t>(kept.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i);
    std::int64_t group = 0;
    std::int64_t weight = 1;
    for (int axis = shape.rank - 1; axis >= 0; --axis) {
      if ((mask >> axis & 1U) == 0) {
        group += rest % shape[axis] * weight;
        weight *= shape[axis];
      }
      rest /= shape[axis];
    }
    result[static_cast<std::size_t>(group)].push_back(values[i]);
  }
  return result;
}
template <class X> std::vector<std::vector<double>> axis_groups(const X& x, unsigned mask) {
  return axis_groups(numbers(x), x.shape(), mask);
}

/// The values of a reduction, computed by a function of each group.
template <class F> std::vector<double> reduced_by(const std::vector<std::vector<double>>& groups, F function) {
  std::vector<double> result;
  for (const std::vector<double>& group : groups) result.push_back(function(group));
  return result;
}

} // namespace twill::test
