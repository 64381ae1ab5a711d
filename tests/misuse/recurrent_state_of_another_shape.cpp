// SPDX-License-Identifier: Apache-2.0
//
// A first state for one layer of two.
// nvcc
// expect: recurrent_state_has_another_shape_than_layers_rows_hidden

#include <twill/compile/function.hpp>
#include <twill/nn/recurrent_layers.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;
using graph::Value;

const auto x = zeros<float, Shape<5, 2, 3>>();
const auto one = zeros<float, Shape<1, 2, 3>>();
const auto two = zeros<float, Shape<2, 2, 3>>();

#ifdef MISUSE
const auto y =
    compiled([](Value a, Value h) { return nn::rnn(a, 3, "rnn", {.layers = 2, .hidden = h}).output; })(x, one);
#else
const auto y =
    compiled([](Value a, Value h) { return nn::rnn(a, 3, "rnn", {.layers = 2, .hidden = h}).output; })(x, two);
#endif
