// SPDX-License-Identifier: Apache-2.0
//
// A permutation that leaves an axis out.
// expect: permutation_must_name_each_axis_once

#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = x.permute<0, 0>();
#else
const auto y = x.permute<1, 0>();
#endif
