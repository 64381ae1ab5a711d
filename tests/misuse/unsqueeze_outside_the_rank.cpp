// SPDX-License-Identifier: Apache-2.0
//
// A new axis beyond the last one.
//
// expect: axis_is_outside_the_rank
// expect: axis<3>
// expect: rank<3>

#include <twill/tensor.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = x.unsqueeze<3>();
#else
const auto y = x.unsqueeze<2>();
#endif
