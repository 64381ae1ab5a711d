// SPDX-License-Identifier: Apache-2.0
//
// A shift of floating numbers.
// expect: twill: this operation takes integers; convert the operand with cast<T>(x)

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<4>>();

#ifdef MISUSE
const Tensor c = a << 1;
#else
const Tensor c = cast<int>(a) << 1;
#endif
