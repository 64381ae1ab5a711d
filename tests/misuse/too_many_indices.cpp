// SPDX-License-Identifier: Apache-2.0
//
// More indices than the tensor has axes.
// expect: too_many_indices
// expect: count<3>
// expect: rank<2>

#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = x(0, 1, 2);
#else
const auto y = x(0, 1);
#endif
