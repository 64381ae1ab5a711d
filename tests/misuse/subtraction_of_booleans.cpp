// SPDX-License-Identifier: Apache-2.0
//
// A difference of truth values.
// expect: twill: this operation has no meaning for booleans; convert the operand with cast<T>(x)

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<bool, Shape<4>>();

#ifdef MISUSE
const Tensor c = a - a;
#else
const Tensor c = cast<int>(a) - a;
#endif
