// SPDX-License-Identifier: Apache-2.0
//
// item() of a tensor that has more than one element.
// expect: item_needs_exactly_one_element
// expect: elements<12>

#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const float y = x.item();
#else
const float y = x(0, 1).item();
#endif
