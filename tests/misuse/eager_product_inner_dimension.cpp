// SPDX-License-Identifier: Apache-2.0
//
// A product of matrices whose inner dimensions differ.
// nvcc
// expect: matmul_left_columns_differ_from_right_rows
// expect: left<4>
// expect: right<5>

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

// region: refused
const auto a = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto c = matmul(a, zeros<float, Shape<5, 2>>());
#else
const auto c = matmul(a, zeros<float, Shape<4, 2>>());
#endif
// end region
