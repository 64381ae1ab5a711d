// SPDX-License-Identifier: Apache-2.0
//
// Rows of a table chosen by numbers that are not integers.
//
// expect: indices_are_not_integers
// expect: float32

#include <twill/compile/function.hpp>
#include <twill/nn/embedding.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto table = zeros<float, Shape<7, 4>>();

#ifdef MISUSE
const auto y = compiled([](auto a, auto i) { return nn::embedding(i, a); })(table, zeros<float, Shape<3>>());
#else
const auto y = compiled([](auto a, auto i) { return nn::embedding(i, a); })(table, zeros<std::int64_t, Shape<3>>());
#endif
