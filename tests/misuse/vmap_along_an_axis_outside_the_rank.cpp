// SPDX-License-Identifier: Apache-2.0
//
// A batch along an axis that the argument does not have.
// nvcc
// expect: axis_is_outside_the_rank
// expect: axis<2>
// expect: rank<2>

#include <twill/compile/vmap.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<4, 2>>();

#ifdef MISUSE
const auto y = vmap<2>([](auto a) { return sum(a); })(x);
#else
const auto y = vmap<1>([](auto a) { return sum(a); })(x);
#endif
