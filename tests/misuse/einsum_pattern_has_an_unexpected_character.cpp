// SPDX-License-Identifier: Apache-2.0
//
// A digit in a pattern.
// expect: einsum_pattern_has_an_unexpected_character
// expect: letter<'1'>

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<3, 4>>();
const auto b = zeros<float, Shape<4, 5>>();

#ifdef MISUSE
const Tensor c = einsum<"i1,1k->ik">(a, b);
#else
const Tensor c = einsum<"ij,jk->ik">(a, b);
#endif
