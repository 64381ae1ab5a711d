// SPDX-License-Identifier: Apache-2.0
//
// A product of a matrix and a vector in a traced function.
//
// expect: matmul_needs_two_dimensions_on_both_sides
// expect: left_rank<2>
// expect: right_rank<1>

#include <twill/compile/function.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled([](auto a, auto b) { return matmul(a, b); })(x, zeros<float, Shape<4>>());
#else
const auto y = compiled([](auto a, auto b) { return matmul(a, b); })(x, zeros<float, Shape<4, 1>>());
#endif
