// SPDX-License-Identifier: Apache-2.0
//
// A product of a matrix and a scalar in a traced function.
//
// expect: matmul_needs_at_least_one_dimension
// expect: left_rank<2>
// expect: right_rank<0>

#include <twill/compile/function.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled([](auto a, auto b) { return matmul(a, b); })(x, zeros<float, Shape<>>());
#else
const auto y = compiled([](auto a, auto b) { return matmul(a, b); })(x, zeros<float, Shape<4>>());
#endif
