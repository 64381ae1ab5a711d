// SPDX-License-Identifier: Apache-2.0
//
// A product of two tensors whose inner dimensions differ.
// nvcc
// expect: matmul_left_columns_differ_from_right_rows
// expect: left<4>
// expect: right<5>

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto x = ones<float, Shape<3, 4>>();
#ifdef MISUSE
const Tensor y = matmul(x, ones<float, Shape<5, 2>>());
#else
const Tensor y = matmul(x, ones<float, Shape<4, 2>>());
#endif
