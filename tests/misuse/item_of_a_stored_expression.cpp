// SPDX-License-Identifier: Apache-2.0
//
// A number read from an expression whose tensors may be gone.
// nvcc
// expect: a stored expression refers to tensors that may be gone

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = ones<float, Shape<3>>();
#ifdef MISUSE
const auto total = sum(a * a);
#else
const auto total = lazy(sum(a * a));
#endif
const float y = total.item();
