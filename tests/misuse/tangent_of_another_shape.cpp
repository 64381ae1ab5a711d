// SPDX-License-Identifier: Apache-2.0
//
// A tangent of another shape than its primal.
// nvcc
// expect: tangent_has_another_extent_than_its_primal
// expect: left<4>
// expect: right<3>

#include <twill/compile/transforms.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<2, 4>>();

#ifdef MISUSE
const auto t = zeros<float, Shape<2, 3>>();
#else
const auto t = zeros<float, Shape<2, 4>>();
#endif

const auto y = jvp([](auto a) { return tanh(a); }, x, t).second;
