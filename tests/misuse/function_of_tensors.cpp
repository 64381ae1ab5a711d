// SPDX-License-Identifier: Apache-2.0
//
// A function that takes tensors where the compiler traces one.
//
// expect: twill: a function that the compiler traces takes values, not tensors: one for each argument

#include <twill/compile/function.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const Tensor y = compiled([](const Tensor<float, Cpu, Shape<3, 4>>& a) { return a * a; })(x);
#else
const Tensor y = compiled([](auto a) { return a * a; })(x);
#endif
