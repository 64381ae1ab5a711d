// SPDX-License-Identifier: Apache-2.0
//
// An in-place division of integers.
// expect: twill: the result of this in-place operation does not fit the tensor's element type; write x = x op y

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<int, Shape<4>>();

#ifdef MISUSE
const auto& c = a /= 2;
#else
const auto& c = a += 2;
#endif
