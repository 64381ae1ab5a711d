// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of floats of 8 bits.
// expect: twill: floats of 8 bits are stored, not computed with; convert the operand with cast<float>(x)

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto x = zeros<float8_e4m3fn, Shape<4>>();

#ifdef MISUSE
const Tensor c = x + 1.0;
#else
const Tensor c = cast<float>(x) + 1.0;
#endif
