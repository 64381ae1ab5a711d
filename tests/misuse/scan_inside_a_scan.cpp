// SPDX-License-Identifier: Apache-2.0
//
// A loop in the body of a loop.
// nvcc
// expect: scan_inside_the_body_of_a_scan

#include <twill/compile/function.hpp>
#include <twill/graph/scan.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;
using graph::Value;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled([](Value a) {
  const auto total = [](Value rows) {
    return graph::scan(std::array{sum(rows)}, std::array{rows},
                       [](Value carry, Value row) {
                         return graph::Step<1, 0>{{carry * sum(row)}, {}};
                       })
        .carry[0];
  };
  return graph::scan(std::array{a}, std::array{a},
                     [&](Value carry, Value row) {
                       return graph::Step<1, 0>{{carry + row * total(carry)}, {}};
                     })
      .carry[0];
})(x);
#else
const auto y = compiled([](Value a) {
  const auto total = [](Value rows) { return sum(rows); };
  return graph::scan(std::array{a}, std::array{a},
                     [&](Value carry, Value row) {
                       return graph::Step<1, 0>{{carry + row * total(carry)}, {}};
                     })
      .carry[0];
})(x);
#endif
