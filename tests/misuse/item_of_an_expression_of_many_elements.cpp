// SPDX-License-Identifier: Apache-2.0
//
// The one element of a row of sums.
//
// expect: item_needs_exactly_one_element
// expect: elements<2>

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = ones<float, Shape<2, 3>>();
#ifdef MISUSE
const float y = sum<1>(a).item();
#else
const float y = sum(a).item();
#endif
