// SPDX-License-Identifier: Apache-2.0
//
// A tensor as a condition.
//
// expect: twill: a tensor of several elements, or of numbers, is no condition; reduce a comparison to one: if (all(x > 0))

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto x = ones<float, Shape<3>>();

#ifdef MISUSE
const int sign = x ? 1 : -1;
#else
const int sign = all(x > 0) ? 1 : -1;
#endif
