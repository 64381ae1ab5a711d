// SPDX-License-Identifier: Apache-2.0
//
// Tensors and expressions among algorithms: sorting and selecting along axes, and ranges for the standard library.
// prints: best of each row: [9 8 7]
// prints: distinct: [1 2 3 4 5 6 7 8 9], of which 1 occurs 2 times
// prints: sum of squares of every second column: 136

#include <twill/twill.hpp>

#include <cstdio>
#include <iostream>
#include <numeric>

using namespace twill;

int main() {
  const auto scores = tensor({{3, 9, 1, 4}, {1, 5, 8, 2}, {6, 7, 5, 3}});

  const auto best = topk(scores, 1); // along the last axis, greatest first
  std::cout << "best of each row: " << best.values.squeeze<1>() << '\n';

  const auto found = unique_all(scores);
  std::cout << "distinct: " << found.values << ", of which " << found.values[0].item() << " occurs "
            << found.counts[0].item() << " times\n";

  // region: ranges
  // nothing is computed until an element is read
  const auto squares = lazy(square(scores(all, slice{.step = 2})));
  std::printf("sum of squares of every second column: %d\n", std::accumulate(begin(squares), end(squares), 0));
  // end region
}
