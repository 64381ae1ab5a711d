// SPDX-License-Identifier: Apache-2.0
//
// Values of different ranks, joined in a traced function.
//
// expect: joined_values_have_different_ranks
// expect: left_rank<2>
// expect: right_rank<1>

#include <twill/compile/function.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled([](auto a, auto b) { return graph::concatenate({a, b}, 0); })(x, zeros<float, Shape<4>>());
#else
const auto y = compiled([](auto a, auto b) { return graph::concatenate({a, b}, 0); })(x, zeros<float, Shape<1, 4>>());
#endif
