// SPDX-License-Identifier: Apache-2.0
//
// An expression over named tensors that is stored and evaluated later.
// expect: twill: a stored expression refers to tensors that may be gone; evaluate it (Tensor c = a * b) or keep it with lazy(a * b)

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<3>>();

#ifdef MISUSE
const auto e = a * a;
const Tensor c = e;
#else
const auto e = lazy(a * a);
const Tensor c = e;
#endif
