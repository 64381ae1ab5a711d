// SPDX-License-Identifier: Apache-2.0
//
// A mask of six keys for seven.
// expect: attention_mask_does_not_fit_the_scores

#include <twill/compile/function.hpp>
#include <twill/nn/attention.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto some_queries = zeros<float, Shape<2, 5, 8>>();
const auto some_keys = zeros<float, Shape<2, 7, 8>>();
const auto attend = [](auto a, auto b, auto mask) {
  return nn::scaled_dot_product_attention(a, b, b, {.mask = mask, .form = nn::AttentionForm::streamed});
};

#ifdef MISUSE
const auto attended = compiled(attend)(some_queries, some_keys, zeros<float, Shape<5, 6>>());
#else
const auto attended = compiled(attend)(some_queries, some_keys, zeros<float, Shape<5, 7>>());
#endif
