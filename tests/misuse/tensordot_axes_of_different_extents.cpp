// SPDX-License-Identifier: Apache-2.0
//
// A contraction of axes that differ in extent.
// expect: product_contracts_axes_of_different_extents
// expect: left<4>
// expect: right<5>

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<3, 4>>();
const auto b = zeros<float, Shape<4, 5>>();

#ifdef MISUSE
const Tensor c = tensordot<Axes<1>, Axes<1>>(a, b);
#else
const Tensor c = tensordot<Axes<1>, Axes<0>>(a, b);
#endif
