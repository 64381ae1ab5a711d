// SPDX-License-Identifier: Apache-2.0
//
// Batches of different numbers of examples.
// nvcc
// expect: vmap_arguments_have_different_extents
// expect: left<4>
// expect: right<3>

#include <twill/compile/vmap.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<4, 2>>();

#ifdef MISUSE
const auto w = zeros<float, Shape<3, 2>>();
#else
const auto w = zeros<float, Shape<4, 2>>();
#endif

const auto y = vmap([](auto a, auto b) { return sum(a * b); })(x, w);
