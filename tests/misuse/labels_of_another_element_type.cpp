// SPDX-License-Identifier: Apache-2.0
//
// An argument of an element type that models do not have.
// expect: model_takes_element_types_bool_to_float64_convert_the_tensor
// expect: int16

#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto logits = zeros<float, Shape<3, 4>>();
const auto loss = [](auto prediction, auto labels) { return nn::cross_entropy(prediction, labels); };

#ifdef MISUSE
const auto y = compiled(loss)(logits, zeros<std::int16_t, Shape<3>>());
#else
const auto y = compiled(loss)(logits, zeros<std::int64_t, Shape<3>>());
#endif
