// SPDX-License-Identifier: Apache-2.0
//
// A pattern of two operands, and three of them.
// expect: einsum_pattern_has_another_number_of_operands
// expect: left<2>
// expect: right<3>

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<3, 4>>();
const auto b = zeros<float, Shape<4, 5>>();

#ifdef MISUSE
const Tensor c = einsum<"ij,jk->ik">(a, b, b);
#else
const Tensor c = einsum<"ij,jk,jk->ik">(a, b, b);
#endif
