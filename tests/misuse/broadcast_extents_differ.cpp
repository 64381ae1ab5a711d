// SPDX-License-Identifier: Apache-2.0
//
// A product of shapes that do not broadcast.
// nvcc
// expect: broadcast_extents_differ
// expect: left<4>
// expect: right<5>

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<2, 4>>();
const auto b = zeros<float, Shape<5>>();

#ifdef MISUSE
const Tensor c = a * b;
#else
const Tensor c = a * zeros<float, Shape<4>>();
#endif
