// SPDX-License-Identifier: Apache-2.0
//
// An expression that was given a name and is used later, when its operands may be gone.
// nvcc
// expect: a stored expression refers to tensors that may be gone

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto x = ones<float, Shape<3>>();
#ifdef MISUSE
auto stored = x * 2;
#else
auto stored = lazy(x * 2);
#endif
const Tensor y = stored + 1;
