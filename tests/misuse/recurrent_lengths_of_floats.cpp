// SPDX-License-Identifier: Apache-2.0
//
// Lengths that are no integers.
// nvcc
// expect: recurrent_lengths_are_not_integers

#include <twill/compile/function.hpp>
#include <twill/nn/recurrent_layers.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;
using graph::Value;

const auto x = zeros<float, Shape<5, 2, 3>>();
const auto floats = zeros<float, Shape<2>>();
const auto integers = zeros<std::int64_t, Shape<2>>();

#ifdef MISUSE
const auto y = compiled([](Value a, Value n) { return nn::rnn(a, 3, "rnn", {.lengths = n}).output; })(x, floats);
#else
const auto y = compiled([](Value a, Value n) { return nn::rnn(a, 3, "rnn", {.lengths = n}).output; })(x, integers);
#endif
