// SPDX-License-Identifier: Apache-2.0
//
// A sum over one axis under two names.
// expect: axis_is_named_twice
// expect: axis<1>
// expect: axis<-1>

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<2, 4>>();

#ifdef MISUSE
const Tensor c = sum<1, -1>(a);
#else
const Tensor c = sum<0, -1>(a);
#endif
