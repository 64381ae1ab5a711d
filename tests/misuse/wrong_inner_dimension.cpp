// SPDX-License-Identifier: Apache-2.0
//
// A product inside a traced function whose inner dimensions differ.
// nvcc
// expect: matmul_left_columns_differ_from_right_rows
// expect: left<4>
// expect: right<5>
// expect: wrong_inner_dimension.cpp:19

#include <twill/compile/function.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled([](auto a, auto b) { return matmul(a, b); })(x, zeros<float, Shape<5, 2>>());
#else
const auto y = compiled([](auto a, auto b) { return matmul(a, b); })(x, zeros<float, Shape<4, 2>>());
#endif
