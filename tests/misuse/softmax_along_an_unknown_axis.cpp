// SPDX-License-Identifier: Apache-2.0
//
// A softmax along an axis that its operand does not have.
//
// expect: axis_is_outside_the_rank
// expect: axis<2>
// expect: rank<2>

#include <twill/compile/function.hpp>
#include <twill/nn/activations.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled([](auto a) { return softmax(a, 2); })(x);
#else
const auto y = compiled([](auto a) { return softmax(a, 1); })(x);
#endif
