// SPDX-License-Identifier: Apache-2.0
//
// The neighbour of a half.
// expect: twill: nextafter and spacing take float or double; convert the operand with cast<float>(x)

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<half, Shape<4>>();

#ifdef MISUSE
const Tensor c = nextafter(a, 1);
#else
const Tensor c = nextafter(cast<float>(a), 1);
#endif
