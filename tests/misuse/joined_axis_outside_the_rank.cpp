// SPDX-License-Identifier: Apache-2.0
//
// Joining matrices along a third axis.
// expect: axis_is_outside_the_rank
// expect: axis<2>
// expect: rank<2>

#include <twill/expr.hpp>

using namespace twill;

const auto a = zeros<float, Shape<2, 3>>();

#ifdef MISUSE
const auto c = concat<2>(a, a);
#else
const auto c = stack<2>(a, a);
#endif
