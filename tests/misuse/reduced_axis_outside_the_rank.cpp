// SPDX-License-Identifier: Apache-2.0
//
// A sum over an axis that a matrix does not have.
// nvcc
// expect: axis_is_outside_the_rank
// expect: axis<2>
// expect: rank<2>

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<2, 4>>();

#ifdef MISUSE
const Tensor c = sum<2>(a);
#else
const Tensor c = sum<1>(a);
#endif
