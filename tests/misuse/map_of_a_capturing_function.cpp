// SPDX-License-Identifier: Apache-2.0
//
// An elementwise function with a capture.
// expect: twill: map takes a function without captures; pass what it needs as operands

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<4>>();

#ifdef MISUSE
const auto c = eval(map([b = 2.0](auto x) { return x * b; }, a));
#else
const auto c = eval(map([](auto x) { return x * 2.0; }, a));
#endif
