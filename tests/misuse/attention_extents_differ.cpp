// SPDX-License-Identifier: Apache-2.0
//
// Queries of eight elements and keys of six.
// expect: attention_extents_differ

#include <twill/compile/function.hpp>
#include <twill/nn/attention.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto q = zeros<float, Shape<2, 5, 8>>();
const auto attend = [](auto a, auto b) { return nn::scaled_dot_product_attention(a, b, b); };

#ifdef MISUSE
const auto y = compiled(attend)(q, zeros<float, Shape<2, 5, 6>>());
#else
const auto y = compiled(attend)(q, zeros<float, Shape<2, 7, 8>>());
#endif
