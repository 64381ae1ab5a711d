// SPDX-License-Identifier: Apache-2.0
//
// Lengths for more rows than there are.
// nvcc
// expect: recurrent_lengths_are_not_one_for_each_row

#include <twill/compile/function.hpp>
#include <twill/nn/recurrent_layers.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;
using graph::Value;

const auto x = zeros<float, Shape<5, 2, 3>>();
const auto three = zeros<std::int64_t, Shape<3>>();
const auto two = zeros<std::int64_t, Shape<2>>();

#ifdef MISUSE
const auto y = compiled([](Value a, Value n) { return nn::rnn(a, 3, "rnn", {.lengths = n}).output; })(x, three);
#else
const auto y = compiled([](Value a, Value n) { return nn::rnn(a, 3, "rnn", {.lengths = n}).output; })(x, two);
#endif
