// SPDX-License-Identifier: Apache-2.0
//
// A step that returns a carry of another element type.
// nvcc
// expect: scan_carry_changes_its_dtype

#include <twill/compile/function.hpp>
#include <twill/graph/scan.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;
using graph::Value;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled([](Value a) {
  return graph::scan(std::array{a}, std::array{a},
                     [](Value carry, Value row) {
                       return graph::Step<1, 0>{{cast(carry + row, DType::float64)}, {}};
                     })
      .carry[0];
})(x);
#else
const auto y = compiled([](Value a) {
  return graph::scan(std::array{a}, std::array{a},
                     [](Value carry, Value row) {
                       return graph::Step<1, 0>{{cast(carry + row, DType::float32)}, {}};
                     })
      .carry[0];
})(x);
#endif
