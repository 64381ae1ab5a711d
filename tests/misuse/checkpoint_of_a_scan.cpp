// SPDX-License-Identifier: Apache-2.0
//
// A loop inside of a part that is to be computed again.
// nvcc
// expect: checkpoint_of_a_scan

#include <twill/compile/function.hpp>
#include <twill/graph/checkpoint.hpp>
#include <twill/graph/scan.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;
using graph::Value;

const auto x = zeros<float, Shape<3, 4>>();

constexpr auto total = [](Value rows) {
  return graph::scan(std::array{sum(rows)}, std::array{rows},
                     [](Value carry, Value row) {
                       return graph::Step<1, 0>{{carry * sum(row)}, {}};
                     })
      .carry[0];
};

#ifdef MISUSE
const auto y = grad([](Value a) { return checkpoint(total)(a); })(x);
#else
const auto y = grad([](Value a) { return total(a); })(x);
#endif
