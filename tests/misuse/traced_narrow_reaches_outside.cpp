// SPDX-License-Identifier: Apache-2.0
//
// A part of an axis that reaches beyond its end.
// expect: slice_reaches_outside_of_the_axis

#include <twill/compile/function.hpp>
#include <twill/ops/slice.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled([](auto v) { return graph::narrow(v, 1, 2, 3); })(x);
#else
const auto y = compiled([](auto v) { return graph::narrow(v, 1, 2, 2); })(x);
#endif
