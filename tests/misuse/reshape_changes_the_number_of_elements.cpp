// SPDX-License-Identifier: Apache-2.0
//
// A tensor reshaped to a shape of another size.
// nvcc
// expect: reshape_changes_the_number_of_elements
// expect: left<12>
// expect: right<10>

#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = x.reshape<Shape<2, 5>>();
#else
const auto y = x.reshape<Shape<2, 6>>();
#endif
