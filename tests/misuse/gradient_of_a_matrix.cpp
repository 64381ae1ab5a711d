// SPDX-License-Identifier: Apache-2.0
//
// The gradient of something that is not a scalar.
// nvcc
// expect: gradient_of_a_value_that_is_not_a_scalar

#include <twill/compile/function.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = grad([](auto a) { return tanh(a); })(x);
#else
const auto y = grad([](auto a) { return sum(tanh(a)); })(x);
#endif
