// SPDX-License-Identifier: Apache-2.0
//
// A product of float32 with float64 inside a traced function.
// nvcc
// expect: matmul_dtypes_differ

#include <twill/compile/function.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled([](auto a, auto b) { return matmul(a, b); })(x, zeros<double, Shape<4, 2>>());
#else
const auto y = compiled([](auto a, auto b) { return matmul(a, b); })(x, zeros<float, Shape<4, 2>>());
#endif
