// SPDX-License-Identifier: Apache-2.0
//
// An expression of four elements for a tensor of three.
// expect: shapes_differ
// expect: axis<0>
// expect: left<3>
// expect: right<4>

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<4>>();
auto c = zeros<float, Shape<3>>();

#ifdef MISUSE
const auto& d = (c = a * 2);
#else
const auto& d = (c = c * 2);
#endif
