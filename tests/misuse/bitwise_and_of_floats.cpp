// SPDX-License-Identifier: Apache-2.0
//
// An operation on integers applied to floats.
// expect: bitwise operations take integers or booleans

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto x = ones<float, Shape<3>>();
const auto n = ones<std::int64_t, Shape<3>>();
#ifdef MISUSE
const Tensor y = x & x;
#else
const Tensor y = n & n;
#endif
