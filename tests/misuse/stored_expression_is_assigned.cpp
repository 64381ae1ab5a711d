// SPDX-License-Identifier: Apache-2.0
//
// A stored expression that is assigned later.
// expect: twill: a stored expression refers to tensors that may be gone; evaluate it (Tensor c = a * b) or keep it with lazy(a * b)

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<3>>();
auto c = zeros<float, Shape<3>>();

#ifdef MISUSE
const auto e = a * a;
const auto& d = (c = e);
#else
const auto& d = (c = a * a);
#endif
