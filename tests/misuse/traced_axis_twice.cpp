// SPDX-License-Identifier: Apache-2.0
//
// A reduction inside a traced function over the same axis twice.
// nvcc
// expect: axis_is_named_twice

#include <twill/compile/function.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled([](auto a) { return sum(a, {1, -1}); })(x);
#else
const auto y = compiled([](auto a) { return sum(a, {1, 0}); })(x);
#endif
