// SPDX-License-Identifier: Apache-2.0
//
// Cutting five columns into two equal parts.
// expect: sections_do_not_divide_the_axis
// expect: count<2>
// expect: extent<5>

#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<4, 5>>();

#ifdef MISUSE
const auto c = split<1, 2>(a);
#else
const auto c = split<0, 2>(a);
#endif
