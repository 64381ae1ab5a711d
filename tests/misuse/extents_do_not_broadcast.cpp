// SPDX-License-Identifier: Apache-2.0
//
// Operands of an expression whose extents neither agree nor are one.
// nvcc
// expect: broadcast_extents_differ
// expect: left<4>
// expect: right<3>

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto x = ones<float, Shape<2, 4>>();
#ifdef MISUSE
const Tensor y = x + ones<float, Shape<3>>();
#else
const Tensor y = x + ones<float, Shape<4>>();
#endif
