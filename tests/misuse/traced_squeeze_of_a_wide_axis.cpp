// SPDX-License-Identifier: Apache-2.0
//
// An axis of more than one element, dropped in a traced function.
//
// expect: squeezed_axis_must_have_extent_one
// expect: axis<1>
// expect: extent<4>

#include <twill/compile/function.hpp>
#include <twill/graph/functions.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled([](auto a) { return squeeze(a, 1); })(x);
#else
const auto y = compiled([](auto a) { return squeeze(a, 1); })(zeros<float, Shape<3, 1>>());
#endif
