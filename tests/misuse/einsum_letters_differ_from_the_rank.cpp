// SPDX-License-Identifier: Apache-2.0
//
// Three letters for a matrix.
// expect: einsum_letters_differ_from_the_rank
// expect: count<3>
// expect: rank<2>

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<3, 4>>();
const auto b = zeros<float, Shape<4, 5>>();

#ifdef MISUSE
const Tensor c = einsum<"bij,jk->ik">(a, b);
#else
const Tensor c = einsum<"ij,jk->ik">(a, b);
#endif
