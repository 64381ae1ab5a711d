// SPDX-License-Identifier: Apache-2.0
//
// Stacked inputs with different numbers of steps.
// nvcc
// expect: scan_inputs_have_different_numbers_of_steps

#include <twill/compile/function.hpp>
#include <twill/graph/scan.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;
using graph::Value;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled([](Value a) {
  return graph::scan(std::array{sum(a)}, std::array{a, transpose(a)},
                     [](Value carry, Value p, Value q) {
                       return graph::Step<1, 0>{{carry + sum(p) + sum(q)}, {}};
                     })
      .carry[0];
})(x);
#else
const auto y = compiled([](Value a) {
  return graph::scan(std::array{sum(a)}, std::array{a, a},
                     [](Value carry, Value p, Value q) {
                       return graph::Step<1, 0>{{carry + sum(p) + sum(q)}, {}};
                     })
      .carry[0];
})(x);
#endif
