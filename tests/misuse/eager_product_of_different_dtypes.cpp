// SPDX-License-Identifier: Apache-2.0
//
// A product of float32 and float64.
// expect: element_types_differ
// expect: float32
// expect: float64

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto c = matmul(a, zeros<double, Shape<4, 2>>());
#else
const auto c = matmul(a, zeros<float, Shape<4, 2>>());
#endif
