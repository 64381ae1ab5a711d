// SPDX-License-Identifier: Apache-2.0
//
// A float64 expression for a float32 tensor.
// expect: element_types_differ
// expect: float32
// expect: float64

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<double, Shape<3>>();
auto c = zeros<float, Shape<3>>();

#ifdef MISUSE
const auto& d = (c = a * 2);
#else
const auto& d = (c = cast<float>(a * 2));
#endif
