// SPDX-License-Identifier: Apache-2.0
//
// Labels of another number of rows than the logits.
//
// expect: labels_and_logits_have_different_batch_extents
// expect: left<5>
// expect: right<3>
// expect: "cross_entropy"

#include <twill/compile/function.hpp>
#include <twill/nn/losses.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto loss = [](auto logits, auto labels) { return nn::cross_entropy(logits, labels); };
const auto logits = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled(loss)(logits, zeros<std::int64_t, Shape<5>>());
#else
const auto y = compiled(loss)(logits, zeros<std::int64_t, Shape<3>>());
#endif
