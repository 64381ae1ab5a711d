// SPDX-License-Identifier: Apache-2.0
//
// A gradient with respect to integers.
// nvcc
// expect: twill: grad: at least one argument has to be floating

#include <twill/compile/function.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

const auto n = zeros<std::int64_t, Shape<3, 4>>();

#ifdef MISUSE
const auto y = grad([](auto a) { return sum(a * 0.5); })(n);
#else
const auto y = grad([](auto a) { return sum(a * 0.5); })(x);
#endif
