// SPDX-License-Identifier: Apache-2.0
//
// A result with a letter that no operand has.
// nvcc
// expect: einsum_output_letter_is_in_no_operand
// expect: letter<'z'>

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<3, 4>>();
const auto b = zeros<float, Shape<4, 5>>();

#ifdef MISUSE
const Tensor c = einsum<"ij,jk->iz">(a, b);
#else
const Tensor c = einsum<"ij,jk->ik">(a, b);
#endif
