// SPDX-License-Identifier: Apache-2.0
//
// Putting a matrix of three columns above one of four.
// expect: joined_tensors_differ_in_another_axis
// expect: axis<1>
// expect: left<3>
// expect: right<4>

#include <twill/expr.hpp>

using namespace twill;

const auto a = zeros<float, Shape<2, 3>>();
const auto b = zeros<float, Shape<5, 4>>();

#ifdef MISUSE
const auto c = concat<0>(a, b);
#else
const auto c = concat<0>(a, narrow<1, 3>(b, 0));
#endif
