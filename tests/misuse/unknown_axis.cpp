// SPDX-License-Identifier: Apache-2.0
//
// A sum over an axis that the tensor does not have.
// nvcc
// expect: axis_is_outside_the_rank
// expect: axis<2>
// expect: rank<2>

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto x = ones<float, Shape<3, 4>>();
#ifdef MISUSE
const Tensor y = sum<2>(x);
#else
const Tensor y = sum<1>(x);
#endif
