// SPDX-License-Identifier: Apache-2.0
//
// Binary cross entropy of probabilities that are stored in half precision.
// expect: bce_of_probabilities_in_half_precision_use_bce_with_logits

#include <twill/nn/losses.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto p = zeros<half, Shape<3>>();

#ifdef MISUSE
const auto y = compiled([](auto x) { return nn::bce(graph::sigmoid(x), x); })(p);
#else
const auto y = compiled([](auto x) { return nn::bce_with_logits(x, x); })(p);
#endif
