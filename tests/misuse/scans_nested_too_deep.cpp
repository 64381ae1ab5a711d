// SPDX-License-Identifier: Apache-2.0
//
// More loops inside of each other than there may be.
// nvcc
// expect: scans_are_nested_more_than_4_deep

#include <twill/compile/function.hpp>
#include <twill/graph/scan.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;
using graph::Value;

const auto x = zeros<float, Shape<3>>();

template <int Depth> struct Nested {
  constexpr Value operator()(Value a) const {
    if constexpr (Depth == 0) {
      return sin(a);
    } else {
      const auto step = [](Value carry) { return graph::Step<1, 0>{{Nested<Depth - 1>{}(carry)}, {}}; };
      return graph::scan(std::array{a}, std::array<Value, 0>{}, step, {.count = {2, 0}}).carry[0];
    }
  }
};

#ifdef MISUSE
const auto y = compiled(Nested<5>{})(x);
#else
const auto y = compiled(Nested<4>{})(x);
#endif
