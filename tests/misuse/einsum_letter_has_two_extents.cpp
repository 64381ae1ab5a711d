// SPDX-License-Identifier: Apache-2.0
//
// One letter on axes of different extents.
// expect: einsum_letter_has_two_extents
// expect: letter<'j'>
// expect: left<4>
// expect: right<5>

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<3, 4>>();
const auto b = zeros<float, Shape<4, 5>>();

#ifdef MISUSE
const Tensor c = einsum<"ij,kj->ik">(a, b);
#else
const Tensor c = einsum<"ij,jk->ik">(a, b);
#endif
