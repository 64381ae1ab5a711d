// SPDX-License-Identifier: Apache-2.0
//
// An output of fewer steps than the input.
// nvcc
// expect: recurrent_total_length_is_below_the_number_of_steps

#include <twill/compile/function.hpp>
#include <twill/nn/recurrent_layers.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;
using graph::Value;

const auto x = zeros<float, Shape<5, 2, 3>>();

#ifdef MISUSE
const auto y = compiled([](Value a) { return nn::rnn(a, 3, "rnn", {.total_length = 4}).output; })(x);
#else
const auto y = compiled([](Value a) { return nn::rnn(a, 3, "rnn", {.total_length = 6}).output; })(x);
#endif
