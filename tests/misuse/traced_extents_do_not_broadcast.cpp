// SPDX-License-Identifier: Apache-2.0
//
// Operands inside a traced function whose extents neither agree nor are one.
// nvcc
// expect: broadcast_extents_differ
// expect: left<4>
// expect: right<3>

#include <twill/compile/function.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled([](auto a, auto b) { return a + b; })(x, zeros<float, Shape<3>>());
#else
const auto y = compiled([](auto a, auto b) { return a + b; })(x, zeros<float, Shape<4>>());
#endif
