// SPDX-License-Identifier: Apache-2.0
//
// Tensors of different shapes on one new axis.
//
// expect: left<3>
// expect: left

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<3>>();
const auto b = zeros<float, Shape<4>>();

#ifdef MISUSE
const Tensor c = stack(a, b);
#else
const Tensor c = stack(a, a);
#endif
