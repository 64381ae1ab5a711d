// SPDX-License-Identifier: Apache-2.0
//
// A result that names a letter twice.
// expect: einsum_output_names_a_letter_twice
// expect: letter<'i'>

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<3, 4>>();
const auto b = zeros<float, Shape<4, 5>>();

#ifdef MISUSE
const Tensor c = einsum<"ij,jk->ii">(a, b);
#else
const Tensor c = einsum<"ij,jk->ik">(a, b);
#endif
