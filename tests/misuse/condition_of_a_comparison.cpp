// SPDX-License-Identifier: Apache-2.0
//
// A comparison of tensors, which has an element for each of theirs, as a condition.
//
// expect: twill: an expression of several elements, or of numbers, is no condition; reduce a comparison to one: if (all(x > 0))

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto x = ones<float, Shape<3>>();
const auto y = ones<float, Shape<3>>();

#ifdef MISUSE
const bool same = x == y ? true : false;
#else
const bool same = all(x == y) ? true : false;
#endif
