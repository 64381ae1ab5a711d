// SPDX-License-Identifier: Apache-2.0
//
// An expression over named tensors that is stored and used later.
// nvcc
// expect: twill: a stored expression refers to tensors that may be gone; evaluate it (Tensor c = a * b) or keep it with lazy(a * b)

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<3>>();
const auto e = a * a;

#ifdef MISUSE
const Tensor c = e + 1;
#else
const Tensor c = a * a + 1;
#endif
