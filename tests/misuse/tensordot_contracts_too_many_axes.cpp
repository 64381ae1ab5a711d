// SPDX-License-Identifier: Apache-2.0
//
// A contraction of three axes of matrices.
// expect: product_contracts_more_axes_than_an_operand_has
// expect: count<3>

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<3, 4>>();
const auto b = zeros<float, Shape<4, 5>>();

#ifdef MISUSE
const Tensor c = tensordot<3>(a, b);
#else
const Tensor c = tensordot<1>(a, b);
#endif
