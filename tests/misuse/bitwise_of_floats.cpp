// SPDX-License-Identifier: Apache-2.0
//
// A bitwise operation on floating numbers.
// expect: twill: bitwise operations take integers or booleans; convert the operand with cast<T>(x)

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<4>>();

#ifdef MISUSE
const Tensor c = a & 1;
#else
const Tensor c = cast<int>(a) & 1;
#endif
