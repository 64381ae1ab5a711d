// SPDX-License-Identifier: Apache-2.0
//
// A condition that is not bool.
// nvcc
// expect: condition_of_where_is_not_bool

#include <twill/compile/function.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled([](auto a) { return where(a, a, -a); })(x);
#else
const auto y = compiled([](auto a) { return where(a > 0, a, -a); })(x);
#endif
