// SPDX-License-Identifier: Apache-2.0
//
// Squeezing an axis of extent 4.
// expect: squeezed_axis_must_have_extent_one
// expect: axis<1>
// expect: extent<4>

#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<1, 4>>();

#ifdef MISUSE
const auto c = a.squeeze<1>();
#else
const auto c = a.squeeze<0>();
#endif
